// Small pieces that all views are made of.

import { format } from "../logic/address.js";
import { clean, clip, oneLine, payloadText, timeMs } from "../logic/format.js";
import { may, scopeOf } from "./api.js";
import { h } from "./dom.js";
import { clock, distance, number, t, word } from "./words.js";

const SHAPES = {
  idle: ["circle", { cx: 6, cy: 6, r: 4, class: "hollow" }],
  working: ["circle", { cx: 6, cy: 6, r: 5 }],
  blocked_internal: ["path", { d: "M2 1h8L7 6l3 5H2l3-5z" }],
  blocked_user: ["path", { d: "M6 0l6 6-6 6-6-6z" }],
  paused: ["path", { d: "M2 1h3v10H2zM7 1h3v10H7z" }],
  failed: ["path", { d: "M6 0l6 11H0z" }],
  unresponsive: ["path", { d: "M0 1h12L6 12z" }],
  ending: ["rect", { x: 2, y: 5, width: 8, height: 2 }],
  stopped: ["rect", { x: 1.5, y: 1.5, width: 9, height: 9, class: "hollow" }],
  pending: ["circle", { cx: 6, cy: 6, r: 4, class: "hollow" }],
  processing: ["circle", { cx: 6, cy: 6, r: 5 }],
  completed: ["path", { d: "M1 6l2-2 2 2 5-5 2 2-7 7z" }],
  processed: ["path", { d: "M1 6l2-2 2 2 5-5 2 2-7 7z" }],
  cancelled: ["path", { d: "M1 3l2-2 3 3 3-3 2 2-3 3 3 3-2 2-3-3-3 3-2-2 3-3z" }],
  dropped: ["path", { d: "M1 3l2-2 3 3 3-3 2 2-3 3 3 3-2 2-3-3-3 3-2-2 3-3z" }],
  dead: ["path", { d: "M6 0l6 11H0z" }],
  expired: ["path", { d: "M2 1h8L7 6l3 5H2l3-5z" }],
};

/** The shape of a state, in its colour. */
export function shape(state) {
  const [tag, properties] = SHAPES[state] ?? SHAPES.idle;
  return h(
    "svg",
    {
      class: `shape of-${state}`,
      viewBox: "0 0 12 12",
      width: 12,
      height: 12,
      "aria-hidden": "true",
    },
    h(tag, properties),
  );
}

/** A state by shape and word. */
export function mark(state) {
  return h("span", { class: "mark" }, shape(state), word(`state.${state}`, state));
}

/** Text of an agent, on one line. It cannot change the direction of what stands around it. */
export function words(text, max = 200) {
  return h("bdi", { class: "words" }, oneLine(text ?? "", max));
}

// How much one press adds: as much as is drawn in a moment.
const MORE = 100000;

/** Text of an agent in full; beyond `max` characters only what somebody asks for, piece by piece. */
export function prose(value, { max = 2000, ui = {}, name = "whole", redraw } = {}) {
  const text = payloadText(value);
  const end = ui[name] ?? max;
  const { text: shown, cut } = clip(text, end);
  const isCode = text !== value && text !== value?.text;
  return h(
    "div",
    { class: "prose" },
    h("pre", { class: isCode ? "text code" : "text", dir: "auto" }, shown + (cut > 0 ? "…" : "")),
    cut > 0 &&
      h(
        "p",
        { class: "quiet" },
        t("text.cut", { n: cut }),
        " ",
        redraw &&
          h(
            "button",
            {
              class: "plain",
              type: "button",
              data: { do: "more" },
              on: {
                click: () => {
                  ui[name] = end < MORE ? MORE : end + MORE;
                  redraw();
                },
              },
            },
            cut > MORE ? t("text.next", { n: MORE }) : t("text.more"),
          ),
      ),
  );
}

/** A link to another look. At a moment of the past it stays there. `of` names what it does where
 *  it looks like a button. */
export function link(look, to, ...children) {
  const at = to.at === undefined ? look.at : to.at;
  const data = to.of ? { do: to.of } : {};
  return h("a", { href: format({ ...to, at }), class: to.class, data }, ...children);
}

export function agentLink(look, id) {
  return link(look, { view: "agent", id, class: "agent" }, h("bdi", null, oneLine(id, 64)));
}

/** A moment: the time of day, and how long ago. */
export function moment(time, { bare = false } = {}) {
  if (time == null) return null;
  const ms = timeMs(time);
  if (Number.isNaN(ms)) return words(time, 40);
  return h(
    "time",
    { datetime: new Date(ms).toISOString(), title: new Date(ms).toISOString() },
    bare ? clock(time) : distance(time),
  );
}

/** Whether this token may not do it: it lacks the scope, or it was refused. */
export function isDenied(look, of) {
  return look.app.denied.has(of) || (of !== "export" && !may(scopeOf(of)));
}

/** A button. `of` names the operation, for tests and for what a token may not do. */
export function button(
  look,
  of,
  label,
  onClick,
  { kind = "", disabled = false, mark: id, key } = {},
) {
  const { app } = look;
  const isBarred = isDenied(look, of);
  return h(
    "button",
    {
      type: "button",
      class: kind,
      key,
      data: { do: of, ...(id ? { for: id } : {}) },
      disabled: disabled || isBarred,
      // Not disabled while it works: it would lose the focus.
      "aria-disabled": app.busy === of ? "true" : null,
      title: isBarred ? t("error.403") : null,
      on: { click: (event) => app.busy !== of && onClick(event) },
    },
    label,
  );
}

/** Nothing to show, and what to do next. */
export function empty(title, hint, ...more) {
  return h("div", { class: "empty" }, h("h2", null, title), hint && h("p", null, hint), ...more);
}

/** A line to type: a command, or code of an app. */
export const sample = (text) => h("pre", { class: "text code" }, text);

/** Pairs of a name and a value; pairs without a value are left out. */
export function facts(pairs) {
  return h(
    "dl",
    { class: "facts" },
    pairs
      .filter(([, value]) => value != null && value !== "" && value !== false)
      .map(([name, value]) => [h("dt", null, name), h("dd", null, value)]),
  );
}

export function section(title, ...content) {
  return h("section", { class: "card" }, h("h2", null, title), ...content);
}

const VALUES_MAX = 100;

/** What a filter was seen to fit, in order: also what the filter itself leaves out now. */
export function seenValues(look, name, values) {
  const seen = ((look.ui.seen ??= {})[name] ??= new Set());
  for (const value of values) {
    if (seen.size >= VALUES_MAX) break;
    if (typeof value === "string" && value !== "" && value.length <= 100 && clean(value) === value)
      seen.add(value);
  }
  return [...seen].sort();
}

/** A field to filter by. It goes into the address when it is left or Enter is pressed. `values`
 *  are offered to choose from. */
export function filterField(look, name, label, values = []) {
  const known = seenValues(look, name, values);
  return h(
    "label",
    { class: "field", key: `filter-${name}` },
    h("span", null, label),
    h("input", {
      type: "search",
      name,
      value: look.filters[name] ?? "",
      list: known.length > 0 ? `values-${name}` : null,
      autocomplete: "off",
      spellcheck: "false",
      on: { change: (event) => look.app.go({ filters: { [name]: event.target.value.trim() } }) },
    }),
    known.length > 0 &&
      h(
        "datalist",
        { id: `values-${name}` },
        known.map((value) => h("option", { key: value, value })),
      ),
  );
}

/** A field with choices: [[value, label]…]. Whoever chooses sets the filters `also`. */
export function choiceField(look, name, label, choices, also = {}) {
  return h(
    "label",
    { class: "field", key: `filter-${name}` },
    h("span", null, label),
    h(
      "select",
      {
        name,
        on: {
          change: (event) => look.app.go({ filters: { ...also, [name]: event.target.value } }),
        },
      },
      choices.map(([value, text]) =>
        h("option", { value, selected: (look.filters[name] ?? "") === value }, text),
      ),
    ),
  );
}

export const count = (value) => h("span", { class: "count" }, number(value));

/** What a wait is for, in words. */
export function waitText(look, wait) {
  const targets = wait.waits_for ?? [];
  const kind = word(`wait.${wait.kind}`, oneLine(wait.kind ?? "", 60));
  if (targets.length === 0) return [word(`wait.${wait.kind}.any`, kind)];
  if (wait.kind === "human") return [kind];
  const shown = targets.slice(0, 3).map((id, i) => [i > 0 ? ", " : "", agentLink(look, id)]);
  const [before, after = ""] = kind.includes("{who}") ? kind.split("{who}") : [`${kind} `];
  return [before, shown, targets.length > 3 ? ` +${number(targets.length - 3)}` : "", after];
}
