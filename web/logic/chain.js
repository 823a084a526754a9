// Why an agent waited in the past: the chain of waits of that moment. Live, the society follows
// the chain itself and knows more ends: the log has no line for calls and sleeps, so whoever had
// something to do may have been at work or waited for a model, a server or its time.

// What the last of a chain was about to do, by its status then.
const ENDS = { paused: "paused", failed: "failed", working: "unlogged", ending: "unlogged" };

function endOf(agent) {
  if (!agent) return "silence"; // it had ended
  if (agent.external) return "outside";
  return ENDS[agent.status] ?? "silence";
}

/** The steps { agent, status, kind, waits_for, since, end } from `id` to the end of its wait. */
export function chainOf(agents, waits, id) {
  const byId = new Map(agents.map((agent) => [agent.id, agent]));
  const byAgent = new Map(waits.map((wait) => [wait.agent, wait]));
  const steps = [];
  const seen = new Set();
  for (let next = id; ;) {
    const agent = byId.get(next);
    const wait = byAgent.get(next);
    const step = { ...wait, agent: next, status: agent?.status };
    steps.push(step);
    seen.add(next);
    const target = wait?.waits_for?.[0];
    if (!wait) step.end = next === id && agent?.status === "idle" ? "idle" : endOf(agent);
    else if (wait.kind === "human" || target === "user") step.end = "person";
    else if (wait.kind === "sleep") step.end = "sleep";
    else if (target === undefined) step.end = wait.kind === "receive" ? "silence" : "host";
    else if (seen.has(target)) step.end = "cycle";
    if (step.end) return steps;
    next = target;
  }
}
