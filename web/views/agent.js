// One agent: what it is for, what it does, whom it knows, why it waits.

import { chainOf } from "../logic/chain.js";
import { h } from "../ui/dom.js";
import { confirm } from "../ui/dialog.js";
import * as looks from "../ui/looks.js";
import {
  agentLink,
  button,
  empty,
  link,
  mark,
  moment,
  prose,
  section,
  words,
} from "../ui/parts.js";
import { single, optional, part, post, remove, rows } from "../ui/api.js";
import { t } from "../ui/words.js";
import {
  activityCard,
  briefCard,
  contactsCard,
  costCard,
  talkCard,
  workCard,
} from "./agent_cards.js";
import { loadWhy, whySection } from "./why.js";

// That there is none is worth a sentence of its own.
function unlessGone(error) {
  if (error.status === 404) return null;
  throw error;
}

async function load(look) {
  const path = `/agents/${part(look.id)}`;
  if (look.at !== null) {
    const [agents, contacts, waits, queue, usage, activity] = await Promise.all([
      looks.agents(look),
      looks.contacts(look, look.id),
      looks.waits(look),
      looks.queue(look, look.id),
      optional(looks.usage(look, look.id)),
      optional(look.get("/activity", { agent: look.id, before: look.at + 1, limit: 12 })),
    ]);
    const agent = agents.find((row) => row.id === look.id) ?? null;
    const why = agent ? chainOf(agents, waits, look.id) : [];
    return { agent, contacts, why, queue, usage, activity: rows(activity), isPast: true };
  }
  // Who has ended, or never was, is not asked for what only the living have.
  const answer = await look.get(path).catch(unlessGone);
  const agent = answer && single(answer);
  if (!agent) return { agent };
  const ofLiving = (read) => (agent.ended_at ? null : optional(read()));
  const [contacts, why, queue, busy, usage, conversation, activity] = await Promise.all([
    ofLiving(() => looks.contacts(look, look.id)),
    ofLiving(() => loadWhy(look)),
    ofLiving(() => looks.queue(look, look.id)),
    ofLiving(() => look.get(`${path}/load`)),
    optional(looks.usage(look, look.id)),
    ofLiving(() => look.get(`${path}/conversation`)),
    optional(look.get("/activity", { agent: look.id, limit: 12 })),
  ]);
  return {
    agent,
    contacts: contacts ?? [],
    why,
    queue,
    load: busy && single(busy),
    usage,
    conversation: conversation && single(conversation),
    activity: rows(activity),
  };
}

async function terminate(look) {
  const { id } = look;
  const reason = await confirm(
    t("agent.terminate.title", { id }),
    t("agent.terminate.text"),
    t("do.terminate"),
    { field: t("reason") },
  );
  if (reason === null) return;
  await look.app.act(
    "terminate",
    () => remove(`/agents/${part(id)}`, { reason }),
    t("done.terminate", { id }),
  );
}

function holdButton(look, { id, status }) {
  const order = (of) => () =>
    look.app.act(of, () => post(`/agents/${part(id)}/${of}`), t(`done.${of}`, { id }));
  return status === "paused" || status === "failed"
    ? button(look, "resume", t("do.resume"), order("resume"), { kind: "main" })
    : button(look, "pause", t("do.pause"), order("pause"));
}

function head(look, agent) {
  const { id } = look;
  const isFixed = id === "user" || id === "root";
  return h(
    "header",
    { class: "page-head", data: { id } },
    h(
      "div",
      { class: "grow" },
      h("h1", null, words(id, 100), mark(agent.ended_at ? "stopped" : (agent.status ?? "stopped"))),
      h(
        "p",
        { class: "quiet" },
        words(agent.role?.name ?? "", 80),
        agent.parent && [" · ", t("agent.child"), " ", agentLink(look, agent.parent)],
        " · ",
        t("agent.born"),
        " ",
        moment(agent.created_at),
        agent.ended_at && [" · ", t("agent.ended"), " ", moment(agent.ended_at)],
        agent.ended_at && agent.end_reason && [" · ", words(agent.end_reason, 200)],
        agent.external && ` · ${t("agent.outside")}`,
      ),
    ),
    look.at === null &&
      h(
        "div",
        { class: "buttons" },
        link(
          look,
          { view: "timeline", filters: { agent: id }, class: "button", of: "open-timeline" },
          t("view.timeline"),
        ),
        !agent.ended_at && holdButton(look, agent),
        !agent.ended_at &&
          !isFixed &&
          button(look, "terminate", t("do.terminate"), () => terminate(look), { kind: "danger" }),
      ),
  );
}

function draw(look, data) {
  const { agent } = data;
  if (!agent) {
    return empty(
      t("agent.none", { id: look.id }),
      t(look.at === null ? "agent.none.hint" : "agent.none.then"),
      link(look, { view: "agents", class: "button", of: "open-agents" }, t("view.agents")),
    );
  }
  return [
    head(look, agent),
    h(
      "div",
      { class: "columns" },
      h(
        "div",
        null,
        data.why && whySection(look, data.why),
        briefCard(look, agent.brief),
        workCard(look, data),
      ),
      h(
        "div",
        null,
        contactsCard(look, data.contacts, Boolean(agent.ended_at)),
        costCard(data.usage),
        activityCard(look, data.activity),
        look.at === null &&
          agent.state &&
          Object.keys(agent.state).length > 0 &&
          section(
            t("agent.state"),
            prose(agent.state, {
              max: 1500,
              ui: look.ui,
              name: "state",
              redraw: () => look.app.redraw(),
            }),
          ),
        talkCard(look, data.conversation),
      ),
    ),
    data.isPast && h("p", { class: "quiet" }, t("agent.past")),
  ];
}

export default {
  topics: ["agents", "waits", "contacts", "tasks", "inbox", "usage", "dead", "messages"],
  load,
  draw,
};
