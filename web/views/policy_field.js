// A field for the name of a policy, with names to choose from.

import { suggestions } from "../logic/policies.js";
import { h } from "../ui/dom.js";
import { t } from "../ui/words.js";

/** The field; `place` keeps two of them on one page apart. It begins with `name`, else with one
 *  that is not in force; onInput(name) hears what is typed. */
export function policyField(place, kind, policies, { known, name, onInput } = {}) {
  const names = suggestions(kind, policies, known);
  const list = `names-${place}`;
  return h(
    "label",
    { class: "field", key: `${place} ${kind}` },
    h("span", null, t("policies.name")),
    h("input", {
      name: "name",
      type: "text",
      required: true,
      maxlength: 64,
      list,
      autocomplete: "off",
      spellcheck: "false",
      ref: (node) => {
        node.value = name ?? names[0] ?? "";
      },
      on: { input: (event) => onInput?.(event.target.value) },
    }),
    h(
      "datalist",
      { id: list },
      names.map((name) => h("option", { key: name, value: name })),
    ),
  );
}
