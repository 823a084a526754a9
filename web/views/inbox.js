// Inbox: what is asked, by whom, and the decision.

import { h } from "../ui/dom.js";
import { announce } from "../ui/notices.js";
import * as looks from "../ui/looks.js";
import { choiceField, empty, moment, shape, words } from "../ui/parts.js";
import { single, optional, part, post, rows } from "../ui/api.js";
import { number, t } from "../ui/words.js";
import { itemDetail, openModify } from "./decide.js";

const STATES = ["open", "decided", "withdrawn", "all"];

async function load(look) {
  const state = look.filters.state ?? "open";
  const items = await looks.inbox(look, state);
  const item = items.find((each) => each.id === look.filters.item) ?? items[0] ?? null;
  if (!item) return { items, item: null };
  const [whole, activity] = await Promise.all([
    look.at === null ? optional(look.get(`/inbox/${part(item.id)}`)) : null,
    optional(look.get("/activity", { agent: item.agent, limit: 10 })),
  ]);
  const full = whole ? { ...item, ...single(whole) } : item;
  return {
    items,
    item: full,
    activity:
      look.at === null ? rows(activity) : rows(activity).filter((line) => line.line <= look.at),
  };
}

function select(look, item) {
  look.app.go({ filters: { item: item?.id ?? "" } }, { replace: true });
}

/** Decides an item; the next one follows by itself. */
export async function decide(look, data, body) {
  const { item, items } = data;
  if (!item || look.at !== null || (item.state ?? "open") !== "open" || look.app.busy === "decide")
    return;
  const index = items.findIndex((one) => one.id === item.id);
  const next = items[index + 1] ?? items[index - 1] ?? null;
  const comment = look.ui.comment?.id === item.id ? look.ui.comment.text.trim() : "";
  const answer = await look.app.act(
    "decide",
    () => post(`/inbox/${part(item.id)}/decision`, comment ? { ...body, comment } : body),
    (done) => t(`done.${done?.decision ?? body.decision ?? "approve"}`, { id: item.agent }),
  );
  if (!answer) return;
  look.ui.comment = null;
  look.ui.modify = null;
  if ((look.filters.state ?? "open") === "open") select(look, next);
  announce(next ? t("inbox.next", { title: next.title }) : t("inbox.empty"));
}

function row(look, data, item) {
  const isSelected = data.item?.id === item.id;
  return h(
    "li",
    { key: item.id, class: `row ${isSelected ? "selected" : ""}`, data: { id: item.id } },
    h(
      "button",
      {
        type: "button",
        class: "plain pick wide",
        data: { do: "select" },
        "aria-current": isSelected ? "true" : null,
        on: { click: () => select(look, item) },
      },
      shape(
        (item.state ?? "open") === "open"
          ? "blocked_user"
          : item.state === "decided"
            ? "completed"
            : "cancelled",
      ),
      h(
        "span",
        { class: "grow two" },
        h("span", { class: "title" }, words(item.title, 120)),
        h("span", { class: "quiet" }, words(item.agent, 40), " · ", moment(item.created_at)),
      ),
      item.overdue && h("span", { class: "tag bad" }, t("overdue")),
      (item.priority === "urgent" || item.priority === "high") &&
        h("span", { class: "tag strong" }, t(`priority.${item.priority}`)),
    ),
  );
}

function draw(look, data) {
  const state = look.filters.state ?? "open";
  return [
    h("h1", { class: "unseen" }, t("view.inbox")),
    h(
      "div",
      { class: "filters" },
      choiceField(
        look,
        "state",
        t("filter.state"),
        STATES.map((name) => [name === "open" ? "" : name, t(`inbox.${name}`)]),
      ),
      h("span", { class: "quiet" }, t("inbox.count", { n: data.items.length })),
    ),
    data.items.length === 0
      ? empty(
          t(state === "open" ? "inbox.empty" : "filter.none"),
          t(state === "open" ? "inbox.empty.hint" : "filter.none.hint"),
        )
      : h(
          "div",
          { class: "split inbox-split" },
          h(
            "ul",
            { class: "card flush items", "aria-label": t("inbox.list") },
            data.items.slice(0, 200).map((item) => row(look, data, item)),
            data.items.length > 200 &&
              h("li", { class: "quiet pad" }, t("more", { n: data.items.length - 200 })),
          ),
          itemDetail(look, data),
        ),
    h("p", { class: "unseen", role: "status" }, number(data.items.length), " ", t("view.inbox")),
  ];
}

function move(by) {
  return (look, { items, item }) => {
    const here = items.findIndex((one) => one.id === item?.id);
    const next = items[Math.max(0, Math.min(items.length - 1, here + by))];
    if (next) select(look, next);
  };
}

const choose = (index) => (look, data) => {
  const option = data.item?.options?.[index];
  if (option !== undefined) decide(look, data, { choice: option });
};

const keys = {
  a: (look, data) => decide(look, data, { decision: "approve" }),
  r: (look, data) => decide(look, data, { decision: "reject" }),
  m: (look, data) => openModify(look, data),
  j: move(1),
  k: move(-1),
  ArrowDown: move(1),
  ArrowUp: move(-1),
};
for (let i = 0; i < 9; i += 1) keys[String(i + 1)] = choose(i);

export default { topics: ["inbox"], load, draw, keys };
