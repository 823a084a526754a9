// The cards of one agent: its brief, contacts, work, cost, conversation and latest events.

import { totalUsage } from "../logic/board.js";
import { payloadText, timeMs } from "../logic/format.js";
import { h } from "../ui/dom.js";
import { detailText } from "../ui/details.js";
import { agentLink, facts, link, moment, prose, section, words } from "../ui/parts.js";
import { dollars, number, t, word } from "../ui/words.js";

const BRIEF = ["objective", "constraints", "inputs", "outputs", "completion_criteria"];

// Whom it knows from its brief, and what for.
function collaborator(look, { agentId, role, description, interfaceSpec }) {
  const { services, input_format: takes, output_format: gives } = interfaceSpec ?? {};
  const offer = [services, takes && gives ? `${takes} → ${gives}` : null].filter(Boolean);
  return h(
    "li",
    null,
    agentLink(look, agentId),
    role && [" (", words(role, 60), ")"],
    description && [": ", words(description, 400)],
    offer.length > 0 && h("span", { class: "quiet" }, " · ", words(offer.join(" · "), 400)),
  );
}

const isPeople = (name, value) =>
  name === "collaborators" && Array.isArray(value) && value.every((one) => one?.agentId);

export function briefCard(look, brief) {
  if (!brief) return null;
  const names = [
    ...BRIEF.filter((name) => name in brief),
    ...Object.keys(brief).filter((name) => !BRIEF.includes(name)),
  ];
  return section(
    t("agent.brief"),
    facts(
      names.map((name) => {
        const value = brief[name];
        const isList = Array.isArray(value) && value.every((item) => typeof item === "string");
        if (isList && value.length === 0) return [word(`brief.${name}`, name), null];
        if (isPeople(name, value))
          return [
            word(`brief.${name}`, name),
            h(
              "ul",
              null,
              value.slice(0, 50).map((one) => collaborator(look, one)),
            ),
          ];
        return [
          word(`brief.${name}`, name),
          isList
            ? h(
                "ul",
                null,
                value.map((item) => h("li", null, words(item, 400))),
              )
            : words(payloadText(value), 800),
        ];
      }),
    ),
  );
}

/** The contacts of an agent; `hasEnded`: it had some, which are gone with it. */
export function contactsCard(look, contacts, hasEnded = false) {
  return section(
    t("agent.contacts"),
    contacts.length === 0
      ? h("p", { class: "quiet" }, t(`agent.contacts.${hasEnded ? "gone" : "none"}`))
      : h(
          "table",
          { class: "names" },
          h(
            "thead",
            null,
            h(
              "tr",
              null,
              ["agent", "role", "source", "since"].map((name) =>
                h(
                  "th",
                  { scope: "col", class: name === "since" ? "wide-only" : "" },
                  t(`column.${name}`),
                ),
              ),
            ),
          ),
          h(
            "tbody",
            null,
            contacts
              .slice(0, 200)
              .map((contact) =>
                h(
                  "tr",
                  { key: contact.id, data: { id: contact.id } },
                  h("td", null, agentLink(look, contact.id)),
                  h("td", null, words(contact.role?.name ?? contact.role ?? "", 40)),
                  h(
                    "td",
                    null,
                    word(`source.${contact.source}`, contact.source ?? ""),
                    contact.introducedBy && [" ", agentLink(look, contact.introducedBy)],
                  ),
                  h("td", { class: "quiet nowrap wide-only" }, moment(contact.addedAt)),
                ),
              ),
          ),
        ),
  );
}

const freeAt = (time) => (timeMs(time) <= Date.now() ? t("agent.free.now") : moment(time));

export function workCard(look, { agent, queue, load }) {
  if (!queue && !load) return null;
  const pending = queue?.pending ?? [];
  return section(
    t("agent.work"),
    facts([
      [t("agent.load"), load?.load && words(load.load, 20)],
      [t("agent.free"), load?.estimated_free && freeAt(load.estimated_free)],
      [
        t(look.at === null ? "agent.mail" : "agent.mail.then"),
        agent.queue_length != null ? number(agent.queue_length) : null,
      ],
      [
        t("state.processing"),
        queue?.processing?.task_id &&
          link(
            look,
            { view: "tasks", filters: { task: queue.processing.task_id } },
            words(queue.processing.task_id, 60),
          ),
      ],
      [
        t("state.pending"),
        pending.length > 0 &&
          h(
            "ol",
            { class: "tight" },
            pending
              .slice(0, 10)
              .map((task) =>
                h(
                  "li",
                  { key: task.task_id },
                  link(
                    look,
                    { view: "tasks", filters: { task: task.task_id } },
                    words(task.task_id, 60),
                  ),
                  " ",
                  h("span", { class: "tag" }, words(task.priority, 4)),
                ),
              ),
          ),
      ],
      [
        t("state.completed"),
        (queue?.completed ?? []).length > 0 ? number(queue.completed.length) : null,
      ],
    ]),
    pending.length === 0 && !queue?.processing && h("p", { class: "quiet" }, t("agent.work.none")),
  );
}

export function costCard(usage) {
  if (!usage || usage.rows.length === 0) return null;
  const sum = totalUsage(usage.rows);
  return section(
    t("view.cost"),
    facts([
      [t("cost.calls"), number(sum.calls)],
      [t("cost.tokens"), number(sum.input_tokens + sum.output_tokens)],
      [t("cost.dollars"), dollars(sum.cost)],
    ]),
    usage.lines && h("p", { class: "quiet" }, t("cost.latest", { n: usage.lines })),
  );
}

export function talkCard(look, conversation) {
  if (!conversation) return null;
  const entries = conversation.entries ?? [];
  return section(
    t("agent.talk"),
    h("p", { class: "quiet" }, t("agent.talk.now", { n: conversation.count ?? entries.length })),
    entries.length === 0
      ? null
      : h(
          "ol",
          { class: "talk" },
          entries.slice(-20).map((entry, i) =>
            h(
              "li",
              {
                key: (conversation.count ?? 0) - Math.min(20, entries.length) + i,
                class: `by-${entry.role === "assistant" ? "assistant" : "other"}`,
              },
              h("span", { class: "quiet" }, word(`talk.${entry.role}`, entry.role ?? "")),
              entry.content
                ? prose(entry.content, {
                    max: 1200,
                    ui: look.ui,
                    name: `talk${i}`,
                    redraw: () => look.app.redraw(),
                  })
                : null,
              (entry.tool_calls ?? []).map((call) =>
                h(
                  "pre",
                  { class: "text" },
                  words(
                    `${call.name ?? call["function"]?.name ?? ""} ${payloadText(call.arguments ?? call["function"]?.arguments ?? "")}`,
                    600,
                  ),
                ),
              ),
            ),
          ),
        ),
  );
}

// The host, which does things itself, is no agent to look at.
const isOther = (agent, id) => agent && agent !== id && agent !== "system";

export function activityCard(look, activity) {
  if (!activity || activity.length === 0) return null;
  return section(
    t("agent.lately"),
    h(
      "ul",
      { class: "plain-rows" },
      [...activity]
        .reverse()
        .map((row, i) =>
          h(
            "li",
            { key: row.line ?? i, data: { line: row.line } },
            h("span", { class: "quiet nowrap" }, moment(row.time, { bare: true })),
            // Much that concerns an agent is what another one did.
            isOther(row.agent, look.id) && agentLink(look, row.agent),
            row.line != null
              ? link(
                  look,
                  { view: "timeline", at: row.line, filters: { agent: look.id } },
                  word(`event.${row.event}`, row.event),
                )
              : word(`event.${row.event}`, row.event),
            h(
              "span",
              { class: "grow quiet" },
              row.type && [words(row.type, 40), " "],
              detailText(look, row),
            ),
          ),
        ),
    ),
  );
}
