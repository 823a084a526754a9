// One item of the inbox in full, with the buttons and the form that decide it.

import { fieldsOf, readFields } from "../logic/changes.js";
import { payloadText } from "../logic/format.js";
import { h } from "../ui/dom.js";
import { agentLink, button, detailText, facts, link, moment, prose, words } from "../ui/parts.js";
import { t, word } from "../ui/words.js";
import { decide } from "./inbox.js";

/** Opens the form of changes. */
export function openModify(look, { item }) {
  if (!item || look.at !== null || (item.state ?? "open") !== "open") return;
  look.ui.modify = { id: item.id, fields: fieldsOf(item.body), error: null, isNew: true };
  look.app.redraw();
}

function submit(look, data, event) {
  event.preventDefault();
  const form = look.ui.modify;
  const values = Object.fromEntries(
    [...new FormData(event.target)].filter(([name]) => name !== "comment"),
  );
  for (const field of form.fields)
    if (field.kind === "flag") values[field.name] = field.name in values;
  const { changes, error } = readFields(form.fields, values);
  if (error) {
    form.error = t("modify.bad", { name: error });
    look.app.redraw();
    return;
  }
  decide(look, data, { decision: "modify", changes });
}

function input(field, focus) {
  const common = {
    name: field.name,
    ref: (node) => {
      if (field.kind === "flag") node.checked = field.value === true;
      else node.value = field.text;
      if (focus) node.focus();
    },
  };
  if (field.kind === "flag") return h("input", { type: "checkbox", ...common });
  if (field.kind === "number") return h("input", { type: "text", inputmode: "decimal", ...common });
  const isLong = field.kind === "json" || field.text.length > 60 || field.text.includes("\n");
  return isLong
    ? h("textarea", { rows: 4, spellcheck: field.kind === "json" ? "false" : null, ...common })
    : h("input", { type: "text", ...common });
}

function modifyForm(look, data) {
  const form = look.ui.modify;
  const isNew = form.isNew;
  form.isNew = false;
  return h(
    "form",
    {
      class: "modify",
      key: `modify ${form.id}`,
      on: { submit: (event) => submit(look, data, event) },
    },
    h("h3", null, t("modify.title")),
    h("p", { class: "quiet" }, t("modify.hint")),
    form.fields.map((field, i) =>
      h(
        "label",
        { class: "field", key: field.name },
        h("span", null, field.name === "" ? t("modify.json") : words(field.name, 60)),
        input(field, isNew && i === 0),
      ),
    ),
    form.error && h("p", { class: "bad-text", role: "alert" }, form.error),
    h(
      "div",
      { class: "buttons" },
      h(
        "button",
        {
          type: "submit",
          class: "main",
          data: { do: "submit-modify" },
          disabled: look.app.busy === "decide",
        },
        t("modify.send"),
      ),
      h(
        "button",
        {
          type: "button",
          data: { do: "close-modify" },
          on: {
            click: () => {
              look.ui.modify = null;
              look.app.redraw();
            },
          },
        },
        t("cancel"),
      ),
    ),
  );
}

function buttons(look, data) {
  const { item } = data;
  const options = item.options ?? [];
  const isOpen = look.ui.modify?.id === item.id;
  return h(
    "div",
    { class: "decision" },
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
    h(
      "div",
      { class: "buttons" },
      button(
        look,
        "approve",
        [h("kbd", null, "a"), " ", t("do.approve")],
        () => decide(look, data, { decision: "approve" }),
        { kind: "main", disabled: look.app.busy === "decide" },
      ),
      button(
        look,
        "modify",
        [h("kbd", null, "m"), " ", t("do.modify")],
        () => openModify(look, data),
        { disabled: isOpen },
      ),
      button(
        look,
        "reject",
        [h("kbd", null, "r"), " ", t("do.reject")],
        () => decide(look, data, { decision: "reject" }),
        { kind: "danger", disabled: look.app.busy === "decide" },
      ),
    ),
    isOpen && modifyForm(look, data),
    h(
      "label",
      { class: "field", key: `comment ${item.id}` },
      h("span", null, t("inbox.comment")),
      h("input", {
        type: "text",
        maxlength: 10000,
        placeholder: t("inbox.comment.hint"),
        name: "comment",
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
function chainOf(look, item) {
  const chain = item.chain ?? item.came_by ?? item.through ?? [];
  if (!Array.isArray(chain) || chain.length === 0) return null;
  const steps = chain.map((one) => (typeof one === "string" ? { from: one } : one));
  return h(
    "ol",
    { class: "came-by" },
    steps
      .slice(-6)
      .map((one, i) =>
        h(
          "li",
          { key: i },
          agentLink(look, one.from ?? one.agent ?? one.id ?? ""),
          one.to && [" → ", agentLink(look, one.to)],
          h(
            "span",
            { class: "quiet" },
            " ",
            words(one.type ?? "", 40),
            " ",
            one.payload !== undefined && words(payloadText(one.payload), 100),
          ),
        ),
      ),
  );
}

function outcome(look, item) {
  if (!item.decision && (item.state ?? "open") === "open") return null;
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
  const { item, activity } = data;
  const isOpen = (item.state ?? "open") === "open";
  const chain = chainOf(look, item);
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
      item.deadline && [" · ", t("inbox.until"), " ", moment(item.deadline)],
      item.overdue && h("span", { class: "tag bad" }, t("overdue")),
      item.task_id && [
        " · ",
        link(look, { view: "tasks", filters: { task: item.task_id } }, words(item.task_id, 60)),
      ],
    ),
    item.body != null && bodyOf(look, item.body),
    outcome(look, item),
    isOpen && look.at === null && buttons(look, data),
    isOpen && look.at !== null && h("p", { class: "quiet" }, t("inbox.past")),
    chain && [h("h3", null, t("inbox.through")), chain],
    activity?.length > 0 && [
      h("h3", null, t("inbox.sofar")),
      h(
        "ul",
        { class: "plain-rows" },
        [...activity]
          .reverse()
          .slice(0, 8)
          .map((row, i) =>
            h(
              "li",
              { key: row.line ?? i },
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
