// Policies: what is in force, its versions and swaps; and what would have been otherwise.

import { payloadText } from "../logic/format.js";
import { suggestions } from "../logic/policies.js";
import { h } from "../ui/dom.js";
import { confirm } from "../ui/dialog.js";
import * as looks from "../ui/looks.js";
import { empty, facts, isDenied, link, moment, section, words } from "../ui/parts.js";
import { single, optional, part, put, rows } from "../ui/api.js";
import { t, word } from "../ui/words.js";
import { policyField } from "./policy_field.js";
import { loadReplay, replaySection } from "./replay.js";

async function load(look) {
  const { kind } = look.filters;
  const before = look.at === null ? undefined : look.at + 1;
  const [policies, detail, swaps, replay] = await Promise.all([
    looks.policies(look),
    kind && look.at === null ? optional(look.get(`/policies/${part(kind)}`)) : null,
    optional(look.get("/activity", { type: "policy_swapped", limit: 50, before })),
    look.at === null ? loadReplay(look) : null,
  ]);
  return {
    policies,
    detail,
    swaps: rows(swaps),
    replay,
  };
}

async function swap(look, kind, event) {
  event.preventDefault();
  const form = new FormData(event.target);
  const name = String(form.get("name") ?? "").trim();
  const text = String(form.get("settings") ?? "").trim();
  let settings;
  try {
    settings = text === "" ? undefined : JSON.parse(text);
  } catch {
    look.ui.swapError = t("modify.bad", { name: t("policies.settings") });
    look.app.redraw();
    return;
  }
  look.ui.swapError = null;
  if (
    name === "" ||
    (await confirm(
      t("policies.swap.title", { kind, name }),
      t("policies.swap.text"),
      t("do.swap"),
      { kind: "main" },
    )) === null
  )
    return;
  const isDone = await look.app.act(
    "swap",
    () => put(`/policies/${part(kind)}`, settings === undefined ? { name } : { name, settings }),
    t("done.swap", { kind, name }),
  );
  if (isDone) look.ui.swap = { kind, name };
}

// The settings in force of that policy: a swap without them would lose them.
function settingsText(policies, kind, name) {
  const policy = policies.find((one) => one.kind === kind && one.name === name);
  const settings = policy?.settings ?? {};
  return Object.keys(settings).length > 0 ? JSON.stringify(settings, null, 2) : "";
}

// What stands in the form: { kind, name, text }; `isEdited`: the text is somebody's own.
function draftOf(look, kind, policies, known) {
  if (look.ui.swap?.kind !== kind)
    look.ui.swap = { kind, name: suggestions(kind, policies, known)[0] ?? "" };
  const draft = look.ui.swap;
  if (!draft.isEdited) draft.text = settingsText(policies, kind, draft.name);
  return draft;
}

function swapForm(look, kind, { policies, detail }) {
  const known = single(detail)?.names;
  const draft = draftOf(look, kind, policies, known);
  const onInput = (name) => {
    draft.name = name.trim();
    look.app.redraw();
  };
  const options = { known, name: draft.name, onInput };
  return h(
    "form",
    { class: "swap", key: `swap ${kind}`, on: { submit: (event) => swap(look, kind, event) } },
    policyField("swap", kind, policies, options),
    h(
      "label",
      { class: "field" },
      h("span", null, t("policies.settings")),
      h("textarea", {
        name: "settings",
        rows: Math.min(12, Math.max(2, draft.text.split("\n").length)),
        placeholder: "{ }",
        spellcheck: "false",
        value: draft.text,
        on: {
          input: (event) => Object.assign(draft, { text: event.target.value, isEdited: true }),
        },
      }),
    ),
    look.ui.swapError && h("p", { class: "bad-text", role: "alert" }, look.ui.swapError),
    h(
      "div",
      { class: "buttons" },
      h(
        "button",
        {
          type: "submit",
          class: "main",
          data: { do: "swap" },
          disabled: isDenied(look, "swap"),
        },
        t("do.swap"),
      ),
    ),
  );
}

function settingsOf(policy) {
  const settings = Object.entries(policy.settings ?? {});
  if (settings.length === 0) return null;
  return facts(settings.map(([name, value]) => [words(name, 40), words(payloadText(value), 300)]));
}

// Which policy of this kind was replaced by which, and by whom.
function kindSwaps(detail) {
  const swaps = detail?.swaps ?? [];
  const nameOf = (side) => words(side?.name ?? side ?? "–", 60);
  return (
    swaps.length > 0 &&
    h(
      "ul",
      { class: "plain-rows" },
      [...swaps]
        .reverse()
        .map((one, i) =>
          h(
            "li",
            { key: i },
            h("span", { class: "quiet nowrap" }, moment(one.time, { bare: true })),
            h("span", { class: "grow" }, nameOf(one.from), " → ", nameOf(one.to)),
            h("span", { class: "quiet" }, words(one.by ?? "", 40)),
          ),
        ),
    )
  );
}

function changeButton(look, kind, isOpen) {
  const toggle = () => look.app.go({ filters: { kind: isOpen ? "" : kind } }, { replace: true });
  return h(
    "button",
    {
      type: "button",
      class: "small",
      data: { do: "open-policy" },
      "aria-expanded": String(isOpen),
      "aria-label": `${t(isOpen ? "close" : "policies.change")}: ${word(`policy.${kind}`, kind)}`,
      on: { click: toggle },
    },
    t(isOpen ? "close" : "policies.change"),
  );
}

function card(look, kind, data) {
  const policies = data.policies.filter((policy) => policy.kind === kind);
  const isOpen = look.filters.kind === kind;
  return h(
    "section",
    { class: `card policy ${isOpen ? "opened" : ""}`, key: kind, data: { id: kind } },
    h(
      "h2",
      null,
      h("span", null, word(`policy.${kind}`, kind), h("code", { class: "quiet" }, kind)),
      look.at === null && changeButton(look, kind, isOpen),
    ),
    policies.map((policy) =>
      h(
        "p",
        { key: policy.name },
        h("b", null, words(policy.name, 100)),
        policy.version != null && h("span", { class: "tag" }, `v${policy.version}`),
        policy.hash &&
          h("code", { class: "quiet", title: policy.hash }, ` ${String(policy.hash).slice(0, 8)}`),
      ),
    ),
    isOpen && policies.map((policy) => settingsOf(policy)),
    isOpen && kindSwaps(single(data.detail)),
    isOpen && look.at === null && swapForm(look, kind, data),
  );
}

function swapsCard(look, swaps) {
  return section(
    t("policies.swaps"),
    swaps.length === 0
      ? h("p", { class: "quiet" }, t("policies.swaps.none"))
      : h(
          "ul",
          { class: "plain-rows" },
          [...swaps]
            .reverse()
            .map((row, i) =>
              h(
                "li",
                { key: row.line ?? i, data: { line: row.line } },
                h("span", { class: "quiet nowrap" }, moment(row.time, { bare: true })),
                h("span", { class: "grow" }, words(row.detail ?? "", 200)),
                row.line != null && link(look, { view: "policies", at: row.line }, t("then")),
              ),
            ),
        ),
  );
}

function draw(look, data) {
  const kinds = [...new Set(data.policies.map((policy) => policy.kind))].sort();
  return [
    h("h1", { class: "unseen" }, t("view.policies")),
    kinds.length === 0
      ? empty(t("policies.empty"), t("policies.empty.hint"))
      : h(
          "div",
          { class: "grid loose" },
          kinds.map((kind) => card(look, kind, data)),
        ),
    look.at === null && kinds.length > 0 && replaySection(look, data, kinds),
    swapsCard(look, data.swaps),
  ];
}

export default { topics: ["policies"], load, draw };
