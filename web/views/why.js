// Why an agent waits: the chain of waits to its real end, and the button that ends it.

import { timeMs } from "../logic/format.js";
import { h } from "../ui/dom.js";
import { confirm } from "../ui/dialog.js";
import { agentLink, button, link, mark, moment, section, waitText } from "../ui/parts.js";
import { part, post } from "../ui/api.js";
import { duration, t, word } from "../ui/words.js";

// What ends a wait, by operation.
function remedy(look, one, key) {
  const { app } = look;
  switch (one.op) {
    case "decide":
      return link(
        look,
        { view: "inbox", at: null, filters: { item: one.item_id }, class: "button main" },
        h("span", { data: { do: "decide" } }, t("why.decide")),
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
            { reason: true },
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
        ` · ${t("why.since", { duration: duration(Math.max(0, Date.now() - timeMs(one.since))) })}`,
      one.deadline && [" · ", t("why.until"), " ", moment(one.deadline)],
    ),
    one.end && h("p", { class: "verdict" }, word(`end.${one.end}`, one.end)),
    look.at === null &&
      (one.ended_by ?? []).length > 0 &&
      h(
        "div",
        { class: "buttons" },
        one.ended_by.map((each, i) => remedy(look, each, i)),
      ),
  );
}

/** The chain, from this agent to what it really waits for. */
export function whySection(look, steps) {
  const isWaiting =
    steps.length > 1 || (steps[0] && steps[0].end !== "idle" && steps[0].end !== "working");
  if (!isWaiting) {
    return section(
      t("why.title"),
      h("p", { class: "quiet" }, t(steps[0]?.end === "working" ? "end.working" : "why.none")),
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
