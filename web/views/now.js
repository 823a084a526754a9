// Now: is everything well, and what needs me?

import { timeMs } from "../logic/format.js";
import { Rates, holds, segments } from "../logic/law.js";
import { h } from "../ui/dom.js";
import * as looks from "../ui/looks.js";
import { link, sample, section, shape } from "../ui/parts.js";
import { rows } from "../ui/api.js";
import { compact, number, t, word } from "../ui/words.js";
import { blocked, needsYou, overdue, troubled } from "./now_cards.js";

const rates = new Rates();

async function load(look) {
  const [stats, waits, items, agents, tasks] = await Promise.all([
    looks.stats(look),
    looks.waits(look),
    looks.inbox(look),
    looks.agents(look),
    openTasks(look),
  ]);
  const now = timeMs(stats.now ?? look.app.pastTime ?? "") || Date.now();
  if (look.at === null) rates.add(now, stats);
  return { stats, waits, items, agents, tasks, now };
}

async function openTasks(look) {
  if (look.at !== null) return (await looks.tasks(look)).tasks;
  const [pending, processing] = await Promise.all(
    ["pending", "processing"].map((type) => look.get("/tasks", { type, limit: 200 })),
  );
  return [...rows(pending), ...rows(processing)];
}

function lawBar(look, stats) {
  const parts = segments(stats);
  const total = Number(stats.sent ?? 0) + Number(stats.taken ?? 0);
  return h(
    "section",
    { class: "card law" },
    h("h2", null, t("now.messages"), h("span", { class: "big" }, number(total))),
    h(
      "div",
      {
        class: "bar",
        role: "img",
        "aria-label": parts
          .map((part) => `${word(`state.${part.state}`, part.state)}: ${part.count}`)
          .join(", "),
      },
      parts
        .filter((part) => part.count > 0)
        .map((part) =>
          h("span", {
            key: part.state,
            class: `part bg-${part.state}`,
            title: `${word(`state.${part.state}`, part.state)}: ${number(part.count)}`,
            style: { "flex-grow": part.share.toFixed(5) },
          }),
        ),
    ),
    h(
      "ul",
      { class: "legend" },
      parts.map((part) =>
        h(
          "li",
          { key: part.state, class: part.count === 0 ? "none" : "" },
          shape(part.state),
          h("span", null, word(`state.${part.state}`, part.state)),
          part.state === "dead" && part.count > 0
            ? link(look, { view: "dead", at: null }, number(part.count))
            : h("b", null, number(part.count)),
        ),
      ),
    ),
    !holds(stats) && h("p", { class: "quiet" }, t("now.law.moving")),
  );
}

// In the past it keeps its place: a moment has no rate.
function rateCard(look) {
  const now = look.at === null ? rates.now() : null;
  const shown = (rate) => (now === null ? "–" : compact(Math.round(rate * 10) / 10));
  const series = look.at === null ? rates.series() : [];
  const top = Math.max(1, ...series);
  const points = series.map(
    (value, i) =>
      `${((i * 240) / Math.max(1, series.length - 1)).toFixed(1)},${(46 - (value / top) * 42).toFixed(1)}`,
  );
  return h(
    "section",
    { class: "card rates" },
    h("h2", null, t("now.rate")),
    h(
      "p",
      { class: "pair" },
      h("span", null, h("b", { class: "big" }, shown(now?.sent)), " ", t("now.rate.sent")),
      h(
        "span",
        null,
        h("b", { class: "big" }, shown(now?.processed)),
        " ",
        t("now.rate.processed"),
      ),
    ),
    h(
      "svg",
      { class: "spark", viewBox: "0 0 240 48", preserveAspectRatio: "none", "aria-hidden": "true" },
      points.length > 1 && h("polyline", { points: points.join(" ") }),
    ),
  );
}

// How many agents are in which state, large families and what is below them included.
function countStates(agents) {
  const counts = {};
  for (const agent of agents) {
    const status = agent.status ?? "stopped";
    counts[status] = (counts[status] ?? 0) + 1;
    for (const family of [...(agent.families ?? []), ...(agent.below ?? [])])
      counts[family.status] = (counts[family.status] ?? 0) + family.count;
  }
  return counts;
}

const ORDER = [
  "working",
  "idle",
  "blocked_internal",
  "blocked_user",
  "paused",
  "failed",
  "unresponsive",
  "stopped",
];

function agentCard(look, agents) {
  const counts = countStates(agents);
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return h(
    "section",
    { class: "card states" },
    h("h2", null, t("view.agents"), h("span", { class: "big" }, number(total))),
    h(
      "ul",
      { class: "legend" },
      ORDER.map((status) =>
        h(
          "li",
          { key: status, class: counts[status] > 0 ? "" : "none" },
          shape(status),
          h("span", null, word(`state.${status}`, status)),
          counts[status] > 0
            ? link(look, { view: "agents", filters: { status } }, number(counts[status]))
            : h("b", null, number(0)),
        ),
      ),
    ),
  );
}

function draw(look, { stats, waits, items, agents, tasks, now }) {
  const isYoung = Number(stats.sent ?? 0) === 0 && agents.length <= 2;
  return [
    h("h1", { class: "unseen" }, t("view.now")),
    isYoung &&
      section(t("now.empty"), h("p", null, t("now.empty.hint")), sample('society send "hello"')),
    h(
      "div",
      { class: "grid" },
      lawBar(look, stats),
      needsYou(look, items),
      rateCard(look),
      agentCard(look, agents),
      blocked(look, waits, now),
      troubled(look, agents),
      overdue(look, tasks, now),
    ),
  ];
}

export default { topics: ["stats", "waits", "inbox", "agents", "tasks"], load, draw };
