// What holds the page together: the address, the view on screen, the stream of events, and
// when to read and to draw again.
//
// A view is an object { topics, load(look), draw(look, data), keys? }. `load` reads what it shows,
// live or as it was at a line; `draw` describes it. The view is loaded when the address
// changes and, while live, when an event has touched one of its topics.

import { format, hasPast, isLost, parse } from "../logic/address.js";
import { Pace } from "../logic/pace.js";
import { Stale } from "../logic/topics.js";
import { get, lacksScope, optional } from "./api.js";
import { Badges } from "./badges.js";
import { closeDialog } from "./dialog.js";
import { exactly, explain } from "./explain.js";
import { Memory } from "./memory.js";
import { announce, notice } from "./notices.js";
import { Stream } from "./stream.js";
import { t } from "./words.js";

// At least this often a live view reads again, for what has no event: time itself.
const IDLE_MS = 15000;

// And this often where there is no stream of events.
const POLL_MS = 2000;

// A connection that is away for longer than a restart takes is worth a notice.
const LOST_MS = 3000;

export class App {
  constructor(views, onDraw) {
    this.views = views;
    this.onDraw = onDraw;
    this.stale = new Stale();
    this.connection = "connecting";
    this.isPaused = false;
    this.lastLine = 0; // the latest line known
    this.firstLine = 1; // the earliest there still is
    this.denied = new Set(); // operations that were refused to this token
    this.badges = new Badges((line) => {
      this.noteLine(line);
      this.redraw();
    });
    this.focusOn = null; // a selector: what gets the focus once it is drawn
    this.frame = null;
    this.timer = null;
    this.loads = 0;
    this.memory = new Memory();
  }

  start() {
    window.addEventListener("hashchange", () => {
      closeDialog(); // it was about the look before
      this.open();
    });
    this.stream = new Stream({
      onEvent: (event) => this.hear(event),
      onState: (state) => this.setConnection(state),
      onGap: () => {
        this.stale.all();
        this.stale.line = this.stream.line ?? 0;
        this.plan();
        this.checkLine();
      },
    });
    document.addEventListener("visibilitychange", () => this.plan());
    this.open();
    this.stream.start();
  }

  // The address has changed.
  open() {
    const address = parse(location.hash);
    if (isLost(location.hash)) history.replaceState(null, "", format(address));
    const isSame =
      this.address && address.view === this.address.view && address.id === this.address.id;
    this.address = address;
    if (!isSame) this.changeLook();
    this.hash = location.hash;
    this.error = null;
    this.pace = new Pace();
    this.isMoved = !isSame;
    this.load();
    this.redraw();
  }

  // Another view, or another agent.
  changeLook() {
    const { scrollTop } = document.getElementById("main");
    if (this.hash !== undefined) this.memory.keep(this.hash, this.ui, scrollTop);
    const { ui, top } = this.memory.of(location.hash);
    Object.assign(this, { data: null, ui, wantedTop: top, focusOn: null });
  }

  get view() {
    return this.views[this.address.view];
  }

  get isLive() {
    return this.address.at === null;
  }

  /** Whether what is on screen is what the address asks for, not the look before it. */
  get isShown() {
    return this.data !== null && this.shownHash === location.hash;
  }

  /** Goes to another address. Members that are not given stay; `filters` are merged. */
  go(change, { replace = false } = {}) {
    const base =
      change.view && change.view !== this.address.view
        ? { at: hasPast(change.view) ? this.address.at : null }
        : this.address;
    const filters = { ...(base.filters ?? {}), ...(change.filters ?? {}) };
    const hash = format({ ...base, ...change, filters });
    if (hash === location.hash) return;
    if (replace) {
      history.replaceState(null, "", hash);
      this.open();
    } else {
      location.hash = hash;
    }
  }

  /** Goes on from the look at `hash`, in its place, unless somebody has gone elsewhere meanwhile. */
  goOn(hash, change) {
    if (location.hash === hash) this.go(change, { replace: true });
  }

  /** Reads what the view shows. Of several reads only the last counts. */
  async load() {
    const number = (this.loads += 1);
    clearTimeout(this.timer);
    this.timer = null;
    this.abort?.abort();
    this.abort = new AbortController();
    this.stale.take(this.view.topics);
    this.pace.begin(performance.now());
    const look = this.look();
    const hash = location.hash;
    try {
      const data = await this.view.load(look);
      if (number !== this.loads) return;
      this.data = data;
      this.shownHash = hash;
      this.error = null;
    } catch (error) {
      if (number !== this.loads || error.name === "AbortError") return;
      if (!("status" in error)) console.error(error);
      this.error = error;
    }
    this.pace.end(performance.now());
    this.redraw();
    this.plan();
  }

  /** What a view is given: where it is, and how to act. */
  look() {
    let past = null;
    return {
      app: this,
      id: this.address.id,
      at: this.address.at,
      filters: this.address.filters,
      ui: this.ui,
      signal: this.abort?.signal,
      /** The society as it was at that line; read once for each load. */
      past: () =>
        (past ??= get("/at", { line: this.address.at }, this.abort.signal).then((then) => {
          this.pastTime = then.time ?? null;
          return then;
        })),
      get: (path, parameters) => get(path, parameters, this.abort.signal),
    };
  }

  // Reads again when something is stale and the pace allows it.
  plan() {
    if (this.timer !== null || this.isPaused || !this.isLive || document.hidden) return;
    const isStale = this.view.topics.some((topic) => this.stale.topics.has(topic));
    const wait = this.pace.wait(performance.now());
    if (wait === null) return;
    const delay = isStale ? wait : Math.max(wait, this.connection === "live" ? IDLE_MS : POLL_MS);
    this.timer = setTimeout(() => {
      if (this.connection !== "live") this.badges.count();
      this.load();
    }, delay);
    this.isTimerIdle = !isStale;
  }

  hear(event) {
    if (!this.stale.note(event)) return;
    this.lastLine = Math.max(this.lastLine, this.stale.line);
    if (this.timer !== null && this.isTimerIdle) {
      clearTimeout(this.timer);
      this.timer = null;
    }
    if (!this.isPaused) this.badges.hear(event.name);
    this.plan();
    this.redraw();
  }

  setConnection(state) {
    if (this.connection === state) return;
    const before = this.connection;
    this.connection = state;
    clearTimeout(this.offlineTimer);
    this.isLost = false;
    if (state === "offline")
      this.offlineTimer = setTimeout(() => {
        this.isLost = true;
        this.redraw();
      }, LOST_MS);
    const isBack = state === "live" || state === "polling";
    if (isBack && before === "offline") announce(t("live.back"));
    if (isBack) {
      this.badges.count();
      this.learnFirstLine();
      if (this.error) this.load();
    }
    this.redraw();
  }

  // Lines end before those already seen: the society has begun anew.
  async checkLine() {
    const line = this.stream.line;
    const answer = line === null ? null : await optional(get("/activity", { limit: 1 }));
    if (!Number.isInteger(answer?.as_of) || answer.as_of >= line) return;
    this.lastLine = answer.as_of;
    this.stale.line = 0;
    this.stream.beginAnew();
  }

  // Retention removes lines from the first on: the slider begins where they begin.
  async learnFirstLine() {
    try {
      await get("/activity", { after: 0, limit: 1 });
      this.firstLine = 1;
    } catch (error) {
      if (Number.isInteger(error.body?.first)) this.firstLine = error.body.first;
    }
    this.redraw();
  }

  /** Notes the line that an answer was read at. */
  noteLine(line) {
    if (Number.isInteger(line)) this.lastLine = Math.max(this.lastLine, line);
  }

  pauseUpdates(isPaused) {
    this.isPaused = isPaused;
    clearTimeout(this.timer);
    this.timer = null;
    announce(t(isPaused ? "live.paused" : "live.resumed"));
    if (!isPaused) {
      this.load();
      this.badges.count();
    }
    this.redraw();
  }

  /** Moves through time by so many lines, or to live with null. */
  step(count) {
    if (!hasPast(this.address.view)) return;
    const from = this.address.at ?? this.lastLine;
    const to = count === null ? null : Math.max(this.firstLine, from + count);
    this.go({ at: to !== null && to >= this.lastLine && count > 0 ? null : to }, { replace: true });
  }

  /** Does something, says how it went and shows the outcome. Returns whether it worked. */
  async act(name, deed, done) {
    this.busy = name;
    this.redraw();
    try {
      const answer = await deed();
      if (done) notice("done", typeof done === "function" ? done(answer) : done);
      return answer ?? true;
    } catch (error) {
      if (lacksScope(error, name)) this.denied.add(name);
      notice("failed", explain(error), exactly(error));
      return false;
    } finally {
      this.busy = null;
      this.stale.all();
      await this.load();
      this.badges.count();
    }
  }

  /** Draws before the next frame, once for all changes until then. */
  redraw() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.onDraw(this);
    });
  }
}
