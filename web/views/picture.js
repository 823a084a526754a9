// The picture of the tree: boxes by generation from left to right, branches between parents and
// children, waits as dashed arrows over it, contacts of the selected agent as thin lines.

import { fit, oneLine } from "../logic/format.js";
import { waitEdges } from "../logic/tree.js";
import { h } from "../ui/dom.js";
import { shape } from "../ui/parts.js";
import { number, t, word } from "../ui/words.js";
import { fits, select, toggle } from "./agents.js";

const HEIGHT = 32;
const STEP = 42;
const EDGE = 16;

// Boxes and what lies between them, in px: of generous width where all generations fit so.
const WIDE = { box: 172, step: 220, columns: 18 };
const NARROW = { box: 148, step: 188, columns: 15 };

const widthOf = (size, depth) => size.step * (depth - 1) + size.box + EDGE * 2;

const x = (size, item) => EDGE + item.depth * size.step;
const y = (item) => EDGE + item.row * STEP;
const middle = (item) => y(item) + HEIGHT / 2;

// Until it is measured: what the list beside it leaves.
const guessedWidth = () => document.getElementById("main").clientWidth - 406;

function watch(look, state, node) {
  state.node = node;
  let wanted = state.top; // where it was left
  new ResizeObserver(() => {
    state.view = node.clientHeight || 600;
    state.width = node.clientWidth || 600;
    if (wanted !== null) {
      node.scrollTop = wanted;
      state.top = node.scrollTop;
      wanted = null;
    }
    look.app.redraw();
  }).observe(node);
}

function branch(size, item) {
  const x1 = x(size, item.parent) + size.box;
  const x2 = x(size, item);
  const bend = (x1 + x2) / 2;
  return h("path", {
    key: `branch ${item.key}`,
    class: "branch",
    d: `M${x1} ${middle(item.parent)}H${bend}V${middle(item)}H${x2}`,
  });
}

// From box to box, bent so that it can be told from branches.
function curve(size, from, to) {
  const isRight = to.depth >= from.depth;
  const isOnward = to.depth > from.depth;
  const x1 = isRight ? x(size, from) + size.box : x(size, from);
  const x2 = isOnward ? x(size, to) : x(size, to) + size.box;
  const bow = from.depth === to.depth ? 44 : 28;
  const c1 = isRight ? x1 + bow : x1 - bow;
  const c2 = isOnward ? x2 - bow : x2 + bow;
  const y1 = middle(from) + 6;
  const y2 = middle(to) + 6;
  return `M${x1} ${y1}C${c1} ${y1} ${c2} ${y2} ${x2} ${y2}`;
}

// Whether the filter leaves it out: an agent, or all of a folded family.
function isDim(look, { agent, group }) {
  if (!look.filters.q && !look.filters.status) return false;
  if (agent) return !fits(agent, look.filters);
  return !group.children.some((child) => fits(child.agent, look.filters));
}

function box(look, size, item, names) {
  const { agent, group } = item;
  const isSelected = agent && look.filters.selected === agent.id;
  const status = agent ? (agent.status ?? "stopped") : "group";
  const title = agent
    ? `${agent.id} · ${agent.role?.name ?? ""} · ${word(`state.${status}`, status)}`
    : `${t("agents.family", { n: group.count })} ${group.role}`;
  const act = () => (agent ? select(look, agent.id) : toggle(look, group.of));
  return h(
    "g",
    {
      key: item.key,
      class: `box is-${status} ${isSelected ? "selected" : ""} ${names.has(item.key) ? "near" : ""} ${isDim(look, item) ? "dim" : ""}`,
      transform: `translate(${x(size, item)} ${y(item)})`,
      on: { click: act },
    },
    h("title", null, oneLine(title, 160)),
    group && h("rect", { class: "stack", x: 4, y: 4, width: size.box, height: HEIGHT, rx: 6 }),
    h("rect", { class: "face", width: size.box, height: HEIGHT, rx: 6 }),
    agent
      ? [
          h("g", { transform: "translate(10 10)" }, shape(status)),
          h(
            "text",
            { x: 28, y: 20 },
            fit(agent.id, size.columns - (agent.queue_length > 0 ? 3 : 0)),
          ),
          agent.queue_length > 0 &&
            h(
              "text",
              { class: "queue", x: size.box - 8, y: 20, "text-anchor": "end" },
              number(agent.queue_length),
            ),
        ]
      : h(
          "text",
          { x: 12, y: 20 },
          fit(`${number(group.count)} × ${group.role}`, size.columns + 2),
        ),
  );
}

/** The picture as an element. Only what is on screen is drawn. */
export function picture(look, { agents, waits, contacts, layout }) {
  const state = (look.ui.picture ??= { top: 0, view: 600, width: guessedWidth() });
  const size = widthOf(WIDE, layout.depth) <= state.width ? WIDE : NARROW;
  const height = layout.rows * STEP + EDGE * 2;
  const width = widthOf(size, layout.depth);
  const top = state.top - STEP * 4;
  const bottom = state.top + state.view + STEP * 4;
  const isSeen = (item) => y(item) >= top && y(item) <= bottom;
  const crosses = (a, b) => Math.min(y(a), y(b)) <= bottom && Math.max(y(a), y(b)) >= top;
  const edges = waitEdges(layout, agents, waits).filter((edge) => crosses(edge.from, edge.to));
  const near = new Set(contacts.map((contact) => contact.id));
  const byKey = new Map(layout.items.map((item) => [item.key, item]));
  const chosen = byKey.get(look.filters.selected);
  const lines = chosen
    ? [...near].map((id) => byKey.get(id)).filter((item) => item && item !== chosen)
    : [];
  return h(
    "figure",
    { class: "picture card flush", key: "picture" },
    h(
      "figcaption",
      { class: "legend" },
      h("span", null, h("i", { class: "line wait" }), t("agents.legend.wait")),
      h("span", null, h("i", { class: "line contact" }), t("agents.legend.contact")),
      h("span", null, h("i", { class: "line branch" }), t("agents.legend.branch")),
    ),
    h(
      "div",
      {
        class: "canvas",
        tabindex: 0,
        role: "group",
        "aria-label": t("agents.picture"),
        ref: (node) => watch(look, state, node),
        on: {
          scroll: (event) => {
            state.top = event.target.scrollTop;
            look.app.redraw();
          },
        },
      },
      h(
        "svg",
        { width, height, class: "tree", "aria-hidden": "true" },
        h(
          "defs",
          null,
          h(
            "marker",
            {
              id: "arrow",
              viewBox: "0 0 8 8",
              refX: 7,
              refY: 4,
              markerWidth: 7,
              markerHeight: 7,
              orient: "auto-start-reverse",
            },
            h("path", { d: "M0 0l8 4-8 4z" }),
          ),
        ),
        layout.items
          .filter((item) => item.parent && crosses(item, item.parent))
          .map((item) => branch(size, item)),
        lines.map((item) =>
          h("path", { key: `contact ${item.key}`, class: "contact", d: curve(size, chosen, item) }),
        ),
        layout.items.filter(isSeen).map((item) => box(look, size, item, near)),
        edges.map((edge) =>
          h(
            "path",
            {
              key: `wait ${edge.key}`,
              class: "wait",
              d: curve(size, edge.from, edge.to),
              "marker-end": "url(#arrow)",
            },
            h(
              "title",
              null,
              `${oneLine(edge.from.key, 40)} → ${oneLine(edge.to.key, 40)}${edge.count > 1 ? ` × ${edge.count}` : ""}`,
            ),
          ),
        ),
      ),
    ),
  );
}
