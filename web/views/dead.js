// Dead letters: what could not be delivered or handled; sent again, or dropped for good.

import { payloadText } from "../logic/format.js";
import { h } from "../ui/dom.js";
import { confirm } from "../ui/dialog.js";
import { longList, reveal } from "../ui/list.js";
import {
  agentLink,
  button,
  choiceField,
  empty,
  facts,
  filterField,
  link,
  moment,
  prose,
  seenValues,
  words,
} from "../ui/parts.js";
import { all, part, post, remove } from "../ui/api.js";
import { number, t, word } from "../ui/words.js";

const ROW = 56;
const NAMES = ["from", "to", "type", "reason", "task"];
const TYPED = ["from", "to", "type", "task"];
const MAX = 5000;

const filterOf = (look) =>
  Object.fromEntries(
    NAMES.filter((name) => look.filters[name]).map((name) => [name, look.filters[name]]),
  );

async function load(look) {
  const { items, isWhole } = await all("/dead-letters", filterOf(look), MAX, look.signal);
  return { items, isWhole };
}

const picked = (look) => (look.ui.picked ??= new Set());

// Those that could not be handled stay selected.
async function each(look, of, ids, deed) {
  await look.app.act(
    of,
    async () => {
      for (const id of ids) {
        await deed(id);
        picked(look).delete(id);
      }
    },
    t(`done.${of}`, { n: ids.length }),
  );
}

async function redeliver(look, ids) {
  await each(look, "redeliver", ids, (id) => post(`/dead-letters/${part(id)}/redeliver`));
}

async function drop(look, ids) {
  if (
    (await confirm(t("dead.drop.title", { n: ids.length }), t("dead.drop.text"), t("do.drop"))) ===
    null
  )
    return;
  await each(look, "drop", ids, (id) => remove(`/dead-letters/${part(id)}`));
}

// All that fit: the host checks the number, so nothing is done to letters nobody has seen.
async function every(look, of, count) {
  if (
    (await confirm(
      t(`dead.${of}.all.title`, { n: count }),
      t(`dead.${of}.all.text`),
      t(`do.${of}`),
      { kind: of === "drop" ? "danger" : "main" },
    )) === null
  )
    return;
  await look.app.act(
    `${of}-all`,
    () => post(`/dead-letters/${of}`, { filter: filterOf(look), expected: count }),
    (answer) => t(`done.${of}`, { n: answer?.count ?? count }),
  );
}

function open(look, id) {
  look.app.go({ filters: { letter: id } }, { replace: true });
}

function row(look, letter) {
  const isPicked = picked(look).has(letter.id);
  const isOpen = look.filters.letter === letter.id;
  return h(
    "div",
    { class: `row ${isOpen ? "selected" : ""}`, data: { id: letter.id } },
    h("input", {
      type: "checkbox",
      checked: isPicked,
      "aria-label": t("dead.pick", { id: letter.id }),
      on: {
        change: () => {
          if (!picked(look).delete(letter.id)) picked(look).add(letter.id);
          look.app.redraw();
        },
      },
    }),
    h(
      "div",
      { class: "grow two" },
      h(
        "span",
        null,
        agentLink(look, letter.from),
        " → ",
        agentLink(look, letter.to),
        " ",
        h("span", { class: "tag" }, words(letter.type, 40)),
      ),
      h(
        "span",
        { class: "quiet" },
        word(`error.${letter.reason}`, letter.reason ?? ""),
        " · ",
        moment(letter.finished_at ?? letter.timestamp),
      ),
    ),
    h(
      "button",
      {
        type: "button",
        class: "plain",
        data: { do: "open" },
        "aria-expanded": String(isOpen),
        on: { click: () => open(look, isOpen ? "" : letter.id) },
      },
      t(isOpen ? "close" : "dead.open"),
    ),
  );
}

function openCard(look, items) {
  const letter = items.find((one) => one.id === look.filters.letter);
  if (!letter) return null;
  return h(
    "section",
    { class: "card chosen", key: "letter", data: { id: letter.id } },
    h("h2", null, words(letter.type, 60)),
    facts([
      [t("column.from"), agentLink(look, letter.from)],
      [t("column.to"), agentLink(look, letter.to)],
      [
        t("column.reason"),
        words(letter.error?.message ?? word(`error.${letter.reason}`, letter.reason ?? ""), 600),
      ],
      [t("column.tries"), letter.attempt != null ? number(letter.attempt) : null],
      [
        t("column.chain"),
        letter.correlation_id &&
          link(
            look,
            { view: "timeline", filters: { correlation_id: letter.correlation_id } },
            t("timeline.follow"),
          ),
      ],
    ]),
    prose(payloadText(letter.payload), {
      max: 3000,
      ui: look.ui,
      name: `letter ${letter.id}`,
      redraw: () => look.app.redraw(),
    }),
    h(
      "div",
      { class: "buttons" },
      button(look, "redeliver", t("do.redeliver"), () => redeliver(look, [letter.id]), {
        kind: "main",
      }),
      button(look, "drop", t("do.drop"), () => drop(look, [letter.id]), { kind: "danger" }),
    ),
  );
}

const valuesOf = (items, name) => items.map((one) => one[name === "task" ? "task_id" : name]);

// Reasons are names that nobody types: those there were, in words.
function reasonField(look, items) {
  const seen = seenValues(look, "reason", [look.filters.reason, ...valuesOf(items, "reason")]);
  return choiceField(look, "reason", t("filter.reason"), [
    ["", t("filter.any")],
    ...seen.map((reason) => [reason, word(`error.${reason}`, reason)]),
  ]);
}

function draw(look, { items, isWhole }) {
  const ids = items.filter((letter) => picked(look).has(letter.id)).map((letter) => letter.id);
  const isFiltered = Object.keys(filterOf(look)).length > 0;
  return [
    h("h1", { class: "unseen" }, t("view.dead")),
    h(
      "div",
      { class: "filters" },
      TYPED.map((name) => filterField(look, name, t(`filter.${name}`), valuesOf(items, name))),
      reasonField(look, items),
    ),
    items.length > 0 &&
      h(
        "div",
        { class: "filters" },
        h(
          "span",
          null,
          ids.length > 0
            ? t("dead.picked", { n: ids.length })
            : t("dead.count", { n: items.length }),
        ),
        button(look, "redeliver", t("dead.redeliver.picked"), () => redeliver(look, ids), {
          disabled: ids.length === 0,
          key: "r",
        }),
        button(look, "drop", t("dead.drop.picked"), () => drop(look, ids), {
          disabled: ids.length === 0,
          kind: "danger",
          key: "d",
        }),
        h("span", { class: "grow" }),
        isWhole
          ? [
              button(
                look,
                "redeliver-all",
                t("dead.redeliver.all", { n: items.length }),
                () => every(look, "redeliver", items.length),
                { key: "ra" },
              ),
              button(
                look,
                "drop-all",
                t("dead.drop.all", { n: items.length }),
                () => every(look, "drop", items.length),
                { kind: "danger", key: "da" },
              ),
            ]
          : h("span", { class: "quiet" }, t("dead.many", { n: MAX })),
      ),
    items.length === 0
      ? empty(
          t(isFiltered ? "filter.none" : "dead.empty"),
          t(isFiltered ? "filter.none.hint" : "dead.empty.hint"),
        )
      : h(
          "div",
          { class: "split" },
          longList(look, {
            name: "letters",
            items,
            height: ROW,
            label: t("view.dead"),
            className: "card flush",
            row: (letter) => row(look, letter),
          }),
          h(
            "div",
            { class: "side" },
            openCard(look, items) ??
              h("section", { class: "card chosen" }, h("p", { class: "quiet" }, t("dead.hint"))),
          ),
        ),
  ];
}

// Opens the next or previous letter.
function move(by) {
  return (look, { items }) => {
    const here = items.findIndex((one) => one.id === look.filters.letter);
    const index = Math.max(0, Math.min(items.length - 1, here + by));
    if (items.length === 0) return;
    reveal(look, "letters", index, ROW);
    open(look, items[index].id);
  };
}

const keys = { j: move(1), k: move(-1), ArrowDown: move(1), ArrowUp: move(-1) };

export default { topics: ["dead", "messages"], load, draw, keys };
