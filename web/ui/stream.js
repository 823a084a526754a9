// The stream of events: what happens in the society, as it happens.
//
// After a lost connection it resumes at the last line seen. If that is gone, or the society
// is another one, everything counts as stale. Where the society answers but has no stream to
// give, as when too many are open, the page reads again every few seconds.

import { backoff } from "../logic/pace.js";
import { Reader } from "../logic/sse.js";

const SILENCE_MS = 40000; // the host sends a comment every 15 s

export class Stream {
  /** Calls onEvent({ name, id, data }), onState("live" | "polling" | "offline" | "denied") and,
   *  when lines may have been missed, onGap(). */
  constructor({ onEvent, onState, onGap }) {
    Object.assign(this, { onEvent, onState, onGap });
    this.line = null;
    this.tries = 0;
    this.timer = null;
    this.abort = null;
  }

  start() {
    this.connect();
    window.addEventListener("online", () => this.retry());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && this.abort === null) this.retry();
    });
  }

  /** Tries again at once. */
  retry() {
    if (this.abort !== null) return;
    this.tries = 0;
    clearTimeout(this.timer);
    this.connect();
  }

  /** Forgets the last line and connects again. */
  beginAnew() {
    this.line = null;
    this.tries = 0;
    this.abort?.abort();
  }

  async connect() {
    this.abort = new AbortController();
    let silence = this.guard();
    let state = "offline";
    try {
      const after = this.line === null ? "" : `&after=${this.line}`;
      const response = await fetch(`/api/v1/events?summary=1${after}`, {
        signal: this.abort.signal,
        cache: "no-store",
        headers: { Accept: "text/event-stream" },
      });
      if (response.status === 410 || response.status === 400) this.line = null;
      if (!response.ok) {
        state = response.status === 401 || response.status === 403 ? "denied" : "polling";
        throw new Error(String(response.status));
      }
      this.onState("live");
      this.onGap();
      this.tries = 0;
      const reader = new Reader();
      const text = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await text.read();
        if (done) break;
        clearTimeout(silence);
        silence = this.guard();
        reader.push(value, (event) => this.take(event));
      }
    } catch {
      // Whatever it was, the answer is to try again.
    }
    clearTimeout(silence);
    this.abort = null;
    this.later(state);
  }

  guard() {
    return setTimeout(() => this.abort?.abort(), SILENCE_MS);
  }

  take(event) {
    if (event.id !== null) this.line = Math.max(this.line ?? 0, event.id);
    this.onEvent(event);
  }

  later(state) {
    this.onState(state);
    this.timer = setTimeout(() => this.connect(), backoff(this.tries));
    this.tries += 1;
  }
}
