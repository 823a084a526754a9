// The card of the agent selected in the view of all agents. It is always there, so nothing moves
// when somebody is selected.

import { timeMs } from "../logic/format.js";
import { h } from "../ui/dom.js";
import { agentLink, button, link, mark, waitText, words } from "../ui/parts.js";
import { post, part } from "../ui/api.js";
import { duration, nowMs, t } from "../ui/words.js";

const CONTACTS = 12;

function knows(look, contacts) {
  if (contacts.length === 0) return t("agents.contacts.none");
  const shown = contacts.slice(0, CONTACTS);
  return [
    t("agents.contacts", { n: contacts.length }),
    " ",
    shown.map((contact, i) => [i > 0 ? ", " : "", agentLink(look, contact.id)]),
    contacts.length > CONTACTS && " …",
  ];
}

function order(look, of, id) {
  const done = t(`done.${of}`, { id });
  return button(look, of, t(`do.${of}`), () =>
    look.app.act(of, () => post(`/agents/${part(id)}/${of}`), done),
  );
}

/** What is known of the selected agent, or how to select one. */
export function selectedCard(look, { agents, waits, contacts }) {
  const id = look.filters.selected;
  const agent = id && agents.find((one) => one.id === id);
  if (!agent)
    return h(
      "section",
      { class: "card chosen", key: "chosen" },
      h("p", { class: "quiet" }, id ? t("agent.none", { id }) : t("agents.hint")),
    );
  const wait = waits.find((one) => one.agent === id);
  const waited = wait && Math.max(0, nowMs() - timeMs(wait.since));
  const isHeld = agent.status === "paused" || agent.status === "failed";
  return h(
    "section",
    { class: "card chosen", key: "chosen", data: { id } },
    h("h2", null, agentLink(look, id), mark(agent.status ?? "stopped")),
    h(
      "p",
      { class: "quiet" },
      words(agent.role?.name ?? "", 60),
      wait && [" · ", waitText(look, wait)],
      wait?.since && ` · ${t("why.since", { duration: duration(waited) })}`,
    ),
    h("p", { class: "quiet" }, knows(look, contacts)),
    h(
      "div",
      { class: "buttons" },
      link(look, { view: "agent", id, class: "button", of: "open-agent" }, t("agents.open")),
      look.at === null && order(look, isHeld ? "resume" : "pause", id),
    ),
  );
}
