// What views read: live from its own route, in the past from the answer of `/at`. The shapes
// are the same, so a view does not notice which it is.

import { all, single, rows } from "./api.js";

/** Counts of messages, agents and turns. */
export async function stats(look) {
  if (look.at !== null) {
    const then = await look.past();
    return then.totals ?? then.stats ?? {};
  }
  return single(await look.get("/stats")) ?? {};
}

/** Agents in order of birth, each with id, role, parent and status; families of more than
 *  fifty as counts unless `whole`. */
export async function agents(look, whole = false) {
  if (look.at !== null) return rows((await look.past()).agents);
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
    const then = await look.past();
    const mine = rows(then.agents).find((agent) => agent.id === id)?.contacts;
    const list = then.contacts ? rows(then.contacts).filter((row) => row.owner === id) : null;
    return list ?? (Array.isArray(mine) ? mine : []);
  }
  return rows(await look.get(`/agents/${encodeURIComponent(id)}/contacts`));
}

/** Items of the inbox in that state: open, decided, withdrawn or all. */
export async function inbox(look, state = "open") {
  if (look.at !== null) {
    const items = rows((await look.past()).inbox);
    return state === "all" ? items : items.filter((item) => (item.state ?? "open") === state);
  }
  const answer = await look.get("/inbox", { state, limit: 500 });
  look.app.noteLine(answer?.as_of);
  return rows(answer);
}

const TASKS_MAX = 2000;

export async function tasks(look, filters = {}) {
  if (look.at !== null) {
    return rows((await look.past()).tasks).filter(
      (task) =>
        (!filters.agent || task.agent === filters.agent || task.assigner === filters.agent) &&
        (!filters.task || task.task_id === filters.task) &&
        (!filters.correlation_id || task.correlation_id === filters.correlation_id),
    );
  }
  const answer = await all("/tasks", filters, TASKS_MAX, look.signal);
  look.app.noteLine(answer.as_of);
  return answer.items;
}

export async function policies(look) {
  if (look.at !== null) return rows((await look.past()).policies);
  return rows(await look.get("/policies"));
}
