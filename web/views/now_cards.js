// Cards of the view now: what needs somebody.

import { isLate } from "../logic/board.js";
import { gist, timeMs } from "../logic/format.js";
import { h } from "../ui/dom.js";
import { agentLink, link, mark, moment, shape, waitText, words } from "../ui/parts.js";
import { duration, number, t } from "../ui/words.js";

const SHOWN = 8;

export function needsYou(look, items) {
  return h(
    "section",
    { class: "card wide calm" },
    h(
      "h2",
      null,
      t("now.needs"),
      items.length > 0 && h("span", { class: "badge inbox" }, number(items.length)),
    ),
    items.length === 0
      ? h("p", { class: "quiet" }, t("now.needs.none"))
      : h(
          "ul",
          { class: "plain-rows" },
          items
            .slice(0, SHOWN)
            .map((item) =>
              h(
                "li",
                { key: item.id, data: { id: item.id } },
                shape("blocked_user"),
                h(
                  "span",
                  { class: "grow" },
                  link(look, { view: "inbox", filters: { item: item.id } }, words(item.title, 140)),
                  item.body != null && [
                    " ",
                    h("span", { class: "gist" }, words(gist(item.body, 48), 48)),
                  ],
                  h(
                    "span",
                    { class: "quiet" },
                    h("span", { class: "dot" }, item.body != null ? " · " : " "),
                    agentLink(look, item.agent),
                    " · ",
                    moment(item.created_at),
                  ),
                ),
                item.overdue && h("span", { class: "tag bad" }, t("overdue")),
              ),
            ),
        ),
    items.length > SHOWN && link(look, { view: "inbox" }, t("more", { n: items.length - SHOWN })),
  );
}

export function blocked(look, waits, now) {
  const longest = waits
    .filter((wait) => wait.kind !== "sleep")
    .sort((a, b) => timeMs(a.since) - timeMs(b.since) || 0);
  return h(
    "section",
    { class: "card calm" },
    h("h2", null, t("now.blocked"), h("span", { class: "big" }, number(longest.length))),
    longest.length === 0
      ? h("p", { class: "quiet" }, t("now.blocked.none"))
      : h(
          "ul",
          { class: "plain-rows" },
          longest
            .slice(0, SHOWN)
            .map((wait) =>
              h(
                "li",
                { key: wait.agent, data: { id: wait.agent } },
                shape(wait.kind === "human" ? "blocked_user" : "blocked_internal"),
                h(
                  "span",
                  { class: "grow" },
                  agentLink(look, wait.agent),
                  " ",
                  h("span", { class: "quiet" }, waitText(look, wait)),
                ),
                wait.since &&
                  h(
                    "span",
                    { class: "quiet nowrap" },
                    duration(Math.max(0, now - timeMs(wait.since))),
                  ),
              ),
            ),
        ),
    longest.length > SHOWN &&
      link(look, { view: "agents" }, t("more", { n: longest.length - SHOWN })),
  );
}

export function troubled(look, agents) {
  const bad = agents.filter((agent) => ["failed", "unresponsive", "paused"].includes(agent.status));
  const hidden = agents
    .flatMap((agent) =>
      [...(agent.families ?? []), ...(agent.below ?? [])].map((one) => ({ ...one, of: agent.id })),
    )
    .filter((family) => ["failed", "unresponsive", "paused"].includes(family.status));
  return h(
    "section",
    { class: "card calm" },
    h(
      "h2",
      null,
      t("now.failed"),
      h(
        "span",
        { class: "big" },
        number(bad.length + hidden.reduce((sum, family) => sum + family.count, 0)),
      ),
    ),
    bad.length + hidden.length === 0
      ? h("p", { class: "quiet" }, t("now.failed.none"))
      : h(
          "ul",
          { class: "plain-rows" },
          bad
            .slice(0, SHOWN)
            .map((agent) =>
              h(
                "li",
                { key: agent.id, data: { id: agent.id } },
                mark(agent.status),
                h("span", { class: "grow" }, agentLink(look, agent.id)),
              ),
            ),
          hidden.slice(0, SHOWN).map((family) =>
            h(
              "li",
              {
                key: `${family.of}/${family.status}`,
                data: { id: `${family.of}/${family.status}` },
              },
              mark(family.status),
              h("span", { class: "grow" }, agentLink(look, family.of)),
              number(family.count),
            ),
          ),
        ),
    bad.length > SHOWN && link(look, { view: "agents" }, t("more", { n: bad.length - SHOWN })),
  );
}

export function overdue(look, tasks, now) {
  const late = tasks.filter((task) => isLate(task, now));
  return h(
    "section",
    { class: "card calm" },
    h("h2", null, t("now.overdue"), h("span", { class: "big" }, number(late.length))),
    late.length === 0
      ? h("p", { class: "quiet" }, t("now.overdue.none"))
      : h(
          "ul",
          { class: "plain-rows" },
          late
            .slice(0, SHOWN)
            .map((task) =>
              h(
                "li",
                { key: `${task.task_id}/${task.agent}`, data: { id: task.task_id } },
                shape(task.state),
                h(
                  "span",
                  { class: "grow" },
                  link(
                    look,
                    { view: "tasks", filters: { task: task.task_id } },
                    words(task.task_id, 60),
                  ),
                  " ",
                  agentLink(look, task.agent),
                ),
                h("span", { class: "quiet nowrap" }, moment(task.deadline)),
              ),
            ),
        ),
    late.length > SHOWN && link(look, { view: "tasks" }, t("more", { n: late.length - SHOWN })),
  );
}
