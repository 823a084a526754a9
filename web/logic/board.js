// Tasks by state, costs by whatever one asks.

import { timeMs } from "./format.js";
import { detailOf } from "./lanes.js";

export const TASK_STATES = ["pending", "processing", "completed", "failed", "cancelled"];

const ORDER = { P0: 0, P1: 1, P2: 2, P3: 3 };

export function isOver(task) {
  return task.state === "completed" || task.state === "failed" || task.state === "cancelled";
}

/** Whether an open task is late at `now`. */
export function isLate(task, now) {
  return !isOver(task) && task.deadline != null && timeMs(task.deadline) < now;
}

/** The columns of the board: { state, tasks }. Open tasks by priority, then deadline, then age;
 *  those that are over, the latest first. */
export function columns(tasks) {
  const open = (a, b) =>
    (ORDER[a.priority] ?? 2) - (ORDER[b.priority] ?? 2) ||
    (timeMs(a.deadline) || Infinity) - (timeMs(b.deadline) || Infinity) ||
    timeMs(a.opened_at) - timeMs(b.opened_at) ||
    0;
  const over = (a, b) => timeMs(b.ended_at) - timeMs(a.ended_at) || 0;
  return TASK_STATES.map((state) => {
    const mine = tasks.filter((task) => task.state === state);
    return { state, tasks: mine.sort(isOver({ state }) ? over : open) };
  });
}

/** The tasks of one agent as its queue: { pending, processing, completed }, as the society itself
 *  answers for the present. */
export function queueOf(tasks) {
  const byState = new Map(columns(tasks).map((column) => [column.state, column.tasks]));
  return {
    pending: byState.get("pending"),
    processing: byState.get("processing")[0],
    completed: byState.get("completed").map((task) => task.task_id),
  };
}

/** Usage as it was after lines `usage_changed`, in order: each has the totals of its task and
 *  model up to then, so the last of each counts. */
export function usageThen(lines) {
  const latest = new Map();
  for (const line of lines) {
    const row = { ...detailOf(line), agent: line.agent, task_id: line.task_id };
    latest.set(`${row.agent}\n${row.task_id ?? ""}\n${row.model}`, row);
  }
  return [...latest.values()];
}

/** Usage summed by a member (agent, task_id or model), the dearest first. */
export function sumUsage(rows, by) {
  const sums = new Map();
  for (const row of rows) {
    const name = row[by] ?? "";
    const sum = sums.get(name) ?? { name, calls: 0, input_tokens: 0, output_tokens: 0, cost: 0 };
    for (const field of ["calls", "input_tokens", "output_tokens", "cost"]) {
      sum[field] += Number(row[field] ?? 0);
    }
    sums.set(name, sum);
  }
  const tokens = (sum) => sum.input_tokens + sum.output_tokens;
  return [...sums.values()].sort(
    (a, b) => b.cost - a.cost || tokens(b) - tokens(a) || (a.name < b.name ? -1 : 1),
  );
}

/** All of it in one. */
export function totalUsage(rows) {
  return (
    sumUsage(
      rows.map((row) => ({ ...row, all: "all" })),
      "all",
    )[0] ?? { calls: 0, input_tokens: 0, output_tokens: 0, cost: 0 }
  );
}

/** Budgets by what is left of them: the society's first, then the tightest. */
export function tightest(budgets) {
  const rank = (budget) => (budget.of === "society" ? 0 : 1);
  const share = (budget) => budget.left / Math.max(1, budget.limit);
  const name = (budget) => `${budget.of} ${budget.id ?? ""} ${budget.what}`;
  return [...budgets].sort(
    (a, b) => rank(a) - rank(b) || share(a) - share(b) || (name(a) < name(b) ? -1 : 1),
  );
}
