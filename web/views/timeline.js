// Timeline: lanes and arrows like a sequence diagram; by chain, task or agent.

import { diagram, detailOf } from "../logic/lanes.js";
import { mermaid } from "../logic/mermaid.js";
import { timeMs } from "../logic/format.js";
import { h } from "../ui/dom.js";
import {
  agentLink,
  button,
  empty,
  facts,
  filterField,
  link,
  mark,
  moment,
  prose,
  sample,
  words,
} from "../ui/parts.js";
import { single, optional, part, rows } from "../ui/api.js";
import { nameOf, said } from "../ui/details.js";
import { number, t, word } from "../ui/words.js";
import { sequence, showRow } from "./sequence.js";

// Lines read at a time: enough to scroll through, quick to read.
const LINES = 400;

const filtersOf = ({ agent, task, correlation_id, type }) => ({
  agent,
  task,
  correlation_id,
  type,
});

// Live: the latest lines. At a line: those before it, and some after it in grey.
async function load(look) {
  if (look.filters.when && look.at === null) return goTo(look, look.filters.when);
  const filters = filtersOf(look.filters);
  const pages =
    look.at === null
      ? [{ limit: LINES }]
      : [
          { before: look.at + 1, limit: LINES / 2 },
          { after: look.at, limit: LINES / 2 },
        ];
  const answers = await Promise.all(
    pages.map((page) => look.get("/activity", { ...filters, ...page })),
  );
  answers.forEach((answer) => look.app.noteLine(answer?.as_of));
  const list = answers.flatMap(rows);
  look.app.noteLine(list.at(-1)?.line);
  const selected = selectedRow(look, list);
  if (look.at !== null) look.app.pastTime = selected?.time ?? null;
  const message = selected?.message_id
    ? await optional(look.get(`/messages/${part(selected.message_id)}`))
    : null;
  return {
    list,
    drawing: diagram(list),
    selected,
    message: message && single(message),
  };
}

// As many lines as one turn may leave within a millisecond, and more.
const SAME_TIME = 200;

// A moment given by its time, and maybe by a message: to the last line of that time that is about
// the message, else to the last line until then.
async function goTo(look, time) {
  const { agent, message } = look.filters;
  const here = location.hash;
  const until = timeMs(time) + 1;
  const list = rows(await look.get("/activity", { agent, until, limit: message ? SAME_TIME : 1 }));
  const isIt = (row) => row.message_id === message && timeMs(row.time) === until - 1;
  const row = (message && list.findLast(isIt)) || list.at(-1);
  const filters = { when: "", message: "" };
  setTimeout(() => look.app.goOn(here, { at: row?.line ?? null, filters }));
  return { list: [], drawing: diagram([]), selected: null, message: null };
}

// At line N it is the last row up to N: the line itself may be filtered out.
function selectedRow(look, list) {
  if (look.at === null) return null;
  return list.findLast((row) => row.line <= look.at) ?? null;
}

function save(list) {
  const url = URL.createObjectURL(new Blob([mermaid(list)], { type: "text/plain" }));
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = "timeline.mmd";
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// Members of a detail that are columns of the log as well.
const SHOWN_ABOVE = ["task_id", "message_id", "correlation_id"];

function detailCard(look, { selected, message }) {
  if (!selected) {
    return h(
      "section",
      { class: "card chosen" },
      h("h2", null, t("timeline.detail")),
      h("p", { class: "quiet" }, t("timeline.detail.hint")),
    );
  }
  const detail = Object.entries(detailOf(selected)).filter(
    ([name, value]) => !SHOWN_ABOVE.includes(name) || value !== selected[name],
  );
  return h(
    "section",
    { class: "card chosen", data: { id: selected.message_id ?? "" } },
    h(
      "h2",
      null,
      word(`event.${selected.event}`, selected.event),
      h("span", { class: "quiet" }, moment(selected.time, { bare: true })),
    ),
    facts([
      [t("column.line"), selected.line != null ? number(selected.line) : null],
      [t("column.agent"), selected.agent && agentLink(look, selected.agent)],
      [
        t("column.to"),
        message?.to && message.to !== selected.agent ? agentLink(look, message.to) : null,
      ],
      [t("column.type"), selected.type && words(selected.type, 60)],
      [
        t("column.task"),
        selected.task_id &&
          link(
            look,
            { view: "timeline", filters: { task: selected.task_id } },
            words(selected.task_id, 60),
          ),
      ],
      [
        t("column.chain"),
        selected.correlation_id &&
          link(
            look,
            { view: "timeline", filters: { correlation_id: selected.correlation_id } },
            t("timeline.follow"),
          ),
      ],
      [t("column.status"), message?.status && mark(message.status)],
    ]),
    message
      ? prose(message.payload, {
          max: 4000,
          ui: look.ui,
          name: "payload",
          redraw: () => look.app.redraw(),
        })
      : detail.length > 0
        ? facts(
            detail.map(([name, value]) => [nameOf(name), said(look, name, value)]),
          )
        : typeof selected.detail === "string" &&
          selected.detail[0] !== "{" &&
          prose(selected.detail, { max: 4000 }),
  );
}

const NAMES = ["agent", "task", "correlation_id", "type"];

// What a filter may fit of what is on screen. Nobody types the name of a chain.
function offered({ list, drawing }, name) {
  if (name === "agent") return drawing.lanes;
  if (name === "correlation_id") return [];
  return list.map((row) => row[name === "task" ? "task_id" : name]);
}

function draw(look, data) {
  const isFiltered = NAMES.some((name) => look.filters[name]);
  showRow(look, data);
  return [
    h("h1", { class: "unseen" }, t("view.timeline")),
    h(
      "div",
      { class: "filters" },
      NAMES.map((name) => filterField(look, name, t(`filter.${name}`), offered(data, name))),
      isFiltered &&
        h(
          "button",
          {
            type: "button",
            class: "plain",
            data: { do: "clear" },
            on: {
              click: () =>
                look.app.go({ filters: Object.fromEntries(NAMES.map((name) => [name, ""])) }),
            },
          },
          t("filter.clear"),
        ),
      h("span", { class: "grow" }),
      button(look, "export", t("timeline.export"), () => save(data.list), {
        disabled: data.list.length === 0,
      }),
    ),
    data.list.length === 0
      ? empty(
          t(isFiltered ? "filter.none" : "timeline.empty"),
          t(isFiltered ? "filter.none.hint" : "timeline.empty.hint"),
          !isFiltered && sample('society send "hello"'),
        )
      : h(
          "div",
          { class: "split" },
          sequence(look, data),
          h("div", { class: "side", "aria-live": "polite" }, detailCard(look, data)),
        ),
  ];
}

/** Goes to the row `by` places from here: event by event, whatever the filter leaves. */
function move(by) {
  return (look, { list, selected }) => {
    const here = selected ? list.indexOf(selected) : list.length;
    const next = list[Math.max(0, Math.min(list.length - 1, here + by))];
    if (next?.line != null) look.app.go({ at: next.line }, { replace: true });
  };
}

const keys = { j: move(1), k: move(-1), ArrowDown: move(1), ArrowUp: move(-1) };

export default { topics: ["activity"], load, draw, keys };
