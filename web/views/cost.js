// Cost: calls, tokens and dollars by agent, task and model; what is left of each budget.

import { sumUsage, tightest, totalUsage } from "../logic/board.js";
import { h } from "../ui/dom.js";
import { agentLink, choiceField, empty, facts, section, words } from "../ui/parts.js";
import { all, optional, rows } from "../ui/api.js";
import { atLeast, compact, dollars, number, t, word } from "../ui/words.js";

const MAX = 20000;
const SHOWN = 100;
const SHOWN_BUDGETS = 12;

async function load(look) {
  const [usage, budgets] = await Promise.all([
    all("/usage", {}, MAX, look.signal),
    optional(look.get("/usage/budgets")),
  ]);
  return { rows: usage.items, budgets: rows(budgets) };
}

function table(look, by, rows) {
  const sums = sumUsage(rows, by);
  const top = Math.max(...sums.map((sum) => sum.cost), Number.MIN_VALUE);
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
            h("th", { scope: "col", class: "right" }, t("cost.dollars")),
            h("th", { class: "share" }, h("span", { class: "unseen" }, t("cost.share"))),
            ["calls", "input", "output"].map((name) =>
              h("th", { scope: "col", class: "right" }, t(`cost.${name}`)),
            ),
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
              h("td", { class: "right" }, dollars(sum.cost)),
              h(
                "td",
                { class: "share" },
                sum.cost > 0 &&
                  h("span", {
                    class: "share-bar",
                    style: { width: `${((sum.cost / top) * 100).toFixed(1)}%` },
                  }),
              ),
              h("td", { class: "right" }, number(sum.calls)),
              h("td", { class: "right" }, compact(sum.input_tokens)),
              h("td", { class: "right" }, compact(sum.output_tokens)),
            ),
          ),
        ),
      ),
    ),
    sums.length > SHOWN && h("p", { class: "quiet" }, t("more", { n: sums.length - SHOWN })),
  );
}

// Below these shares of its limit a budget is short, and very short.
const SHORT = 0.25;
const VERY_SHORT = 0.1;

function budgetRow({ of, id, what, limit, left }) {
  const isMoney = what === "cost_micros";
  const show = (amount) => (isMoney ? dollars(amount / 1e6) : compact(amount));
  const amount = t(isMoney ? "cost.dollars" : "cost.tokens");
  return h(
    "li",
    { key: `${of} ${id ?? ""} ${what}`, class: "budget", data: { id: id ?? of } },
    h(
      "span",
      { class: "grow" },
      word(`budget.${of}`, of),
      id && [" ", words(id, 60)],
      h("span", { class: "quiet" }, " · ", amount),
    ),
    h(
      "span",
      { class: left === 0 ? "bad-text" : "" },
      left === 0
        ? t("cost.left.none")
        : t("cost.left.of", { left: isMoney ? show(left) : atLeast(left), limit: show(limit) }),
    ),
    h("meter", {
      min: 0,
      low: limit * VERY_SHORT,
      high: limit * SHORT,
      optimum: limit,
      max: limit,
      value: String(left),
      "aria-label": t("cost.left"),
    }),
  );
}

function budgetCard(budgets) {
  const shown = tightest(budgets).slice(0, SHOWN_BUDGETS);
  return section(
    t("cost.budgets"),
    budgets.length === 0
      ? h("p", { class: "quiet" }, t("cost.budgets.none"))
      : h("ul", { class: "plain-rows" }, shown.map(budgetRow)),
    budgets.length > shown.length &&
      h("p", { class: "quiet" }, t("more", { n: budgets.length - shown.length })),
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
