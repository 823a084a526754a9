// Agents: the tree as a picture that stands still, and beside it the same as a list.

import { grow, layOut } from "../logic/tree.js";
import { h } from "../ui/dom.js";
import { longList, reveal } from "../ui/list.js";
import * as looks from "../ui/looks.js";
import { agentLink, choiceField, empty, filterField, shape, waitText, words } from "../ui/parts.js";
import { number, t, word } from "../ui/words.js";
import { selectedCard } from "./agents_card.js";
import { picture } from "./picture.js";

const ROW = 44;
const STATUSES = [
  "working",
  "idle",
  "blocked_internal",
  "blocked_user",
  "paused",
  "failed",
  "unresponsive",
  "stopped",
];

const openedOf = (look) => new Set((look.filters.open ?? "").split("\n").filter(Boolean));

// All agents by name are needed only when somebody looks for one of a large family.
async function load(look) {
  const { q, status, open, selected } = look.filters;
  const [agents, waits, contacts] = await Promise.all([
    looks.agents(look, Boolean(q || status || open)),
    looks.waits(look),
    selected ? looks.contacts(look, selected).catch(() => []) : [],
  ]);
  const layout = layOut(grow(agents), openedOf(look));
  return { agents, waits, contacts, layout };
}

/** Whether an agent is what the filter asks for. */
export function fits(agent, { q, status }) {
  if (status && (agent.status ?? "stopped") !== status) return false;
  if (!q) return true;
  const needle = q.toLowerCase();
  return (
    agent.id.toLowerCase().includes(needle) ||
    (agent.role?.name ?? "").toLowerCase().includes(needle)
  );
}

// The rows of the list: those of the picture, or what the filter leaves.
function listed(look, { agents, layout }) {
  const { q, status } = look.filters;
  if (q || status) {
    return agents
      .filter((agent) => fits(agent, look.filters))
      .map((agent) => ({ key: agent.id, agent, depth: 0 }));
  }
  return layout.items;
}

export function select(look, id) {
  look.app.go({ filters: { selected: look.filters.selected === id ? "" : id } }, { replace: true });
}

/** Opens a folded family, or folds it again. */
export function toggle(look, id) {
  const opened = openedOf(look);
  if (!opened.delete(id)) opened.add(id);
  look.app.go({ filters: { open: [...opened].join("\n") } }, { replace: true });
}

function groupRow(look, item) {
  const { group } = item;
  return h(
    "div",
    {
      class: "row group",
      data: { id: item.key },
      style: { "padding-left": `${12 + item.depth * 14}px` },
    },
    h(
      "button",
      {
        type: "button",
        class: "plain",
        data: { do: "unfold", for: group.of },
        "aria-expanded": "false",
        on: { click: () => toggle(look, group.of) },
      },
      "▸ ",
      number(group.count),
      " × ",
      words(group.role, 40),
    ),
    h("span", { class: "grow" }),
    Object.entries(group.statuses).map(([status, count]) =>
      h(
        "span",
        { class: "mark", title: word(`state.${status}`, status) },
        shape(status),
        number(count),
      ),
    ),
  );
}

function agentRow(look, item, waits) {
  const { agent } = item;
  const wait = waits.get(agent.id);
  const isSelected = look.filters.selected === agent.id;
  return h(
    "div",
    {
      class: `row ${isSelected ? "selected" : ""}`,
      data: { id: agent.id },
      style: { "padding-left": `${12 + item.depth * 14}px` },
    },
    h(
      "button",
      {
        type: "button",
        class: "plain pick",
        data: { do: "select" },
        "aria-pressed": String(isSelected),
        "aria-label": t("agents.select", { id: agent.id }),
        on: { click: () => select(look, agent.id) },
      },
      shape(agent.status ?? "stopped"),
    ),
    h(
      "div",
      { class: "grow two" },
      h(
        "span",
        null,
        agentLink(look, agent.id),
        " ",
        h("span", { class: "quiet" }, words(agent.role?.name ?? "", 40)),
      ),
      h(
        "span",
        { class: "quiet" },
        wait
          ? waitText(look, wait)
          : word(`state.${agent.status ?? "stopped"}`, agent.status ?? ""),
      ),
    ),
    item.isOpened &&
      h(
        "button",
        {
          type: "button",
          class: "plain",
          data: { do: "fold", for: agent.id },
          on: { click: () => toggle(look, agent.id) },
        },
        t("agents.fold"),
      ),
    agent.queue_length > 0 &&
      h(
        "span",
        { class: "tag", title: t(look.at === null ? "agents.queue" : "agents.queue.then") },
        number(agent.queue_length),
      ),
  );
}

function draw(look, data) {
  const items = listed(look, data);
  const waits = new Map(data.waits.map((wait) => [wait.agent, wait]));
  const isFiltered = Boolean(look.filters.q || look.filters.status);
  return [
    h("h1", { class: "unseen" }, t("view.agents")),
    h(
      "div",
      { class: "filters" },
      filterField(look, "q", t("filter.name")),
      choiceField(look, "status", t("filter.status"), [
        ["", t("filter.any")],
        ...STATUSES.map((status) => [status, t(`state.${status}`)]),
      ]),
    ),
    h(
      "div",
      { class: "split picture-split" },
      h(
        "div",
        { class: "side" },
        longList(look, {
          name: "list",
          items,
          height: ROW,
          label: t("agents.list"),
          className: "card flush",
          row: (item) => (item.group ? groupRow(look, item) : agentRow(look, item, waits)),
          empty: empty(
            t(isFiltered ? "filter.none" : "agents.empty"),
            t(isFiltered ? "filter.none.hint" : "agents.empty.hint"),
          ),
        }),
        selectedCard(look, data),
      ),
      picture(look, data),
    ),
  ];
}

// Moves the selection through the list.
function move(by) {
  return (look, data) => {
    const items = listed(look, data).filter((item) => item.agent);
    if (items.length === 0) return;
    const here = items.findIndex((item) => item.agent.id === look.filters.selected);
    const next = items[Math.max(0, Math.min(items.length - 1, here + by))];
    reveal(look, "list", listed(look, data).indexOf(next), ROW);
    if (next.agent.id !== look.filters.selected) select(look, next.agent.id);
  };
}

const keys = {
  j: move(1),
  k: move(-1),
  ArrowDown: move(1),
  ArrowUp: move(-1),
  Enter: (look) => {
    if (look.filters.selected) look.app.go({ view: "agent", id: look.filters.selected });
  },
};

export default { topics: ["agents", "waits", "contacts"], load, draw, keys };
