// The keyboard: g and a letter goes to a view, [ and ] step through time, ? shows this list.
// A view has keys of its own; they do nothing while somebody types.

import { h } from "./dom.js";
import { closeDialog, isDialogOpen, openDialog } from "./dialog.js";
import * as settings from "./settings.js";
import { t } from "./words.js";

const GO = {
  n: "now",
  a: "agents",
  t: "timeline",
  k: "tasks",
  i: "inbox",
  d: "dead",
  p: "policies",
  c: "cost",
};

const GENERAL = ["?", "g", "[", "]", "l", "p", "/", "j", "Enter", "D", "L"];
const INBOX = ["a", "m", "r", "1"];

// Keys that may be held down. All others act once: whoever holds `a` decides one question, not
// every one that follows.
const HELD = new Set(["j", "k", "[", "]", "ArrowDown", "ArrowUp"]);

let app = null;
let isGoing = false;

function isTyping(target) {
  return target.closest?.(
    "input:not([type=range]):not([type=checkbox]), textarea, select, [contenteditable]",
  );
}

function general(key) {
  if (key === "?") openHelp();
  else if (key === "[") app.step(-1);
  else if (key === "]") app.step(1);
  else if (key === "l") app.go({ at: null });
  else if (key === "p") app.pauseUpdates(!app.isPaused);
  else if (key === "D") settings.switchTheme();
  else if (key === "L") settings.switchLanguage();
  else if (key === "/") document.querySelector("main .filters :is(input, select)")?.focus();
  else return false;
  return true;
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.key === "Escape" && isTyping(event.target)) event.target.blur();
  if (isDialogOpen() || isTyping(event.target)) return;
  if (event.repeat && !HELD.has(event.key)) return;
  if (isGoing) {
    isGoing = false;
    if (GO[event.key]) {
      app.go({ view: GO[event.key], id: "" });
      event.preventDefault();
    }
    return;
  }
  if (event.key === "g") {
    isGoing = true;
    setTimeout(() => {
      isGoing = false;
    }, 1500);
    return;
  }
  const handler = app.data !== null && app.view.keys?.[event.key];
  if (handler) {
    if (event.key.length === 1 || event.target.closest("button, a, input, summary") === null) {
      handler(app.look(), app.data);
      event.preventDefault();
    }
  } else if (general(event.key)) {
    event.preventDefault();
  }
}

export function bindKeys(theApp) {
  app = theApp;
  document.addEventListener("keydown", press);
}

function table(keys) {
  return h(
    "dl",
    { class: "keys" },
    keys.map((key) => [h("dt", null, h("kbd", null, key)), h("dd", null, t(`key.${key}`))]),
  );
}

/** The list of keys. */
export function openHelp() {
  openDialog(t("help"), () => [
    h("h3", null, t("help.everywhere")),
    table(GENERAL),
    h("h3", null, t("help.go")),
    h(
      "dl",
      { class: "keys" },
      Object.entries(GO).map(([key, view]) => [
        h("dt", null, h("kbd", null, "g"), " ", h("kbd", null, key)),
        h("dd", null, t(`view.${view}`)),
      ]),
    ),
    h("h3", null, t("view.inbox")),
    table(INBOX),
    h(
      "div",
      { class: "buttons" },
      h(
        "button",
        { type: "button", class: "main", data: { do: "close" }, on: { click: closeDialog } },
        t("close"),
      ),
    ),
  ]);
}
