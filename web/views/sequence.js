// Draws the diagram of the timeline. Only the rows on screen exist.

import { oneLine } from "../logic/format.js";
import { scrollTo, visible } from "../logic/window.js";
import { h } from "../ui/dom.js";
import { clock, t, word } from "../ui/words.js";

export const ROW = 26;
const HEAD = 40;
const TIMES = 78;
const LANE_MIN = 88;
const LANE_MAX = 168;

function watch(look, state, node) {
  state.node = node;
  state.isNew = true;
  new ResizeObserver(() => {
    state.view = node.clientHeight || 600;
    state.width = node.clientWidth || 600;
    look.app.redraw();
  }).observe(node);
}

const stateOf = (look) =>
  (look.ui.sequence ??= { top: 0, left: 0, view: 600, width: 600, shown: null, isNew: true });

/** Keeps the row of the moment, or live the last one, on screen when it changes. */
export function showRow(look, { list, selected, drawing }) {
  const state = stateOf(look);
  const last = list.at(-1);
  const shown = look.at === null ? `live ${last?.line}` : `at ${selected?.line}`;
  if (state.shown === shown && !state.isNew) return;
  const isFollowing =
    state.isNew ||
    state.shown?.startsWith("at") ||
    look.at !== null ||
    (state.node && state.node.scrollHeight - state.node.scrollTop - state.view < ROW * 4);
  state.shown = shown;
  requestAnimationFrame(() => {
    if (!state.node) return;
    state.isNew = false;
    const index = look.at === null ? list.length - 1 : list.indexOf(selected);
    if (isFollowing) {
      state.node.scrollTop = scrollTo(index + 2, ROW, state.node.scrollTop, state.view - HEAD);
    }
    if (selected) showLane(state, drawing, index);
  });
}

// Both ends of an arrow if they fit, else its beginning.
function showLane(state, drawing, index) {
  const { lane, to } = drawing.items[index];
  if (lane === null) return;
  const width = laneWidth(state, drawing.lanes.length);
  const first = Math.min(lane, typeof to === "number" ? to : lane);
  const left = TIMES + width * first;
  const isSeen =
    left >= state.node.scrollLeft && left + width * 2 <= state.node.scrollLeft + state.width;
  if (!isSeen) state.node.scrollLeft = left - TIMES;
}

function laneWidth(state, count) {
  return Math.max(LANE_MIN, Math.min(LANE_MAX, (state.width - TIMES - 16) / Math.max(1, count)));
}

const top = (index) => HEAD + index * ROW;

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

const SIGNS = {
  done: (x) => h("path", { class: "sign done", d: `M${x - 4} ${ROW / 2 + 4}l3 3 5-6` }),
  wait: (x) => h("path", { class: "sign wait", d: `M${x - 4} ${ROW / 2 - 1}h8l-3 5 3 5h-8l3-5z` }),
  go: (x) => h("path", { class: "sign go", d: `M${x - 3} ${ROW / 2 - 1}l7 5-7 5z` }),
  bad: (x) => h("path", { class: "sign bad", d: `M${x} ${ROW / 2 - 2}l6 11h-12z` }),
  note: (x) =>
    h("rect", { class: "sign note", x: x - 3, y: ROW / 2 + 1, width: 6, height: 6, rx: 1 }),
};

function rowOf(look, item, x, width, selected) {
  const { row } = item;
  const isSelected = selected === row;
  const isLater = look.at !== null && row.line > look.at;
  const name = `${clock(row.time)} ${row.agent ?? ""} ${word(`event.${row.event}`, row.event)} ${row.type ?? ""}`;
  return h(
    "g",
    {
      key: item.line ?? item.index,
      class: `event kind-${item.kind} ${isSelected ? "selected" : ""} ${isLater ? "later" : ""}`,
      transform: `translate(0 ${top(item.index)})`,
      data: { line: item.line, id: row.message_id ?? null },
      on: { click: () => item.line !== null && look.app.go({ at: item.line }) },
    },
    h("title", null, oneLine(name, 200)),
    h("rect", { class: "hit", width, height: ROW }),
    h("text", { class: "time", x: 8, y: ROW / 2 + 8 }, clock(row.time)),
    item.lane === null
      ? h(
          "text",
          { class: "label", x: TIMES + 8, y: ROW / 2 + 8 },
          oneLine(word(`event.${row.event}`, row.event), 40),
        )
      : [
          item.kind === "arrow" ? arrow(item, x) : SIGNS[item.kind](x(item.lane)),
          label(stateOf(look), item, x, width),
        ],
  );
}

function barOf(bar, x, lanes, first, last, count) {
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

/** The diagram as an element. */
export function sequence(look, { drawing, selected }) {
  const state = stateOf(look);
  const { lanes, items, bars } = drawing;
  const lane = laneWidth(state, lanes.length);
  const width = Math.max(state.width, TIMES + lane * lanes.length + 16);
  const x = (index) => TIMES + lane * (index + 0.5);
  const height = HEAD + items.length * ROW + 24;
  const { first, last } = visible(items.length, ROW, state.top - HEAD, state.view, 10);
  const places = new Map(lanes.map((id, index) => [id, index]));
  return h(
    "figure",
    { class: "sequence card flush", key: "sequence" },
    h(
      "div",
      {
        class: "canvas",
        tabindex: 0,
        role: "group",
        "aria-label": t("timeline.picture"),
        ref: (node) => watch(look, state, node),
        on: {
          scroll: (event) => {
            state.top = event.target.scrollTop;
            state.left = event.target.scrollLeft;
            look.app.redraw();
          },
        },
      },
      h(
        "svg",
        { class: "lanes", width, height },
        h(
          "defs",
          null,
          h(
            "marker",
            {
              id: "head",
              viewBox: "0 0 8 8",
              refX: 7,
              refY: 4,
              markerWidth: 7,
              markerHeight: 7,
              orient: "auto",
            },
            h("path", { d: "M0 0l8 4-8 4z" }),
          ),
        ),
        lanes.map((id, index) =>
          h("line", {
            key: `lane ${id}`,
            class: "lane",
            x1: x(index),
            x2: x(index),
            y1: HEAD,
            y2: height,
          }),
        ),
        bars.map((bar) => barOf(bar, x, places, first, last, items.length)),
        items.slice(first, last).map((item) => rowOf(look, item, x, width, selected)),
        h(
          "g",
          { class: "heads", key: "heads", transform: `translate(0 ${Math.max(0, state.top)})` },
          h("rect", { class: "head-back", width, height: HEAD }),
          lanes.map((id, index) =>
            h(
              "text",
              {
                key: id,
                x: x(index),
                y: 25,
                "text-anchor": "middle",
                on: { click: () => look.app.go({ view: "agent", id, filters: {} }) },
              },
              oneLine(id, Math.floor(lane / 8)),
              h("title", null, oneLine(id, 100)),
            ),
          ),
        ),
      ),
    ),
  );
}
