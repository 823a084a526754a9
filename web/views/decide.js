// One item of the inbox in full, with the buttons that decide it.

import { gist, payloadText } from "../logic/format.js";
import { h } from "../ui/dom.js";
import {
  agentLink,
  button,
  facts,
  isDenied,
  link,
  moment,
  prose,
  words,
} from "../ui/parts.js";
import { detailText } from "../ui/details.js";
import { t, word } from "../ui/words.js";
import { decide } from "./inbox.js";
import { modifyForm, openModify } from "./modify.js";

function buttons(look, data) {
  const { item } = data;
  const options = item.options ?? [];
  // Only the form decides while it is open: nothing that was typed is lost by a slip.
  const isOpen = look.ui.modify?.id === item.id;
  return h(
    "div",
    { class: "decision" },
    isOpen && modifyForm(look, data),
    !isOpen &&
      options.length > 0 &&
      h(
        "div",
        { class: "buttons options", role: "group", "aria-label": t("inbox.options") },
        options
          .slice(0, 40)
          .map((option, i) =>
            button(
              look,
              "choose",
              [i < 9 && h("kbd", null, i + 1), " ", words(payloadText(option), 80)],
              () => decide(look, data, { choice: option }),
              { mark: String(i + 1), key: i },
            ),
          ),
      ),
    !isOpen &&
      h(
        "div",
        { class: "buttons" },
        button(
          look,
          "approve",
          [h("kbd", null, "a"), " ", t("do.approve")],
          () => decide(look, data, { decision: "approve" }),
          { kind: options.length > 0 ? "" : "main" }, // an option says more
        ),
        button(look, "modify", [h("kbd", null, "m"), " ", t("do.modify")], () =>
          openModify(look, data),
        ),
        button(
          look,
          "reject",
          [h("kbd", null, "r"), " ", t("do.reject")],
          () => decide(look, data, { decision: "reject" }),
          { kind: "danger" },
        ),
      ),
    h(
      "label",
      { class: "field", key: `comment ${item.id}` },
      h("span", null, t("inbox.comment")),
      h("input", {
        type: "text",
        maxlength: 10000,
        placeholder: t("inbox.comment.hint"),
        name: "comment",
        value: look.ui.comment?.id === item.id ? look.ui.comment.text : "",
        on: {
          input: (event) => {
            look.ui.comment = { id: item.id, text: event.target.value };
          },
        },
      }),
    ),
    h("p", { class: "quiet" }, t("inbox.final")),
  );
}

// Who handed the question on, from its origin to the agent that asks.
function cameBy(look, item) {
  const path = item.chain ?? [];
  if (path.length === 0) return null;
  return h(
    "ol",
    { class: "came-by" },
    path
      .slice(-6)
      .map((message, i) =>
        h(
          "li",
          { key: i },
          agentLink(look, message.from),
          " → ",
          agentLink(look, message.to),
          h(
            "span",
            { class: "quiet" },
            " ",
            words(message.type ?? "", 40),
            " ",
            words(gist(message.payload, 100), 100),
          ),
        ),
      ),
  );
}

function outcome(look, item) {
  if (item.state === "open") return null;
  return h(
    "p",
    { class: "verdict" },
    word(`decision.${item.decision ?? item.state}`, item.decision ?? item.state),
    item.choice !== undefined && [" · ", words(payloadText(item.choice), 80)],
    item.comment && [" · ", words(item.comment, 200)],
    item.decided_at && [" · ", moment(item.decided_at)],
  );
}

/** The item on the right. */
export function itemDetail(look, data) {
  const { item, deeds } = data;
  const isOpen = item.state === "open";
  const chain = cameBy(look, item);
  return h(
    "article",
    { class: "card item", key: item.id, data: { id: item.id }, "aria-label": t("inbox.item") },
    h("h2", null, words(item.title, 400)),
    h(
      "p",
      { class: "quiet" },
      t("inbox.asks"),
      " ",
      agentLink(look, item.agent),
      " · ",
      moment(item.created_at),
      isOpen && item.deadline && [" · ", t("inbox.until"), " ", moment(item.deadline)],
      isOpen && item.overdue && [" ", h("span", { class: "tag bad" }, t("overdue"))],
      item.task_id && [
        " · ",
        link(look, { view: "tasks", filters: { task: item.task_id } }, words(item.task_id, 60)),
      ],
    ),
    item.body != null && bodyOf(look, item.body),
    outcome(look, item),
    isOpen &&
      look.at === null &&
      (isDenied(look, "decide")
        ? h("p", { class: "quiet" }, t("inbox.denied"))
        : buttons(look, data)),
    isOpen && look.at !== null && h("p", { class: "quiet" }, t("inbox.past")),
    chain && [h("h3", null, t("inbox.through")), chain],
    deeds?.length > 0 && [
      h("h3", null, t("inbox.sofar")),
      h(
        "ul",
        { class: "plain-rows" },
        deeds.map((row) =>
          h(
            "li",
            { key: row.line, data: { line: row.line } },
            h("span", { class: "quiet nowrap" }, moment(row.time, { bare: true })),
            h("span", null, word(`event.${row.event}`, row.event)),
            h(
              "span",
              { class: "grow quiet" },
              row.type && [words(row.type, 40), " "],
              detailText(look, row),
            ),
          ),
        ),
      ),
    ],
  );
}

// A flat object as names and values; anything else as text.
function bodyOf(look, body) {
  const isFlat =
    body !== null &&
    typeof body === "object" &&
    !Array.isArray(body) &&
    Object.keys(body).length > 1 &&
    Object.values(body).every((value) => value === null || typeof value !== "object");
  if (isFlat)
    return facts(
      Object.entries(body)
        .slice(0, 40)
        .map(([name, value]) => [words(name, 60), words(String(value), 800)]),
    );
  return prose(body, { max: 6000, ui: look.ui, name: "body", redraw: () => look.app.redraw() });
}
