// The societies of the stand-in.

import { iso, Society, T0 } from "./society.mjs";

const BRIEF = {
  objective: "Write a press release about the new harbour line that a tired reader understands",
  constraints: ["one page", "no superlatives", "静态网页"],
  inputs: "the facts from the researcher",
  outputs: "a text of at most 300 words",
  completion_criteria: "the editor and the person have approved it",
};

function full() {
  const s = new Society();
  s.brief = BRIEF;
  s.agent("user", "user", undefined, "idle");
  s.agent("root", "root", undefined, "blocked_internal");
  s.agent("editor", "editor", "root", "blocked_internal", { queue_length: 2 });
  s.agent("writer", "writer", "editor", "blocked_user");
  s.agent("researcher", "researcher", "editor", "working", { queue_length: 1 });
  s.agent("checker", "fact checker", "editor", "paused");
  s.agent("printer", "printer", "root", "failed");
  s.agent("courier", "courier", "root", "unresponsive", { external: true });
  s.agent("翻译", "译者", "root", "idle");
  for (let i = 1; i <= 24; i += 1)
    s.agent(
      `reader${i}`,
      i % 3 === 0 ? "critic" : "reader",
      "courier",
      i === 5 ? "failed" : i % 4 === 0 ? "working" : "idle",
    );
  s.say("user", "root", "task", "Announce the harbour line by Friday.");
  s.log("processed", { agent: "root", message_id: "msg_1", type: "task" });
  s.say("root", "editor", "task_assign", "Lead the press release.", { task: "T-1" });
  s.wait("root", "editor", "reply");
  for (let i = 0; i < 14; i += 1) {
    s.say("editor", "researcher", "query", `Fact ${i + 1}, please.`, { task: "T-2" });
    s.log("blocked", {
      agent: "editor",
      detail: JSON.stringify({
        from: "working",
        kind: "reply",
        to: "blocked_internal",
        waits_for: ["researcher"],
      }),
    });
    const id = s.say("researcher", "editor", "response", "It is so.", { task: "T-2" });
    s.log("unblocked", {
      agent: "editor",
      detail: JSON.stringify({
        from: "blocked_internal",
        kind: "reply",
        to: "working",
        waits_for: ["researcher"],
      }),
    });
    s.log("processed", { agent: "editor", message_id: id, type: "response" });
  }
  s.say("editor", "writer", "task_assign", "Write it. 请写得简明。", { task: "T-3" });
  s.wait("editor", "writer", "reply", { message_id: "msg_3" });
  s.say("writer", "printer", "query", "How many copies?");
  s.log("dead", { agent: "printer", type: "query", detail: "receiver_failed" });
  s.log("escalation", { agent: "writer", detail: "Which headline?" });
  s.wait("writer", "user", "human", { item_id: "item_1" });
  s.inbox = [
    {
      line: s.line,
      id: "item_1",
      agent: "writer",
      title: "Which headline should the press release carry?",
      body: "The editor prefers the plain one. The harbour office asked for something warmer.",
      options: [
        "New harbour line opens Friday",
        "The sea is closer than you think",
        "Neither, try again",
      ],
      priority: "high",
      state: "open",
      created_at: iso(Date.now() - 95000),
      deadline: iso(Date.now() + 1800000),
      task_id: "T-3",
      chain: [
        { from: "user", to: "root", type: "task", payload: "Announce the harbour line by Friday." },
        { from: "root", to: "editor", type: "task_assign", payload: "Lead the press release." },
        { from: "editor", to: "writer", type: "task_assign", payload: "Write it." },
      ],
    },
    {
      id: "item_2",
      agent: "printer",
      title: "Pay 120 to the paper mill?",
      body: {
        to: "paper mill",
        amount: 120,
        express: false,
        note: "for the first thousand copies",
      },
      priority: "normal",
      state: "open",
      created_at: iso(Date.now() - 300000),
      overdue: true,
    },
    {
      id: "item_3",
      agent: "翻译",
      title: "是否把新闻稿译成英文？",
      body: "读者中有三成使用英文。",
      priority: "low",
      state: "open",
      created_at: iso(Date.now() - 12000),
    },
    {
      id: "item_0",
      agent: "editor",
      title: "May we quote the mayor?",
      priority: "normal",
      state: "decided",
      decision: "approve",
      created_at: iso(T0),
    },
  ];
  const task = (task_id, agent, state, more = {}) =>
    s.tasks.push({
      task_id,
      agent,
      assigner: "editor",
      type: "task_assign",
      state,
      priority: "P2",
      tries: 1,
      message_id: "msg_1",
      opened_at: iso(T0),
      ...more,
    });
  task("T-1", "editor", "processing", { assigner: "root", priority: "P1", started_at: iso(T0) });
  task("T-2", "researcher", "completed", { ended_at: iso(T0 + 400000) });
  task("T-3", "writer", "processing", {
    deadline: iso(Date.now() - 60000),
    started_at: iso(T0),
    parent: "T-1",
  });
  task("T-4", "checker", "pending", { deadline: iso(Date.now() + 7200000) });
  task("T-5", "printer", "failed", { tries: 3, ended_at: iso(T0 + 300000), reason: "no paper" });
  task("T-6", "courier", "cancelled", { ended_at: iso(T0 + 200000) });
  task("T-7", "翻译", "pending", { priority: "P0" });
  s.dead = ["how many copies?", "deliver to the north quay"].map((text, i) => ({
    id: `msg_d${i}`,
    from: i ? "editor" : "writer",
    to: i ? "courier" : "printer",
    type: "query",
    payload: { text },
    priority: "normal",
    status: "dead",
    reason: i ? "expired" : "receiver_failed",
    timestamp: iso(T0),
    finished_at: iso(T0 + 1000),
    attempt: 3,
    correlation_id: "msg_1",
  }));
  s.policies = [
    ["contacts", "strict"],
    ["briefs", "strict"],
    ["messages", "society"],
    ["introductions", "capability"],
    ["presentation", "en"],
    ["prompts", "en"],
    ["delivery", "default"],
    ["deadlock", "earliest"],
    ["tasks", "default"],
    ["gatekeeper", "root"],
    ["supervision", "backoff"],
    ["context", "recent"],
  ].map(([kind, name]) => ({ kind, name, version: 1, hash: "9f86d081884c7d65" }));
  s.log("policy_swapped", { agent: "system", detail: "contacts: strict → open" });
  s.budgets = [
    { of: "society", what: "cost_micros", limit: 1000000, used: 95200, left: 904800 },
    { of: "agent", id: "writer", what: "tokens", limit: 20000, used: 19100, left: 900 },
    { of: "task", id: "T-5", what: "tokens", limit: 5000, used: 5200, left: 0 },
  ];
  s.usage = [
    ["editor", "T-1", "gpt-4o-mini", 14, 21000, 900, 0.0037],
    ["writer", "T-3", "gpt-4o", 6, 15000, 4100, 0.0785],
    ["researcher", "T-2", "gpt-4o-mini", 28, 64000, 5200, 0.0127],
    ["翻译", undefined, "gpt-4o-mini", 1, 900, 300, 0.0003],
  ].map(([agent, task_id, model, calls, input_tokens, output_tokens, cost]) => ({
    agent,
    task_id,
    model,
    calls,
    input_tokens,
    output_tokens,
    cost,
  }));
  for (const [owner, id, role, source] of [
    ["root", "user", "user", "system"],
    ["root", "editor", "editor", "child"],
    ["root", "printer", "printer", "child"],
    ["editor", "root", "root", "parent"],
    ["editor", "writer", "writer", "child"],
    ["editor", "researcher", "researcher", "child"],
    ["editor", "翻译", "译者", "introduction"],
    ["writer", "editor", "editor", "parent"],
    ["writer", "printer", "printer", "introduction"],
  ]) {
    s.contacts.push({
      owner,
      id,
      role,
      source,
      addedAt: iso(T0),
      introducedBy: source === "introduction" ? "root" : undefined,
    });
  }
  s.talk = [
    { role: "user", content: "[editor] Write it. 请写得简明。" },
    { role: "assistant", content: "I have two headlines. I will ask which one fits." },
    {
      role: "assistant",
      tool_calls: [{ name: "escalate", arguments: { title: "Which headline?" } }],
    },
  ];
  s.replay = {
    id: "replay_1",
    state: "different",
    code: 1,
    findings: [
      {
        agent: "writer",
        message: "msg_40",
        time: iso(T0 + 40 * 2500),
        difference: "question",
        asked: "contacts.may_send",
        recorded: [false, "ask for an introduction"],
        now: [true, null],
      },
      {
        agent: "editor",
        message: "msg_44",
        time: iso(T0 + 60 * 2500),
        difference: "effect",
        recorded: { effect: "send", arguments: ["printer"] },
        now: { effect: "request_introduction", arguments: ["printer"] },
      },
      { runs: 9, waiting: 1, effects: 40, questions: 12, differences: 2 },
    ],
  };
  s.counts = {
    sent: 1284,
    processed: 1251,
    pending: 9,
    expired: 6,
    dead: 2,
    dropped: 3,
    cancelled: 13,
  };
  return s;
}

function empty() {
  const s = new Society();
  s.agent("user", "user", undefined, "idle");
  s.agent("root", "root", undefined, "idle");
  s.line = 0;
  s.activity = [];
  return s;
}

const EVIL = [
  "<img src=x onerror=window.hacked=1>",
  "<script>window.hacked=1</script>",
  "\u202egnp.exe\u202c \u2066x",
  '"><svg onload=window.hacked=1>',
  "javascript:window.hacked=1",
  "{{7*7}}${7*7}",
  "a".repeat(300),
  "\u0000\u0007bell",
];

function hostile() {
  const s = full();
  EVIL.forEach((text, i) => {
    const id = text.slice(0, 200);
    s.agent(id, text, "root", "blocked_user");
    s.say(id, "root", text, "x".repeat(1 << 20));
    s.inbox.unshift({
      id: `evil_${i}<b>`,
      agent: id,
      title: text,
      body: i === 0 ? "z".repeat(1 << 20) : { [text]: text, more: text },
      options: [text, { deep: text }],
      priority: "urgent",
      state: "open",
      created_at: iso(Date.now()),
    });
    s.tasks.push({
      task_id: text,
      agent: id,
      assigner: "root",
      type: text,
      state: "processing",
      priority: "P0",
      tries: 1,
      opened_at: iso(T0),
      reason: text,
    });
    s.dead.push({
      id: `dead_${i}`,
      from: id,
      to: "root",
      type: text,
      payload: { text },
      status: "dead",
      reason: text,
      timestamp: iso(T0),
    });
    s.policies.push({ kind: text.slice(0, 60), name: text, version: 1 });
    s.usage.push({
      agent: id,
      task_id: text,
      model: text,
      calls: 1,
      input_tokens: 1,
      output_tokens: 1,
      cost: 0,
    });
    s.waits.push({ agent: id, kind: text, waits_for: [id, "root"], since: iso(T0) });
    s.contacts.push({ owner: id, id: "root", role: text, source: text, addedAt: iso(T0) });
    s.log(text, { agent: id, detail: text });
  });
  s.brief = {
    objective: EVIL[0],
    constraints: EVIL,
    inputs: EVIL[2],
    outputs: "y".repeat(1 << 20),
    completion_criteria: EVIL[3],
  };
  s.talk = EVIL.map((content) => ({ role: content, content }));
  return s;
}

export const scenes = {
  full,
  empty,
  hostile,

  broken: empty,
  locked: empty,
  streamless: full,
};
