// Inbox: what is asked, by whom, and the decision.

import { gist, oneLine, payloadText } from "../logic/format.js";
import { deedsOf, nextOf, shownId, stateOf } from "../logic/item.js";
import { h } from "../ui/dom.js";
import { announce } from "../ui/notices.js";
import * as looks from "../ui/looks.js";
import { choiceField, empty, isDenied, moment, shape, words } from "../ui/parts.js";
import { single, optional, part, post, rows } from "../ui/api.js";
import { t } from "../ui/words.js";
import { itemDetail } from "./decide.js";
import { openModify } from "./modify.js";

// Lines read for what an agent has done: many that concern it are what others did.
const LINES = 100;
const DEEDS = 8;

const STATES = ["open", "decided", "withdrawn", "all"];

async function load(look) {
  const state = look.filters.state ?? "open";
  const items = (await looks.inbox(look, state)).map((each) => ({
    ...each,
    state: stateOf(each, state),
  }));
  const item = await itemOf(look, items);
  if (!item) return { items, item: null, missing: look.filters.item };
  const before = look.at === null ? undefined : look.at + 1;
  const asked = { agent: item.agent, before, limit: LINES };
  const lines = rows(await optional(look.get("/activity", asked)));
  return { items, item, deeds: deedsOf(lines, item.agent, DEEDS) };
}

// The item to show in full. A link may name one that the list has no more: it was decided. If
// there is none of that name, null: another one in its place could be decided by mistake.
async function itemOf(look, items) {
  const id = shownId(items, look.filters.item, look.ui.shown);
  if (id === null) return null;
  const fallback = look.filters.item ? null : (items[0] ?? null);
  if (look.at !== null) {
    const all = await looks.inbox(look, "all");
    const then = all.find((each) => each.id === id) ?? fallback;
    if (!then) return null;
    // The messages it came by are older than the question, so they were the same then.
    const whole = single((await optional(look.get(`/inbox/${part(then.id)}`))) ?? []);
    return { ...then, chain: whole?.chain, state: stateOf(then) };
  }
  const listed = items.find((each) => each.id === id);
  const whole = single((await optional(look.get(`/inbox/${part(id)}`))) ?? []);
  if (!whole) return listed ?? fallback;
  const item = { ...listed, ...whole };
  return { ...item, state: stateOf(whole, listed?.state) };
}

function select(look, item) {
  look.app.go({ filters: { item: item?.id ?? "" } }, { replace: true });
}

function saidDone(item, { choice, decision = "approve" }, done) {
  const id = item.agent;
  if (choice !== undefined)
    return t("done.choose", { id, choice: oneLine(payloadText(choice), 80) });
  return t(`done.${done?.decision ?? decision}`, { id });
}

/** Decides an item; the next one follows by itself. */
export async function decide(look, data, body) {
  const { item, items } = data;
  if (look.ui.modify?.id === item?.id && body.decision !== "modify") return; // its form is open
  if (!item || look.at !== null || item.state !== "open" || look.app.busy === "decide") return;
  if (isDenied(look, "decide")) return;
  const here = location.hash;
  const isLeaving = (look.filters.state ?? "open") === "open";
  const next = isLeaving ? nextOf(items, item.id) : item;
  const comment = look.ui.comment?.id === item.id ? look.ui.comment.text.trim() : "";
  let isHere = false; // nobody who has gone elsewhere is called back
  const answer = await look.app.act(
    "decide",
    async () => {
      const done = await post(
        `/inbox/${part(item.id)}/decision`,
        comment ? { ...body, comment } : body,
      );
      isHere = location.hash === here;
      if (isLeaving) look.app.goOn(here, { filters: { item: next?.id ?? "" } });
      return done;
    },
    (done) => saidDone(item, body, done),
  );
  if (!answer) return;
  look.ui.comment = null;
  look.ui.modify = null;
  if (!isHere) return;
  look.app.focusOn = next ? `article[data-id="${CSS.escape(next.id)}"] h2` : "#main .empty";
  look.app.redraw();
  if (isLeaving)
    announce(next ? t("inbox.next", { title: oneLine(next.title, 200) }) : t("inbox.empty"));
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
        { open: "blocked_user", decided: "completed", withdrawn: "cancelled" }[item.state] ??
          "cancelled",
      ),
      h(
        "span",
        { class: "grow two" },
        h("span", { class: "title" }, words(item.title, 120)),
        item.body != null && h("span", { class: "gist" }, words(gist(item.body, 80), 80)),
        h("span", { class: "quiet" }, words(item.agent, 40), " · ", moment(item.created_at)),
      ),
      item.overdue && h("span", { class: "tag bad" }, t("overdue")),
      (item.priority === "urgent" || item.priority === "high") &&
        h("span", { class: "tag strong" }, t(`priority.${item.priority}`)),
    ),
  );
}

function nothing(look, state) {
  if (state !== "open") return empty(t("filter.none"), t("filter.none.hint"));
  return look.at === null
    ? empty(t("inbox.empty"), t("inbox.empty.hint"))
    : empty(t("inbox.empty.then"), t("inbox.empty.then.hint"));
}

function missing(look, id) {
  const hint = look.at === null ? "inbox.none.hint" : "inbox.none.then";
  return empty(t("inbox.none", { id: oneLine(id, 60) }), t(hint));
}

function draw(look, data) {
  look.ui.shown = data.item?.id;
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
        { item: "" }, // another list, another item
      ),
      h("span", { class: "quiet" }, t("inbox.count", { n: data.items.length })),
    ),
    data.items.length === 0 && data.item === null
      ? data.missing
        ? missing(look, data.missing)
        : nothing(look, state)
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
          data.item ? itemDetail(look, data) : missing(look, data.missing),
        ),
    h("p", { class: "unseen", role: "status" }, t("inbox.count", { n: data.items.length })),
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
