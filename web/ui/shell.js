// The frame around every view: names of views, state of the connection, time, errors.

import { VIEWS, format, hasPast } from "../logic/address.js";
import { oneLine } from "../logic/format.js";
import { exactly, explain } from "./explain.js";
import { draw, h } from "./dom.js";
import { openHelp } from "./keys.js";
import * as settings from "./settings.js";
import { stand } from "./notices.js";
import { empty, sample } from "./parts.js";
import { drawTime } from "./slider.js";
import { lang, rough, showMoment, t } from "./words.js";

const get = (id) => document.getElementById(id);

const MENU = VIEWS.filter((view) => view !== "agent");

const ICONS = {
  now: "M3 12h4l3-8 4 16 3-8h4",
  agents: "M12 4v6M12 10l-6 6M12 10l6 6M4 18h4M16 18h4M10 4h4",
  timeline: "M6 3v18M12 3v18M18 3v18M6 8h6M12 14h6",
  tasks: "M4 4h4v16H4zM10 4h4v11h-4zM16 4h4v7h-4z",
  inbox: "M4 13l2-8h12l2 8v6H4zM4 13h5l1 3h4l1-3h5",
  dead: "M12 4l9 16H3zM12 10v4M12 17v1",
  policies: "M5 4h14v16H5zM9 9h6M9 13h6",
  cost: "M12 3v18M16 7c-1-2-8-2-8 1s8 3 8 6-7 3-8 1",
};

const SUN =
  "M12 8a4 4 0 100 8 4 4 0 000-8zM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2";
const MOON = "M20 14A8 8 0 119 4a7 7 0 0011 10z";

function icon(path) {
  return h(
    "svg",
    { viewBox: "0 0 24 24", width: 20, height: 20, class: "icon", "aria-hidden": "true" },
    h("path", { d: path }),
  );
}

/** Draws everything. */
export function drawShell(app) {
  const { address } = app;
  showMoment(app.isLive ? null : (app.pastTime ?? null));
  drawSkip();
  draw(get("bar"), bar(app));
  draw(get("views"), menu(app));
  get("views").setAttribute("aria-label", t("menu"));
  const main = get("main");
  const hadFocus = main.contains(document.activeElement);
  main.dataset.view = address.view;
  main.setAttribute("aria-busy", String(!app.isShown && app.error === null));
  draw(main, content(app));
  // What has nothing to go to by Tab is gone to itself, so that it can be scrolled.
  main.tabIndex = main.querySelector("a, button, input, select, textarea, [tabindex]") ? -1 : 0;
  drawTime(get("time"), app);
  standFor(app);
  const name = t(`view.${address.view}`);
  const title = address.id ? `${oneLine(address.id, 60)} · ${name}` : name;
  document.title = `${app.badges.counts.inbox > 0 ? `(${app.badges.counts.inbox}) ` : ""}${title} · society`;
  if (app.isMoved) {
    app.isMoved = false;
    main.scrollTop = 0;
    main.focus({ preventScroll: true });
    document
      .querySelector("#views [aria-current]")
      ?.scrollIntoView({ block: "nearest", inline: "center" });
  }
  if (app.wantedTop > 0 && app.isShown) {
    main.scrollTop = app.wantedTop;
    app.wantedTop = 0;
  }
  focusWanted(app);
  // What had the focus is gone: whoever uses the keyboard goes on from the view.
  if (hadFocus && document.activeElement === document.body) main.focus({ preventScroll: true });
}

// A fragment is an address of the page, so the link moves the focus by itself.
function drawSkip() {
  const skip = get("skip");
  skip.textContent = t("skip");
  skip.onclick = (event) => {
    event.preventDefault();
    get("main").focus();
  };
}

// Moves the focus to what was to be drawn, once it is there.
function focusWanted(app) {
  const node = app.focusOn && document.querySelector(app.focusOn);
  if (!node) return;
  app.focusOn = null;
  if (!node.matches("button, a, input, textarea")) node.tabIndex = -1;
  node.focus();
  if (node.matches(".outcome")) node.scrollIntoView(); // it is long: from its beginning
}

// The view on screen could not be read again: it stays, and a notice says why.
function standFor(app) {
  const { error } = app;
  const hasContent = app.isShown && error?.status !== 401;
  const text = error ? explain(error) : app.isLost ? t("live.offline.hint") : null;
  stand(
    hasContent && text !== null
      ? { name: "retry", text, label: t("retry"), action: () => retry(app) }
      : null,
  );
}

function connectionState(app) {
  if (app.connection !== "live" && app.connection !== "polling") return app.connection;
  if (!app.isLive) return "past";
  return app.isPaused ? "paused" : app.connection;
}

function bar(app) {
  const state = connectionState(app);
  const isDark = settings.theme() === "dark";
  return [
    h(
      "a",
      { class: "brand", href: "#/now", "aria-label": "society" },
      h("img", { src: "icon.svg", alt: "", width: 24, height: 24 }),
      h("span", null, "society"),
    ),
    h(
      "span",
      { class: `live is-${state}`, data: { live: state }, title: t(`live.${state}.hint`) },
      h("span", { class: "dot", "aria-hidden": "true" }),
      t(`live.${state}`),
    ),
    h("span", { class: "grow" }),
    h(
      "button",
      {
        type: "button",
        class: "plain",
        data: { do: "pause-updates" },
        "aria-pressed": String(app.isPaused),
        "aria-label": t("updates.pause"),
        title: t("key.p"),
        on: { click: () => app.pauseUpdates(!app.isPaused) },
      },
      icon(app.isPaused ? "M8 5l11 7-11 7z" : "M8 5v14M16 5v14"),
      h("span", { class: "wide-only" }, t(app.isPaused ? "updates.resume" : "updates.pause")),
    ),
    h(
      "button",
      {
        type: "button",
        class: "plain",
        data: { do: "language" },
        lang: lang === "zh" ? "en" : "zh-CN",
        on: { click: () => settings.switchLanguage() },
      },
      lang === "zh" ? "English" : "中文",
    ),
    h(
      "button",
      {
        type: "button",
        class: "plain",
        data: { do: "theme" },
        "aria-label": t(isDark ? "theme.light" : "theme.dark"),
        title: t(isDark ? "theme.light" : "theme.dark"),
        on: { click: () => settings.switchTheme() },
      },
      icon(isDark ? SUN : MOON),
    ),
    h(
      "button",
      {
        type: "button",
        class: "plain",
        data: { do: "help" },
        "aria-label": t("help"),
        title: t("help"),
        on: { click: openHelp },
      },
      "?",
    ),
  ];
}

function menu(app) {
  return h(
    "ul",
    null,
    MENU.map((view) => {
      const isHere =
        app.address.view === view || (view === "agents" && app.address.view === "agent");
      const badge = app.badges.counts[view] ?? 0;
      return h(
        "li",
        { key: view },
        h(
          "a",
          {
            href: format({ view, at: hasPast(view) ? app.address.at : null }),
            "aria-current": isHere ? "page" : null,
          },
          icon(ICONS[view]),
          h("span", null, t(`view.${view}`)),
          badge > 0 && h("span", { class: `badge ${view}` }, rough(badge)),
        ),
      );
    }),
  );
}

function content(app) {
  const { error } = app;
  if (error && (error.status === 401 || !app.isShown))
    return h("div", { key: "error" }, trouble(app, error));
  if (app.data === null) {
    return h(
      "div",
      { key: "wait", class: "loading", role: "status" },
      h("span", { class: "unseen" }, t("loading")),
      h("div", { class: "bone" }),
      h("div", { class: "bone" }),
      h("div", { class: "bone" }),
    );
  }
  const key = `${app.address.view}/${app.address.id}`;
  return h(
    "div",
    { key, class: `view view-${app.address.view}` },
    app.view.draw(app.look(), app.data),
  );
}

// Nothing could be read: what happened, and what to do.
function trouble(app, error) {
  if (error.status === 401) {
    return empty(
      t("login.title"),
      t("login.hint"),
      sample("society open"),
      h(
        "button",
        { type: "button", data: { do: "retry" }, on: { click: () => retry(app) } },
        t("login.retry"),
      ),
    );
  }
  const isGone = error.status === 410 && app.address.at !== null;
  const first = error.body?.first ?? error.body?.first_line;
  return empty(
    explain(error),
    exactly(error),
    h(
      "div",
      { class: "buttons centre" },
      h(
        "button",
        { type: "button", class: "main", data: { do: "retry" }, on: { click: () => retry(app) } },
        t("retry"),
      ),
      isGone &&
        Number.isInteger(first) &&
        h(
          "button",
          {
            type: "button",
            data: { do: "first" },
            on: {
              click: () => {
                app.firstLine = first;
                app.go({ at: first }, { replace: true });
              },
            },
          },
          t("time.first"),
        ),
      app.address.at !== null &&
        h(
          "button",
          { type: "button", data: { do: "live" }, on: { click: () => app.go({ at: null }) } },
          t("time.live"),
        ),
    ),
  );
}

function retry(app) {
  app.stream.retry();
  app.load();
}
