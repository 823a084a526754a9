// Draws the diagram of the timeline. Only the rows on screen exist.

import { oneLine } from "../logic/format.js";
import { nameLines } from "../logic/lanes.js";
import { scrollTo, visible } from "../logic/window.js";
import { h } from "../ui/dom.js";
import { t } from "../ui/words.js";
import { barOf, HEAD, ROW, rowOf, TIMES, top } from "./sequence_rows.js";

const LANE_MIN = 88;
const LANE_MAX = 168;

function watch(look, state, node) {
  Object.assign(state, { node, top: 0, left: 0, isNew: true });
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
    left - TIMES >= state.node.scrollLeft &&
    left + width * 2 <= state.node.scrollLeft + state.width;
  if (!isSeen) state.node.scrollLeft = left - TIMES;
}

function laneWidth(state, count) {
  return Math.max(LANE_MIN, Math.min(LANE_MAX, (state.width - TIMES - 16) / Math.max(1, count)));
}

function laneName(look, id, x, width) {
  const lines = nameLines(id, Math.floor(width / 8.5));
  return h(
    "text",
    {
      key: id,
      "text-anchor": "middle",
      on: { click: () => look.app.go({ view: "agent", id, filters: {} }) },
    },
    lines.map((line, i) =>
      h("tspan", { x, y: lines.length === 1 ? HEAD / 2 + 5 : i * 15 + 17 }, line),
    ),
    h("title", null, oneLine(id, 100)),
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
        { class: "lanes", width, height, role: "group" },
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
        h(
          "g",
          { "aria-hidden": "true", key: "bars" },
          bars.map((bar) => barOf(bar, x, places, first, last, items.length)),
        ),
        items.slice(first, last).map((item) => rowOf(look, state, item, x, width, selected)),
        h(
          "g",
          {
            class: "heads",
            key: "heads",
            "aria-hidden": "true",
            transform: `translate(0 ${Math.max(0, state.top)})`,
          },
          h("rect", { class: "head-back", width, height: HEAD }),
          lanes.map((id, index) => laneName(look, id, x(index), lane)),
          h("rect", { class: "head-back", x: state.left, width: TIMES - 4, height: HEAD }),
        ),
      ),
    ),
  );
}
