// Why an agent waits: the chain of waits to its real end, and the button that ends it.

import { timeMs } from "../logic/format.js";
import { h } from "../ui/dom.js";
import { confirm } from "../ui/dialog.js";
import { agentLink, button, isDenied, link, mark, moment, section, waitText } from "../ui/parts.js";
import { optional, part, post, rows } from "../ui/api.js";
import { duration, nowMs, t, word } from "../ui/words.js";

// Where a chain ends so, a message that was lost on its way there may be the cause.
const LOSING = ["silence", "failed"];

/** Reads the chain of waits of an agent. */
export async function loadWhy(look) {
  const steps = rows(await optional(look.get(`/agents/${part(look.id)}/why`)));
  const last = steps.at(-1);
  if (!last || !LOSING.includes(last.end)) return steps;
  const lost = rows(await optional(look.get("/dead-letters", { to: last.agent, limit: 1 })));
  const remedies = lost.map((letter) => ({ op: "redeliver", message_id: letter.id }));
  return [...steps.slice(0, -1), { ...last, ended_by: [...(last.ended_by ?? []), ...remedies] }];
}

// What ends a wait, by operation.
function remedy(look, one, key) {
  const { app } = look;
  switch (one.op) {
    case "decide":
      return link(
        look,
        {
          view: "inbox",
          at: null,
          filters: { item: one.item_id },
          class: "button main",
          of: "decide",
        },
        t("why.decide"),
      );
    case "resume":
      return button(
        look,
        "resume",
        t("why.resume", { id: one.agent }),
        () =>
          app.act(
            "resume",
            () => post(`/agents/${part(one.agent)}/resume`),
            t("done.resume", { id: one.agent }),
          ),
        { kind: "main", key },
      );
    case "redeliver":
      return button(
        look,
        "redeliver",
        t("why.redeliver"),
        () =>
          app.act(
            "redeliver",
            () => post(`/dead-letters/${part(one.message_id)}/redeliver`),
            t("done.redeliver", { n: 1 }),
          ),
        { kind: "main", key },
      );
    case "cancel":
      return button(
        look,
        "cancel",
        t("why.cancel", { id: one.task }),
        async () => {
          const reason = await confirm(
            t("tasks.cancel.title", { id: one.task }),
            t("tasks.cancel.text"),
            t("do.cancel"),
            { field: t("reason") },
          );
          if (reason !== null)
            await app.act(
              "cancel",
              () => post(`/tasks/${part(one.task)}/cancel`, reason ? { reason } : {}),
              t("done.cancel", { id: one.task }),
            );
        },
        { kind: "danger", key },
      );
    case "send":
      return button(
        look,
        "send",
        t("why.send"),
        async () => {
          const text = await confirm(
            t("why.send.title", { id: one.to }),
            t("why.send.text", { type: one.type ?? "general" }),
            t("do.send"),
            { field: t("why.send.field"), kind: "main" },
          );
          if (text)
            await app.act(
              "send",
              () => post("/messages", { to: one.to, type: one.type, payload: { text } }),
              t("done.send", { id: one.to }),
            );
        },
        { kind: "main", key },
      );
    default:
      return null;
  }
}

function step(look, one, index) {
  return h(
    "li",
    { key: `${index} ${one.agent}`, class: one.end ? "end" : "", data: { id: one.agent } },
    h("div", null, agentLink(look, one.agent), one.status && mark(one.status)),
    h(
      "div",
      { class: "quiet" },
      one.kind && waitText(look, one),
      one.since &&
        ` · ${t("why.since", { duration: duration(Math.max(0, nowMs() - timeMs(one.since))) })}`,
      one.deadline && [" · ", t("why.until"), " ", moment(one.deadline)],
    ),
    one.end && h("p", { class: "verdict" }, word(`end.${one.end}`, one.end)),
    look.at === null &&
      (one.ended_by ?? []).length > 0 &&
      h(
        "div",
        { class: "buttons" },
        one.ended_by.map((each, i) => !isDenied(look, each.op) && remedy(look, each, i)),
      ),
    look.at === null &&
      (one.ended_by ?? []).some((each) => isDenied(look, each.op)) &&
      h("p", { class: "quiet" }, t("why.denied")),
  );
}

/** The chain, from this agent to what it really waits for. */
export function whySection(look, steps) {
  const end = steps[0]?.end ?? "idle";
  if (steps.length < 2 && ["idle", "working", "unlogged"].includes(end)) {
    return section(
      t("why.title"),
      h("p", { class: "quiet" }, t(end === "idle" ? "why.none" : `end.${end}`)),
    );
  }
  return section(
    t("why.title"),
    h(
      "ol",
      { class: "chain" },
      steps.map((one, index) => step(look, one, index)),
    ),
  );
}
