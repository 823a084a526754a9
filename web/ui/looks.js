// What views read: live from its own route, in the past from the answer of `/at`. The shapes
// are the same, so a view does not notice which it is.

import { TASK_STATES, queueOf, usageThen } from "../logic/board.js";
import { all, fromStart, single, rows } from "./api.js";

/** Counts of messages, agents and turns. */
export async function stats(look) {
  if (look.at !== null) {
    const then = await look.past();
    return then.totals;
  }
  return single(await look.get("/stats")) ?? {};
}

/** Agents in order of birth, each with id, role, parent and status; families of more than
 *  fifty as counts unless `whole`. */
export async function agents(look, whole = false) {
  if (look.at !== null) {
    const then = rows((await look.past()).agents);
    // The log does not say when a message leaves the mailbox: these are not handled yet.
    return then.map((agent) => ({ ...agent, queue_length: agent.pending }));
  }
  if (whole) return (await all("/agents", {}, 20000, look.signal)).items;
  const tree = await look.get("/agents/tree");
  look.app.noteLine(tree?.as_of);
  return rows(tree);
}

export async function waits(look) {
  if (look.at !== null) return rows((await look.past()).waits);
  const answer = await look.get("/waits");
  look.app.noteLine(answer?.as_of);
  return rows(answer);
}

/** Contacts of one agent. */
export async function contacts(look, id) {
  if (look.at !== null) {
    return rows((await look.past()).contacts).filter((row) => row.owner === id);
  }
  return rows(await look.get(`/agents/${encodeURIComponent(id)}/contacts`));
}

const OPEN_MAX = 5000;

/** Items of the inbox in that state: open, decided, withdrawn or all. */
export async function inbox(look, state = "open") {
  if (look.at !== null) {
    const items = rows((await look.past()).inbox);
    return state === "all" ? items : items.filter((item) => item.state === state);
  }
  // The most urgent stand first: a page from the end would leave them out.
  const answer =
    state === "open"
      ? await fromStart("/inbox", { state }, OPEN_MAX, look.signal)
      : await look.get("/inbox", { state, limit: 500 });
  look.app.noteLine(answer?.as_of);
  return rows(answer);
}

const TASKS_MAX = 1000;

/** Tasks as { tasks, cut }: of each state the latest; `cut` holds the states that have more. */
export async function tasks(look, filters = {}) {
  if (look.at !== null) {
    const then = rows((await look.past()).tasks).filter(
      (task) =>
        (!filters.agent || task.agent === filters.agent || task.assigner === filters.agent) &&
        (!filters.task || task.task_id === filters.task) &&
        (!filters.correlation_id || task.correlation_id === filters.correlation_id),
    );
    return { tasks: then, cut: new Set() };
  }
  const answers = await Promise.all(
    TASK_STATES.map((type) => look.get("/tasks", { ...filters, type, limit: TASKS_MAX })),
  );
  answers.forEach((answer) => look.app.noteLine(answer?.as_of));
  const cut = TASK_STATES.filter((_, i) => answers[i]?.previous);
  // One that changed between two answers is in both; the later state is the right one.
  const key = (task) => `${task.task_id}\n${task.agent}\n${task.message_id}`;
  const byKey = new Map(answers.flatMap(rows).map((task) => [key(task), task]));
  return { tasks: [...byKey.values()], cut: new Set(cut) };
}

/** The tasks of one agent: { pending, processing, completed }. */
export async function queue(look, id) {
  if (look.at === null) return single(await look.get(`/agents/${encodeURIComponent(id)}/queue`));
  return queueOf(rows((await look.past()).tasks).filter((task) => task.agent === id));
}

const USAGE_LINES_MAX = 20000;

/** What models cost one agent: { rows, lines }, rows by task and model. `lines`: only so many of
 *  the log were read, and there are more. */
export async function usage(look, id) {
  if (look.at === null) return { rows: rows(await look.get("/usage", { agent: id })), lines: null };
  const asked = { agent: id, type: "usage_changed", before: look.at + 1 };
  const { items, isWhole } = await all("/activity", asked, USAGE_LINES_MAX, look.signal);
  return { rows: usageThen(items), lines: isWhole ? null : items.length };
}

export async function policies(look) {
  if (look.at !== null) return rows((await look.past()).policies);
  return rows(await look.get("/policies"));
}
