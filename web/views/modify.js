// The form that approves an item of the inbox with changes.

import { fieldsOf, readFields } from "../logic/changes.js";
import { h } from "../ui/dom.js";
import { isDenied, words } from "../ui/parts.js";
import { t } from "../ui/words.js";
import { decide } from "./inbox.js";

/** Opens the form of changes. */
export function openModify(look, { item }) {
  if (!item || look.at !== null || item.state !== "open" || isDenied(look, "decide")) return;
  look.ui.modify = { id: item.id, fields: fieldsOf(item.body), error: null, isNew: true };
  look.app.redraw();
}

function submit(look, data, event) {
  event.preventDefault();
  const form = look.ui.modify;
  const values = Object.fromEntries(form.fields.map(({ name, typed }) => [name, typed]));
  const { changes, error } = readFields(form.fields, values);
  const isSame = !error && Object.keys(changes).length === 0;
  form.error = isSame ? t("modify.same") : error ? t("modify.bad", { name: error }) : null;
  if (form.error) {
    look.app.redraw();
    return;
  }
  decide(look, data, { decision: "modify", changes });
}

function input(field, focus) {
  const isFlag = field.kind === "flag";
  field.typed ??= isFlag ? field.value === true : field.text;
  const common = {
    name: field.name,
    ref: (node) => {
      if (isFlag) node.checked = field.typed;
      else node.value = field.typed;
      if (focus) queueMicrotask(() => node.focus()); // it is not in the page yet
    },
    on: {
      input: ({ target }) => {
        field.typed = isFlag ? target.checked : target.value;
      },
    },
  };
  if (isFlag) return h("input", { type: "checkbox", ...common });
  if (field.kind === "number") return h("input", { type: "text", inputmode: "decimal", ...common });
  const isLong =
    field.kind === "json" ||
    field.kind === "free" ||
    field.text.length > 60 ||
    field.text.includes("\n");
  return isLong
    ? h("textarea", { rows: 4, spellcheck: field.kind === "json" ? "false" : null, ...common })
    : h("input", { type: "text", ...common });
}

/** The form, while it is open. */
export function modifyForm(look, data) {
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
              look.app.focusOn = '[data-do="modify"]';
              look.app.redraw();
            },
          },
        },
        t("cancel"),
      ),
    ),
  );
}
