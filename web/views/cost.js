// Cost: calls, tokens and dollars by agent, task and model; what is left of each budget.

import { sumUsage, totalUsage } from "../logic/board.js";
import { h } from "../ui/dom.js";
import { agentLink, choiceField, empty, facts, section, words } from "../ui/parts.js";
import { all } from "../ui/api.js";
import { compact, dollars, number, t, word } from "../ui/words.js";

const MAX = 20000;
const SHOWN = 100;

async function load(look) {
  const { items } = await all("/usage", {}, MAX, look.signal);
  const rows = items.filter((row) => row.model !== undefined || row.calls !== undefined);
  const budgets = items.filter(
    (row) => row.limit !== undefined || row.left !== undefined || row.budget !== undefined,
  );
  return { rows, budgets };
}

function table(look, by, rows) {
  const sums = sumUsage(rows, by);
  const value = (sum) => sum.cost || (sum.input_tokens + sum.output_tokens) / 1e9;
  const top = Math.max(...sums.map(value), Number.MIN_VALUE);
  return section(
    t(`cost.by.${by}`),
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "group", "aria-label": t(`cost.by.${by}`) },
      h(
        "table",
        { class: "numbers" },
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            h("th", { scope: "col" }, t(`cost.${by}`)),
            ["calls", "input", "output", "dollars"].map((name) =>
              h("th", { scope: "col", class: "right" }, t(`cost.${name}`)),
            ),
            h("th", null, h("span", { class: "unseen" }, t("cost.share"))),
          ),
        ),
        h(
          "tbody",
          null,
          sums.slice(0, SHOWN).map((sum) =>
            h(
              "tr",
              { key: sum.name, data: { id: sum.name } },
              h(
                "td",
                null,
                by === "agent"
                  ? agentLink(look, sum.name)
                  : sum.name === ""
                    ? h("span", { class: "quiet" }, t("cost.none"))
                    : words(sum.name, 60),
              ),
              h("td", { class: "right" }, number(sum.calls)),
              h("td", { class: "right" }, compact(sum.input_tokens)),
              h("td", { class: "right" }, compact(sum.output_tokens)),
              h("td", { class: "right" }, dollars(sum.cost)),
              h(
                "td",
                { class: "share" },
                h("span", {
                  class: "share-bar",
                  style: { width: `${((value(sum) / top) * 100).toFixed(1)}%` },
                }),
              ),
            ),
          ),
        ),
      ),
    ),
    sums.length > SHOWN && h("p", { class: "quiet" }, t("more", { n: sums.length - SHOWN })),
  );
}

function budgetCard(budgets) {
  return section(
    t("cost.budgets"),
    budgets.length === 0
      ? h("p", { class: "quiet" }, t("cost.budgets.none"))
      : h(
          "ul",
          { class: "plain-rows" },
          budgets.map((budget, i) => {
            const limit = Number(budget.limit ?? budget.budget ?? 0);
            const left = Math.max(0, Number(budget.left ?? limit - Number(budget.used ?? 0)));
            const show = /cost/.test(budget.what ?? "")
              ? (amount) => dollars(amount / (/micros/.test(budget.what) ? 1e6 : 1))
              : compact;
            return h(
              "li",
              { key: i },
              h(
                "span",
                { class: "grow" },
                word(`budget.${budget.of}`, budget.of ?? ""),
                " ",
                words(budget.id ?? budget.agent ?? "", 60),
              ),
              h("meter", {
                min: 0,
                max: Math.max(1, limit),
                value: String(left),
                "aria-label": t("cost.left"),
              }),
              t("cost.left.of", { left: show(left), limit: show(limit) }),
            );
          }),
        ),
  );
}

function draw(look, { rows, budgets }) {
  const total = totalUsage(rows);
  const by = look.filters.by ?? "agent";
  if (rows.length === 0 && budgets.length === 0)
    return [
      h("h1", { class: "unseen" }, t("view.cost")),
      empty(t("cost.empty"), t("cost.empty.hint")),
    ];
  return [
    h("h1", { class: "unseen" }, t("view.cost")),
    h(
      "div",
      { class: "filters" },
      choiceField(
        look,
        "by",
        t("cost.by"),
        ["agent", "task_id", "model"].map((name) => [
          name === "agent" ? "" : name,
          t(`cost.${name}`),
        ]),
      ),
    ),
    h(
      "div",
      { class: "columns" },
      h("div", null, table(look, by, rows)),
      h(
        "div",
        null,
        section(
          t("cost.total"),
          h("p", { class: "big" }, dollars(total.cost)),
          facts([
            [t("cost.calls"), number(total.calls)],
            [t("cost.input"), number(total.input_tokens)],
            [t("cost.output"), number(total.output_tokens)],
          ]),
        ),
        budgetCard(budgets),
      ),
    ),
  ];
}

export default { topics: ["usage"], load, draw };
