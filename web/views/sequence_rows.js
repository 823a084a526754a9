// The rows of the timeline: arrows, signs, labels; and the bars of waits.

import { oneLine } from "../logic/format.js";
import { detailOf, receiverOf } from "../logic/lanes.js";
import { h } from "../ui/dom.js";
import { clock, word } from "../ui/words.js";

/** In px: the height of a row and of the names of lanes, the width of the times. */
export const ROW = 26;
export const HEAD = 40;
export const TIMES = 78;

export const top = (index) => HEAD + index * ROW;

function arrow(item, x) {
  const y = ROW / 2 + 4;
  if (item.to === "All" || item.to === null) {
    return h("circle", { class: "ring", cx: x(item.lane), cy: y, r: 5 });
  }
  if (item.to === item.lane) {
    const at = x(item.lane);
    return h("path", {
      class: "arrow",
      d: `M${at} ${y - 5}h16v10h-14`,
      "marker-end": "url(#head)",
    });
  }
  const towards = x(item.to) > x(item.lane) ? -2 : 2;
  return h("path", {
    class: "arrow",
    d: `M${x(item.lane)} ${y}H${x(item.to) + towards}`,
    "marker-end": "url(#head)",
  });
}

// The middle of the part of an arrow that is on screen.
function middle(state, x1, x2) {
  const from = Math.max(Math.min(x1, x2), state.left + TIMES);
  const to = Math.min(Math.max(x1, x2), state.left + state.width);
  return from < to ? (from + to) / 2 : (x1 + x2) / 2;
}

function label(state, item, x, width) {
  const { row } = item;
  const isArrow = item.kind === "arrow" && typeof item.to === "number" && item.to !== item.lane;
  const text =
    item.kind === "arrow" ? (row.type ?? row.event) : word(`event.${row.event}`, row.event);
  const at = isArrow
    ? middle(state, x(item.lane), x(item.to))
    : x(item.lane ?? 0) + (item.kind === "arrow" ? 22 : 10);
  const isLast = !isArrow && at > width - 110;
  const place = isLast ? x(item.lane ?? 0) - 10 : at;
  return h(
    "text",
    {
      class: "label",
      x: place,
      y: isArrow ? ROW / 2 : ROW / 2 + 8,
      "text-anchor": isArrow ? "middle" : isLast ? "end" : "start",
    },
    oneLine(text, isArrow ? 34 : 22),
  );
}

// Which way a row that is not on screen lies: -1 to the left, 1 to the right, 0 it is on screen.
function sideOf(state, item, x) {
  const ends = [item.lane, typeof item.to === "number" ? item.to : item.lane].map(x);
  if (Math.max(...ends) < state.left + TIMES) return -1;
  return Math.min(...ends) > state.left + state.width ? 1 : 0;
}

// So that no row looks empty: what lies beside the screen is said at its edge.
function hint(state, item, side) {
  const at = side < 0 ? state.left + TIMES + 8 : state.left + state.width - 10;
  const { row, to } = item;
  const receiver = item.kind === "arrow" && to !== null ? ` → ${receiverOf(row)}` : "";
  const what = item.kind === "arrow" ? row.type : word(`event.${row.event}`, row.event);
  const text = oneLine(`${row.agent}${receiver} · ${what}`, 48);
  return h(
    "text",
    { class: "label aside", x: at, y: ROW / 2 + 8, "text-anchor": side < 0 ? "start" : "end" },
    side < 0 ? `‹ ${text}` : `${text} ›`,
  );
}

const SIGNS = {
  done: (x) => h("path", { class: "sign done", d: `M${x - 4} ${ROW / 2 + 4}l3 3 5-6` }),
  wait: (x) => h("path", { class: "sign wait", d: `M${x - 4} ${ROW / 2 - 1}h8l-3 5 3 5h-8l3-5z` }),
  go: (x) => h("path", { class: "sign go", d: `M${x - 3} ${ROW / 2 - 1}l7 5-7 5z` }),
  bad: (x) => h("path", { class: "sign bad", d: `M${x} ${ROW / 2 - 2}l6 11h-12z` }),
  note: (x) =>
    h("rect", { class: "sign note", x: x - 3, y: ROW / 2 + 1, width: 6, height: 6, rx: 1 }),
};

// What nobody with a lane did stands at the left edge, however far the diagram is scrolled.
function noLane(state, row) {
  const at = state.left + TIMES + 10;
  const what = [word(`event.${row.event}`, row.event), detailOf(row).op].filter(Boolean);
  return [
    SIGNS.note(at),
    h("text", { class: "label", x: at + 10, y: ROW / 2 + 8 }, oneLine(what.join(" · "), 40)),
  ];
}

// A row in words, for those who do not see the arrow.
function eventName({ row }) {
  const to = receiverOf(row);
  return [
    clock(row.time),
    row.agent,
    word(`event.${row.event}`, row.event),
    row.type,
    to && `→ ${to}`,
  ]
    .filter(Boolean)
    .join(" ");
}

/** A row: what happened, on the lane of its agent. */
export function rowOf(look, state, item, x, width, selected) {
  const { row } = item;
  const isSelected = selected === row;
  const isLater = look.at !== null && row.line > look.at;
  const name = oneLine(eventName(item), 200);
  const side = item.lane === null ? 0 : sideOf(state, item, x);
  return h(
    "g",
    {
      key: item.line ?? item.index,
      class: `event kind-${item.kind} ${isSelected ? "selected" : ""} ${isLater ? "later" : ""}`,
      transform: `translate(0 ${top(item.index)})`,
      data: { line: item.line, id: row.message_id ?? null },
      role: "img",
      "aria-label": name,
      on: { click: () => item.line !== null && look.app.go({ at: item.line }) },
    },
    h("title", null, name),
    h("rect", { class: "hit", width, height: ROW }),
    item.lane === null
      ? noLane(state, row)
      : [
          item.kind === "arrow" ? arrow(item, x) : SIGNS[item.kind](x(item.lane)),
          side === 0 ? label(state, item, x, width) : hint(state, item, side),
        ],
    // Over all else, so that the time stays in sight beside a wide diagram.
    h("rect", { class: "time-back", x: state.left, width: TIMES - 4, height: ROW }),
    h("text", { class: "time", x: state.left + 8, y: ROW / 2 + 8 }, clock(row.time)),
  );
}

/** The bar of a wait. */
export function barOf(bar, x, lanes, first, last, count) {
  const lane = lanes.get(bar.agent);
  if (lane === undefined) return null;
  const from = bar.from ?? 0;
  const to = bar.to ?? count;
  if (to < first || from > last) return null;
  const y1 = top(from) + ROW / 2 + 4;
  const y2 = bar.to === null ? top(count) : top(to) + ROW / 2 + 4;
  return h(
    "rect",
    {
      key: `${bar.agent} ${bar.from} ${bar.to}`,
      class: `bar ${bar.isUser ? "for-user" : ""}`,
      x: x(lane) - 4,
      y: y1,
      width: 8,
      height: Math.max(2, y2 - y1),
      rx: 3,
    },
    h("title", null, oneLine(`${bar.agent} → ${bar.waitsFor.join(", ")}`, 160)),
  );
}
