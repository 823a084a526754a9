// A society of the stand-in: what it is made of, and what its routes answer.

export const T0 = Date.now() - 10 * 60000;
export const iso = (ms) => new Date(ms).toISOString();

export class Society {
  constructor() {
    Object.assign(this, {
      agents: [],
      waits: [],
      tasks: [],
      usage: [],
      dead: [],
      policies: [],
      inbox: [],
      activity: [],
      line: 0,
      contacts: [],
      counts: {},
      listeners: new Set(),
      replay: null,
      asked: [],
      reads: 0,
      talk: [],
      then: null,
      resumed: [], // where each stream of events began
      hangUps: [],
      messages: new Map(),
    });
  }

  agent(id, role, parent, status = "idle", more = {}) {
    this.agents.push({
      id,
      role: { id: role, name: role },
      parent,
      status,
      queue_length: 0,
      created_at: iso(T0),
      ...more,
    });
    this.log("spawned", { agent: id, detail: role });
  }

  log(event, row) {
    this.line += 1;
    this.activity.push({ line: this.line, time: iso(T0 + this.line * 2500), event, ...row });
  }

  say(from, to, type, text, more = {}) {
    const id = `msg_${this.line + 1}`;
    this.messages.set(id, {
      id,
      from,
      to,
      type,
      payload: { text },
      status: "processed",
      timestamp: iso(T0),
      priority: "normal",
    });
    this.log("sent", {
      agent: from,
      type,
      message_id: id,
      correlation_id: more.chain ?? "msg_1",
      task_id: more.task,
      detail: `to ${to}`,
    });
    return id;
  }

  wait(agent, target, kind, more = {}) {
    this.waits.push({
      line: this.line + 1,
      agent,
      kind,
      waits_for: [target],
      since: iso(Date.now() - 95000),
      deadline: iso(Date.now() + 3600000),
      ...more,
    });
    this.log("blocked", {
      agent,
      detail: JSON.stringify({
        from: "working",
        kind,
        to: more.item_id ? "blocked_user" : "blocked_internal",
        waits_for: [target],
      }),
    });
  }

  stats() {
    return {
      sent: 0,
      pending: 0,
      processed: 0,
      expired: 0,
      dead: this.dead.length,
      dropped: 0,
      cancelled: 0,
      agents: this.agents.length,
      waiting: this.waits.length,
      now: iso(Date.now()),
      ...this.counts,
    };
  }

  // As the host does it: children beyond fifty are counted.
  tree() {
    const families = new Map();
    for (const agent of this.agents) {
      if (!families.has(agent.parent)) families.set(agent.parent, []);
      families.get(agent.parent).push(agent);
    }
    const isListed = (agent) => !agent.parent || families.get(agent.parent).length <= 50;
    return this.agents.filter(isListed).map((agent) => {
      const children = families.get(agent.id) ?? [];
      if (children.length <= 50) return { ...agent, children: children.length };
      const counts = new Map();
      for (const child of children) {
        const key = `${child.role.name}\n${child.status}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
      return {
        ...agent,
        children: children.length,
        families: [...counts].map(([key, count]) => ({
          role: { id: key.split("\n")[0], name: key.split("\n")[0] },
          status: key.split("\n")[1],
          count,
        })),
      };
    });
  }

  at(line) {
    const born = new Set(
      this.activity
        .filter((row) => row.event === "spawned" && row.line <= line)
        .map((row) => row.agent),
    );
    const waits = this.waits.filter((wait) => wait.line <= line);
    return {
      line,
      time: this.activity[line - 1]?.time ?? iso(T0),
      agents: this.agents
        .filter((agent) => born.has(agent.id))
        .map(({ queue_length: pending, ...agent }) => ({
          ...agent,
          pending,
          status: waits.some((wait) => wait.agent === agent.id) ? "blocked_internal" : "working",
        })),
      contacts: this.contacts.filter((row) => born.has(row.owner)),
      tasks: this.tasks.slice(0, Math.floor(line / 6)),
      inbox: this.inbox.filter((item) => item.line <= line),
      waits,
      policies: this.policies,
      totals: { sent: line, processed: Math.floor(line / 2), pending: line - Math.floor(line / 2) },
      ...this.then?.(line), // what a test says was so
    };
  }

  agentLook(id, part) {
    const agent = this.agents.find((one) => one.id === id);
    if (!agent || (agent.ended_at && part)) return undefined;
    if (part === "contacts")
      return {
        items: this.contacts.filter((row) => row.owner === id),
        next: null,
        as_of: this.line,
      };
    if (part === "why") return { items: this.why(id), next: null, as_of: this.line };
    if (part === "queue")
      return {
        queue_name: `${id}_tasks`,
        pending: [{ task_id: "T-7", priority: "P1" }],
        processing: { task_id: "T-4" },
        completed: ["T-1"],
      };
    if (part === "load")
      return {
        agent: id,
        status: agent.status,
        queue_length: 1,
        active_tasks: 1,
        load: "40%",
        estimated_free: iso(Date.now() + 240000),
      };
    if (part === "conversation") return { first: 1, count: this.talk.length, entries: this.talk };
    return { ...agent, brief: this.brief, state: { drafts: 3, best: "second" } };
  }

  why(id) {
    const steps = [];
    for (let at = id; at && steps.length < 9;) {
      const wait = this.waits.find((one) => one.agent === at);
      const agent = this.agents.find((one) => one.id === at);
      const isEnd = !wait || wait.item_id;
      steps.push({
        ...(wait ?? { agent: at }),
        status: agent?.status,
        ended_by: wait?.item_id
          ? [{ op: "decide", item_id: wait.item_id }]
          : agent?.status === "paused"
            ? [{ op: "resume", agent: at }]
            : [],
        ...(isEnd
          ? {
              end: wait?.item_id
                ? "person"
                : agent?.status === "paused"
                  ? "paused"
                  : steps.length > 0
                    ? "working"
                    : "idle",
            }
          : {}),
      });
      at = isEnd ? null : wait.waits_for[0];
    }
    return steps;
  }

  message(id) {
    return this.messages.get(id);
  }

  /** Ends all streams of events. */
  hangUp() {
    this.hangUps.splice(0).forEach((end) => end());
  }

  emit(name, data = {}) {
    this.line += 1;
    this.listeners.forEach((listener) => listener(name, this.line, data));
  }

  change(method, path, body) {
    this.asked.push(method === "POST" ? { path, body } : { method, path, body });
    const [, id] = /^\/inbox\/([^/]+)\/decision$/.exec(path) ?? [];
    if (id) {
      const item = this.inbox.find((one) => one.id === decodeURIComponent(id));
      if (item.state !== "open")
        return { status: 409, answer: { error: "already_decided", message: "it is decided" } };
      item.state = "decided";
      item.decision = body.decision ?? "approve";
      item.given = body;
      this.emit("inbox.decided", { item_id: item.id });
      return {
        answer: { agent: item.agent, decision: item.decision, item_id: item.id, delivered: true },
      };
    }
    if (path === "/replays") {
      if (!this.replay)
        return {
          status: 409,
          answer: { error: "history_not_kept", message: "this society keeps no history" },
        };
      return { status: 202, answer: { id: "replay_1" } };
    }
    const [, kind] = /^\/policies\/([^/]+)$/.exec(path) ?? [];
    if (kind) return this.swap(kind, body);
    const letters = /^\/dead-letters\/(?:([^/]+)\/)?([^/]+)$/.exec(path);
    if (letters) return this.handle(method, letters, body);
    const [, ended] = (method === "DELETE" && /^\/agents\/([^/]+)$/.exec(path)) || [];
    if (ended) {
      const one = this.agents.find(({ id: name }) => name === decodeURIComponent(ended));
      one.status = "stopped";
      one.ended_at = iso(Date.now());
    }
    const [, agent, order] = /^\/agents\/([^/]+)\/(pause|resume)$/.exec(path) ?? [];
    if (agent) {
      const one = this.agents.find(({ id: name }) => name === decodeURIComponent(agent));
      one.status = order === "pause" ? "paused" : "idle";
    }
    const [, task] = /^\/tasks\/([^/]+)\/cancel$/.exec(path) ?? [];
    if (task) this.tasks.find((one) => one.task_id === task).state = "cancelled";
    this.emit("order", {});
    return { answer: { count: 1, id: "x" } };
  }

  // Puts a policy into force, if this token may: `refuses` names one whose example fails.
  swap(kind, { name, settings }) {
    if (!this.maySwap)
      return {
        status: 403,
        answer: { error: "forbidden", message: "this token has no scope operate" },
      };
    if (name === this.refuses)
      return {
        status: 422,
        answer: { error: "policy_refused", message: `${kind}: example 2 of ${name} fails` },
      };
    const policy = this.policies.find((one) => one.kind === kind);
    this.log("policy_swapped", { agent: "system", detail: `${kind}: ${policy.name} → ${name}` });
    Object.assign(policy, { name, settings, version: policy.version + 1 });
    this.emit("policy.swapped");
    return { answer: policy };
  }

  /** The dead letters that fit a filter. */
  lettersFor(filter) {
    const fits = (letter) =>
      Object.entries(filter).every(
        ([name, wanted]) => letter[name === "task" ? "task_id" : name] === wanted,
      );
    return this.dead.filter(fits);
  }

  // As the host does it: a letter by its id, or all that fit if there are as many as expected.
  handle(method, [, id, word], body) {
    const isAll = method === "POST" && !id;
    const name = decodeURIComponent(id ?? word);
    const gone = isAll
      ? this.lettersFor(body.filter ?? {})
      : this.dead.filter((letter) => letter.id === name);
    if (isAll && gone.length !== body.expected)
      return {
        status: 409,
        answer: { error: "count_differs", message: `there are ${gone.length}`, count: gone.length },
      };
    if (gone.length === 0)
      return { status: 404, answer: { error: "message_not_found", message: "there is none" } };
    this.dead = this.dead.filter((letter) => !gone.includes(letter));
    this.emit("message.dropped");
    return { answer: { count: gone.length } };
  }
}
