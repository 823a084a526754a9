// Tasks: a board by state, with deadlines.

import { columns, isLate, isOver } from "../logic/board.js";
import { payloadText, timeMs } from "../logic/format.js";
import { h } from "../ui/dom.js";
import { confirm } from "../ui/dialog.js";
import * as looks from "../ui/looks.js";
import {
  agentLink,
  button,
  empty,
  filterField,
  link,
  moment,
  sample,
  shape,
  words,
} from "../ui/parts.js";
import { part, post } from "../ui/api.js";
import { number, t } from "../ui/words.js";

const CARDS = 60;

const OPEN_ONE =
  'agent:send_message { to = "writer", type = "task", task_id = "T-1", payload = { text = "…" } }';

async function load(look) {
  const { agent, task, correlation_id } = look.filters;
  const { tasks, cut } = await looks.tasks(look, { agent, task, correlation_id });
  const now = look.at === null ? Date.now() : timeMs(look.app.pastTime ?? "") || Date.now();
  return { columns: columns(tasks), cut, count: tasks.length, now };
}

async function cancel(look, task) {
  const id = task.task_id;
  const reason = await confirm(
    t("tasks.cancel.title", { id }),
    t("tasks.cancel.text"),
    t("do.cancel"),
    { field: t("reason") },
  );
  if (reason === null) return;
  await look.app.act(
    "cancel",
    () => post(`/tasks/${part(id)}/cancel`, reason ? { reason } : {}),
    t("done.cancel", { id }),
  );
}

function card(look, task, now) {
  const late = isLate(task, now);
  return h(
    "li",
    {
      key: `${task.task_id}/${task.agent}`,
      class: `task ${late ? "late" : ""}`,
      data: { id: task.task_id },
    },
    h(
      "div",
      { class: "top" },
      h("b", { class: "grow" }, words(task.task_id, 60)),
      h("span", { class: "tag" }, words(task.priority ?? "", 4)),
    ),
    h(
      "div",
      { class: "quiet" },
      agentLink(look, task.assigner),
      " → ",
      agentLink(look, task.agent),
    ),
    h(
      "div",
      { class: "quiet" },
      words(task.type ?? "", 40),
      task.tries > 1 && ` · ${t("tasks.tries", { n: task.tries })}`,
      isOver(task)
        ? [" · ", moment(task.ended_at)]
        : [" · ", moment(task.started_at ?? task.opened_at)],
    ),
    task.deadline &&
      !isOver(task) &&
      h(
        "div",
        { class: late ? "bad-text" : "quiet" },
        late ? `${t("overdue")} · ` : `${t("tasks.due")} `,
        moment(task.deadline),
      ),
    task.reason && h("div", { class: "quiet" }, words(payloadText(task.reason), 200)),
    h(
      "div",
      { class: "buttons" },
      link(
        look,
        {
          view: "timeline",
          filters: { task: task.task_id },
          class: "button small",
          of: "open-timeline",
        },
        t("view.timeline"),
      ),
      look.at === null &&
        !isOver(task) &&
        button(look, "cancel", t("tasks.cancel"), () => cancel(look, task), {
          kind: "small danger",
          mark: task.task_id,
        }),
    ),
  );
}

function column(look, { state, tasks }, { cut, now }) {
  const all = look.ui[`all ${state}`];
  const shown = all ? tasks.slice(0, 1000) : tasks.slice(0, CARDS);
  return h(
    "section",
    { class: "column", key: state, "aria-label": t(`state.${state}`) },
    h(
      "h2",
      null,
      shape(state),
      t(`state.${state}`),
      h("span", { class: "count" }, number(tasks.length), cut.has(state) && "+"),
    ),
    tasks.length === 0
      ? h("p", { class: "quiet none" }, t("tasks.none"))
      : h(
          "ul",
          null,
          shown.map((task) => card(look, task, now)),
        ),
    shown.length < tasks.length &&
      h(
        "button",
        {
          type: "button",
          class: "plain",
          data: { do: "more", for: state },
          on: {
            click: () => {
              look.ui[`all ${state}`] = true;
              look.app.redraw();
            },
          },
        },
        t("more", { n: tasks.length - shown.length }),
      ),
  );
}

function offered(list, name) {
  if (name === "correlation_id") return [];
  return list.flatMap(({ tasks }) => tasks.map((task) => task[name === "task" ? "task_id" : name]));
}

function draw(look, data) {
  const { columns: list, count } = data;
  const isFiltered = Boolean(
    look.filters.agent || look.filters.task || look.filters.correlation_id,
  );
  return [
    h("h1", { class: "unseen" }, t("view.tasks")),
    h(
      "div",
      { class: "filters" },
      ["agent", "task", "correlation_id"].map((name) =>
        filterField(look, name, t(`filter.${name}`), offered(list, name)),
      ),
    ),
    count === 0
      ? empty(
          t(isFiltered ? "filter.none" : "tasks.empty"),
          t(isFiltered ? "filter.none.hint" : "tasks.empty.hint"),
          !isFiltered && sample(OPEN_ONE),
        )
      : h(
          "div",
          { class: "board" },
          list.map((one) => column(look, one, data)),
        ),
  ];
}

export default { topics: ["tasks"], load, draw };
