// The logic of the page, without a browser: node --test tests/web/logic.test.mjs

import assert from "node:assert/strict";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const web = new URL("../../web/", import.meta.url);
const logic = (name) => import(new URL(`logic/${name}.js`, web));

const { VIEWS, parse, format, query, hasPast, isLost } = await logic("address");
const { Reader } = await logic("sse");
const { Stale, topicsOf } = await logic("topics");
const { Pace, backoff } = await logic("pace");
const formats = await logic("format");
const { Rates, holds, segments } = await logic("law");
const { columns, isLate, queueOf, sumUsage, tightest, totalUsage, usageThen } =
  await logic("board");
const { chainOf } = await logic("chain");
const { deedsOf, nextOf, shownId, stateOf } = await logic("item");
const { visible, scrollTo } = await logic("window");
const { FOLD_ABOVE, grow, layOut, waitEdges } = await logic("tree");
const { diagram, kindOf, laneOrder, nameLines, receiverOf } = await logic("lanes");
const { mermaid } = await logic("mermaid");
const { outcomeOf, sideText } = await logic("replay");
const { SHIPPED, suggestions } = await logic("policies");
const { fieldsOf, readFields } = await logic("changes");

test("an address says view, id, moment and filters, and comes back the same", () => {
  for (const address of [
    { view: "now", id: "", at: null, filters: {} },
    { view: "agent", id: "a/b ?&#%", at: 12, filters: {} },
    { view: "timeline", id: "", at: 7, filters: { agent: "x=y&z", type: "任务" } },
    { view: "dead", id: "", at: null, filters: { reason: "<b>" } },
  ]) {
    assert.deepEqual(parse(format(address)), address);
  }
});

test("an address that names no view is told from one that names nothing", () => {
  for (const hash of ["#/nonsense", "#/agent", "#/now/x", "#/nonsense?at=4"])
    assert.equal(isLost(hash), true, hash);
  for (const hash of ["", "#", "#/", "#/now", "#/agent/a", "#/cost?by=model"])
    assert.equal(isLost(hash), false, hash);
});

test("the gist of a payload is its text, or its members by name", () => {
  for (const [payload, text] of [
    ["two\nlines", "two lines"],
    [{ n: 1, text: "hello" }, "hello, n: 1"],
    [{ order: "A-1", amount: 12, more: { a: [1] } }, 'order: A-1, amount: 12, more: { "a": [ 1 ] }'],
    [["a", 1], '[ "a", 1 ]'],
    [7, "7"],
    [{}, "{}"],
    [null, ""],
    ["x".repeat(50), `${"x".repeat(30)}…`],
    [{ a: "x".repeat(50) }, `a: ${"x".repeat(27)}…`],
  ])
    assert.equal(formats.gist(payload, payload?.order ? 60 : 30), text);
});

test("a command from outside stands on the lane of the agent it is about", () => {
  const order = (target) => ({ event: "order", agent: "system", detail: { op: "pause", target } });
  const { lanes, items } = diagram([{ event: "spawned", agent: "ann" }, order("ann"), order("item_1")]);
  assert.deepEqual(lanes, ["ann"]);
  assert.deepEqual(items.map(({ lane }) => lane), [0, 0, null]);
});

test("an unknown or broken address is the view now, and never fails", () => {
  for (const hash of ["", "#", "#/", "#/nowhere", "#/agent", "#/now/x", "#/%E0%A4%A", "#//"]) {
    assert.equal(parse(hash).view, "now", hash);
  }
  assert.equal(parse("#/agent/%E0%A4%A").id, "%E0%A4%A");
  assert.equal(parse("#/now?at=x").at, null);
  assert.equal(parse("#/now?at=-1").at, null);
  assert.equal(parse("#/now?at=0").at, null);
});

test("only views with a past keep the moment", () => {
  const past = ["now", "agents", "agent", "timeline", "tasks", "inbox", "policies"];
  assert.deepEqual(VIEWS.filter(hasPast), past);
  assert.equal(parse("#/cost?at=5").at, null);
  assert.equal(format({ view: "dead", at: 5 }), "#/dead");
  assert.equal(query({ a: 1, b: "", c: null, d: undefined, e: 0 }), "?a=1&e=0");
});

test("events are read whatever the pieces they arrive in", () => {
  const text =
    ': hi\r\nevent: agent.born\r\nid: 7\r\ndata: {"a":\r\ndata: 1}\r\n\r\ndata: x\n\nid: 9\n\n';
  for (let size = 1; size <= text.length; size += 1) {
    const reader = new Reader();
    const events = [];
    for (let at = 0; at < text.length; at += size) {
      reader.push(text.slice(at, at + size), (event) => events.push(event));
    }
    assert.deepEqual(events, [
      { name: "agent.born", id: 7, data: '{"a":\n1}' },
      { name: "message", id: null, data: "x" },
    ]);
  }
});

test("an event makes its lists stale once, and a line that was seen is not new", () => {
  const stale = new Stale();
  assert.equal(stale.note({ name: "inbox.decided", id: 5 }), true);
  assert.equal(stale.note({ name: "inbox.decided", id: 5 }), false);
  assert.equal(stale.note({ name: "inbox.decided", id: 4 }), false);
  assert.equal(stale.line, 5);
  assert.equal(stale.take(["tasks"]), false);
  assert.equal(stale.take(["inbox"]), true);
  assert.equal(stale.take(["inbox"]), false);
  stale.all();
  for (const topic of ["stats", "agents", "dead", "policies", "usage", "activity"]) {
    assert.equal(stale.take([topic]), true, topic);
  }
  assert.deepEqual(topicsOf("model.delta"), []);
  assert.ok(topicsOf("summary").includes("messages"));
});

test("reading takes at most a fifth of the time, and the first change is shown at once", () => {
  const pace = new Pace(250);
  assert.equal(pace.wait(1000), 0);
  pace.begin(1000);
  assert.equal(pace.wait(1001), null);
  pace.end(1010);
  assert.equal(pace.wait(1010), 250);
  pace.begin(2000);
  pace.end(2500);
  assert.equal(pace.wait(2500), 2000);
  assert.ok(backoff(0) < backoff(1));
  assert.equal(backoff(99), 10000);
});

test("text of an agent loses what reorders or hides it, and nothing else", () => {
  assert.equal(
    formats.clean("a\u202eb\u2066c\u0000d\u200be\ufefff"),
    "a\ufffdb\ufffdc\ufffdd\ufffde\ufffdf",
  );
  assert.equal(formats.clean("中文\tа\n<b>&"), "中文\tа\n<b>&");
  assert.deepEqual(formats.clip("abc", 3), { text: "abc", cut: 0 });
  assert.deepEqual(formats.clip("ab😀", 3), { text: "ab", cut: 2 });
  assert.equal(formats.oneLine("a\n\n b   c", 10), "a b c");
  assert.equal(formats.oneLine("x".repeat(1e6), 4), "xxxx…");
  assert.equal(formats.payloadText({ text: "hi" }), "hi");
  assert.equal(formats.payloadText({ n: 1 }), '{\n  "n": 1\n}');
});

test("durations, numbers and dollars", () => {
  assert.equal(formats.duration(999), "0 s");
  assert.equal(formats.duration(-65000), "1 min");
  assert.equal(formats.duration(3599999), "59 min");
  assert.equal(formats.duration(90000000), "1 d");
  assert.equal(formats.duration(NaN), "");
  assert.equal(formats.number(1234, "en"), "1,234");
  assert.equal(formats.dollars(0.0037, "en"), "$0.0037");
  assert.equal(formats.dollars(12.5, "en"), "$12.50");
  assert.equal(formats.clock("no time", 0, "en"), "");
  assert.equal(formats.fill("{n} of {m}", { n: 1 }), "1 of {m}");
});

test("the bar of the law shows every state that is not empty, and adds up", () => {
  const parts = segments({ processed: 999999, dead: 1 });
  assert.equal(parts.reduce((sum, part) => sum + part.share, 0).toFixed(9), "1.000000000");
  assert.ok(parts.find((part) => part.state === "dead").share > 0.005);
  assert.equal(parts.find((part) => part.state === "pending").share, 0);
  assert.ok(segments({}).every((part) => part.share === 0));
  assert.equal(holds({ sent: 3, processed: 2, pending: 1 }), true);
  assert.equal(holds({ sent: 3, processed: 2 }), false);
});

test("rates are of the last ten seconds and begin anew after a restart", () => {
  const rates = new Rates(60);
  assert.equal(rates.now(), null);
  for (let i = 0; i <= 20; i += 1) rates.add(i * 1000, { sent: i * 5, processed: i });
  assert.deepEqual(rates.now(), { sent: 5, processed: 1 });
  assert.equal(rates.series().length, 20);
  rates.add(40000, { sent: 100 });
  assert.deepEqual(rates.now(), { sent: 0, processed: 0 });
  rates.add(50000, { sent: 0 });
  assert.deepEqual(rates.series(), []);
  assert.equal(rates.now(), null);
});

test("tasks stand by state; open ones by priority, deadline and age", () => {
  const task = (task_id, state, more) => ({
    task_id,
    state,
    priority: "P2",
    opened_at: 1,
    ...more,
  });
  const list = columns([
    task("late", "pending", { opened_at: 9 }),
    task("due", "pending", { deadline: 50 }),
    task("first", "pending", { priority: "P0", opened_at: 8 }),
    task("old", "completed", { ended_at: 1 }),
    task("new", "completed", { ended_at: 2 }),
  ]);
  const ids = (state) => list.find((one) => one.state === state).tasks.map((one) => one.task_id);
  assert.deepEqual(ids("pending"), ["first", "due", "late"]);
  assert.deepEqual(ids("completed"), ["new", "old"]);
  assert.deepEqual(ids("failed"), []);
  assert.equal(isLate(task("x", "pending", { deadline: 50 }), 51), true);
  assert.equal(isLate(task("x", "completed", { deadline: 50 }), 51), false);
});

test("usage is summed by agent, task or model, the dearest first", () => {
  const rows = [
    { agent: "a", model: "m", calls: 1, input_tokens: 5, cost: 1 },
    { agent: "b", model: "m", calls: 2, output_tokens: 5, cost: 3 },
    { agent: "a", model: "n", calls: 1, cost: 1 },
  ];
  assert.deepEqual(
    sumUsage(rows, "agent").map((sum) => [sum.name, sum.calls, sum.cost]),
    [
      ["b", 2, 3],
      ["a", 2, 2],
    ],
  );
  assert.deepEqual(
    sumUsage(rows, "task_id").map((sum) => sum.name),
    [""],
  );
  assert.equal(totalUsage(rows).cost, 5);
  assert.equal(totalUsage([]).calls, 0);
});

test("a long list draws what is on screen and a little more", () => {
  assert.deepEqual(visible(10000, 40, 4000, 400, 2), { first: 98, last: 112 });
  assert.deepEqual(visible(3, 40, 0, 400), { first: 0, last: 3 });
  assert.deepEqual(visible(3, 40, 99999, 400), { first: 3, last: 3 });
  assert.equal(scrollTo(0, 40, 100, 400), 0);
  assert.equal(scrollTo(20, 40, 0, 400), 440);
  assert.equal(scrollTo(3, 40, 100, 400), 100);
});

const agent = (id, parent, more = {}) => ({
  id,
  parent,
  role: { name: "r" },
  status: "idle",
  ...more,
});
const children = (count, parent) =>
  Array.from({ length: count }, (_, i) => agent(`${parent}${i}`, parent));

test("the picture stands still: its places depend on births alone", () => {
  const list = [agent("root"), agent("a", "root"), agent("b", "root"), agent("c", "a")];
  const busy = list.map((one) => ({ ...one, status: "blocked_internal", queue_length: 9 }));
  const places = (agents) =>
    layOut(grow(agents)).items.map(({ key, depth, row }) => [key, depth, row]);
  assert.deepEqual(places(list), places(busy));
  assert.deepEqual(places(list), [
    ["root", 0, 0.5],
    ["a", 1, 0],
    ["c", 2, 0],
    ["b", 1, 1],
  ]);
  const more = layOut(grow([...list, agent("d", "b")])).items;
  assert.deepEqual(
    more.slice(1, 3).map(({ key, row }) => [key, row]),
    [
      ["a", 0],
      ["c", 0],
    ],
  );
});

test("orphans are roots, and a ring of parents ends", () => {
  assert.deepEqual(
    layOut(grow([agent("x", "gone")])).items.map((item) => item.key),
    ["x"],
  );
  assert.deepEqual(layOut(grow([agent("x", "y"), agent("y", "x")])).items, []);
});

test("big families are folded to counts by role, those in trouble stay visible", () => {
  const list = [agent("root"), ...children(FOLD_ABOVE + 1, "root")];
  list[3].status = "failed";
  const folded = layOut(grow(list));
  assert.equal(folded.items.length, 3);
  assert.equal(folded.items[0].isFolded, true);
  assert.equal(folded.items[1].agent.id, list[3].id);
  assert.deepEqual(
    [folded.items[2].group.count, folded.items[2].group.statuses],
    [FOLD_ABOVE, { idle: FOLD_ABOVE }],
  );
  const opened = layOut(grow(list), new Set(["root"]));
  assert.equal(opened.items.length, FOLD_ABOVE + 2);
  assert.equal(opened.items[0].isOpened, true);
  assert.equal(
    layOut(grow([agent("root"), ...children(FOLD_ABOVE, "root")])).items.length,
    FOLD_ABOVE + 1,
  );
});

test("families that the host has counted are shown as counts", () => {
  const families = [
    { role: { name: "w" }, status: "idle", count: 70 },
    { role: { name: "w" }, status: "failed", count: 2 },
    { role: { name: "v" }, status: "idle", count: 1 },
  ];
  const { items } = layOut(grow([agent("root", undefined, { families })]));
  assert.deepEqual(
    items.slice(1).map(({ group }) => [group.role, group.count, group.statuses]),
    [
      ["w", 72, { idle: 70, failed: 2 }],
      ["v", 1, { idle: 1 }],
    ],
  );
});

test("ten thousand agents are laid out in a moment", () => {
  const list = [agent("root")];
  for (let i = 0; i < 1000; i += 1) {
    list.push(agent(`l${i}`, i === 0 ? "root" : `l${Math.floor((i - 1) / 6)}`));
    list.push(...children(9, `l${i}`));
  }
  const started = process.cpuUsage();
  const { items } = layOut(grow(list));
  const { user } = process.cpuUsage(started);
  assert.ok(items.length > 5000);
  assert.ok(user < 2e6, `${user} µs`);
});

test("a wait inside a folded family points to the family", () => {
  const list = [agent("root"), agent("user"), ...children(FOLD_ABOVE + 1, "root")];
  const layout = layOut(grow(list));
  const waits = [
    { agent: "root", waits_for: ["root0"] },
    { agent: "root", waits_for: ["root1", "nobody"] },
  ];
  const edges = waitEdges(layout, list, waits);
  assert.equal(edges.length, 1);
  assert.deepEqual([edges[0].from.key, edges[0].to.key, edges[0].count], ["root", "root/r", 2]);
});

const ROWS = [
  { line: 1, event: "sent", agent: "b", type: "task", detail: "to root" },
  { line: 2, event: "blocked", agent: "b", detail: '{"to":"blocked_user","waits_for":["user"]}' },
  { line: 3, event: "processed", agent: "root", type: "task" },
  { line: 4, event: "unblocked", agent: "b", detail: "{}" },
  { line: 5, event: "unblocked", agent: "z", detail: "{broken" },
  { line: 6, event: "sent", agent: "user", type: "x", detail: "to All" },
  { line: 7, event: "order", agent: "system" },
];

test("lanes stand in order: user, root, then as agents appear", () => {
  assert.deepEqual(laneOrder(ROWS), ["user", "root", "b", "z"]);
  assert.equal(receiverOf(ROWS[0]), "root");
  assert.equal(receiverOf({ event: "sent", other: "c", detail: "to x" }), "c");
  assert.equal(kindOf({ event: "dead" }), "bad");
});

test("the name of a lane is parted where words meet, and never wider than its lane", () => {
  assert.deepEqual(nameLines("editor", 10), ["editor"]);
  assert.deepEqual(nameLines("sports-translator", 10), ["sports-", "translator"]);
  assert.deepEqual(nameLines("a_b_translators_of", 10), ["a_b_", "translato…"]);
  assert.deepEqual(nameLines("x".repeat(30), 10), ["x".repeat(10), `${"x".repeat(9)}…`]);
  assert.deepEqual(nameLines("总编室审校员们的组长", 10), ["总编室审校", "员们的组长"]);
  const smiles = (count) => "\u{1f600}".repeat(count);
  assert.deepEqual(nameLines(smiles(9), 5), [smiles(2), `${smiles(2)}…`]);
  assert.doesNotMatch(nameLines("\u202egnp.exe and more", 9).join(""), /\u202e/);
});

test("the diagram has an item for each line and a bar for each wait", () => {
  const { items, bars } = diagram(ROWS);
  assert.deepEqual(
    items.map((item) => item.kind),
    ["arrow", "wait", "done", "go", "go", "arrow", "note"],
  );
  assert.deepEqual([items[0].lane, items[0].to, items[5].to, items[6].lane], [2, 1, "All", null]);
  assert.deepEqual(
    bars.map(({ agent: id, from, to, isUser }) => [id, from, to, isUser]),
    [
      ["b", 1, 3, true],
      ["z", null, 4, false],
    ],
  );
  assert.deepEqual(diagram([]), { lanes: [], items: [], bars: [] });
});

test("a diagram for Mermaid has no signs that mean something to it", () => {
  const text = mermaid([{ event: "sent", agent: "a;b", type: "x#y<z>%%", detail: "to end" }]);
  assert.equal(
    text,
    "sequenceDiagram\n  participant p1 as a#59;b\n  participant p2 as end\n  p1->>p2: x#35;y#60;z#62;#37;#37;\n",
  );
});

test("the form of changes sends what was changed", () => {
  const body = { to: "mill", amount: 120, express: false, list: [1] };
  const fields = fieldsOf(body);
  assert.deepEqual(
    fields.map((field) => field.kind),
    ["text", "number", "flag", "json"],
  );
  const given = { to: "mill", amount: "50", express: true, list: "[1]" };
  assert.deepEqual(readFields(fields, given), { changes: { amount: 50, express: true } });
  assert.deepEqual(readFields(fields, { ...given, amount: "fifty" }), { error: "amount" });
  assert.deepEqual(readFields(fields, { ...given, list: "[" }), { error: "list" });
  const free = fieldsOf("text");
  assert.deepEqual(readFields(free, { "": '{"a":1}' }), { changes: { a: 1 } });
  assert.deepEqual(readFields(free, { "": " shorter, please\n" }), {
    changes: { text: "shorter, please" },
  });
  assert.deepEqual(readFields(free, { "": '{"a":' }), { error: "JSON" });
  assert.deepEqual(readFields(free, { "": "  " }), { changes: {} });
});

test("a replay says where it differs, and how often", () => {
  const findings = [{ difference: "question" }, { runs: 3, differences: 1500 }];
  const { differences, total } = outcomeOf({ state: "different", findings });
  assert.deepEqual([differences.length, total], [1, 1500]);
  assert.equal(outcomeOf({ state: "same", findings: [{ differences: 0 }] }).total, 0);
  assert.equal(outcomeOf({ state: "running" }).total, 0);
  assert.equal(sideText(undefined), null);
  assert.equal(sideText([true, null]), "true");
  assert.equal(sideText({ effect: "send", arguments: ["a", 1] }), 'send("a",1)');
  assert.equal(sideText({ end: "raised", message: "no" }), "raised: no");
  assert.equal(sideText({ a: 1 }), '{"a":1}');
});

test("the names of policies are those of the folder", () => {
  const folder = new URL("../policies/", web);
  const isFolder = (name) => statSync(new URL(name, folder)).isDirectory();
  const kinds = readdirSync(folder).filter(isFolder);
  const names = (kind) =>
    readdirSync(new URL(`${kind}/`, folder))
      .filter((name) => name.endsWith(".lua"))
      .map((name) => name.slice(0, -4))
      .sort();
  assert.deepEqual(SHIPPED, Object.fromEntries(kinds.map((kind) => [kind, names(kind)])));
  const policies = [{ kind: "contacts", name: "strict" }];
  assert.deepEqual(suggestions("contacts", policies), ["open", "strict"]);
  assert.deepEqual(suggestions("unheard", policies), []);
});

function filesBelow(folder) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });
}

const files = filesBelow(web.pathname);
const en = JSON.parse(readFileSync(new URL("en.json", web)));

test("both languages have the same texts with the same places to fill", () => {
  const zh = JSON.parse(readFileSync(new URL("zh.json", web)));
  const names = (texts) =>
    Object.keys(texts)
      .filter((key) => !key.endsWith("_one"))
      .sort();
  const places = (text) => [...text.matchAll(/\{\w+\}/g)].map(String).sort();
  assert.deepEqual(names(en), names(zh));
  for (const key of names(en)) assert.deepEqual(places(en[key]), places(zh[key]), key);
});

test("every text that the page names is there", () => {
  for (const file of files.filter((name) => name.endsWith(".js"))) {
    for (const [, key] of readFileSync(file, "utf8").matchAll(/\bt\(\s*"([^"]+)"/g)) {
      assert.ok(key in en, `${file}: ${key}`);
    }
    // Where a part of the name is a value; which values there are, tests in the browser show.
    for (const [, key] of readFileSync(file, "utf8").matchAll(/\bt\(\s*`([^`]+)`/g)) {
      const parts = key.split(/\$\{[^}]+\}/).map((part) => part.replaceAll(".", "\\."));
      const fits = new RegExp(`^${parts.join(".+")}$`);
      assert.ok(
        Object.keys(en).some((name) => fits.test(name)),
        `${file}: ${key}`,
      );
    }
  }
});

const source = (name) => readFileSync(new URL(`../core/${name}`, web), "utf8");

test("what the host calls waits, their ends and states has a text", () => {
  const namesIn = (text) => [...text.matchAll(/"([a-z_]+)"/g)].map(([, name]) => name);
  const [, waits] = /wait_names\[\] = \{([^}]+)\}/.exec(source("kernel/turns/wait.c"));
  const [, ends] = /SOC_WHY_END_MAP\(E\)([^]+?)\n\n/.exec(source("kernel/operations/why.h"));
  const [, states] = /SOC_STATUS_MAP\(S\)([^]+?)\n\n/.exec(source("kernel/status.h"));
  const kinds = namesIn(waits).filter((name) => name !== "none");
  assert.ok(kinds.length > 5 && namesIn(ends).length > 5 && namesIn(states).length > 5);
  for (const key of [
    ...[...kinds, "retry"].map((name) => `wait.${name}`),
    ...namesIn(ends).map((name) => `end.${name}`),
    ...namesIn(states).map((name) => `state.${name}`),
  ]) {
    assert.ok(key in en, key);
  }
});

test("every event of the activity log has a text, and nothing else has", () => {
  const core = filesBelow(new URL("../core/", web).pathname).filter((name) => name.endsWith(".c"));
  const named = new Set();
  const note = (text, pattern) =>
    [...text.matchAll(pattern)].forEach(([, name]) => named.add(name));
  for (const file of core)
    note(readFileSync(file, "utf8"), /\b(?:soc_trace_(?:event\w*|keep)|trace)\([^;"]*"([a-z_]+)"/g);
  note(source("kernel/tap.c"), /\{"([a-z_]+)", "[a-z_.]+"\}/g);
  const api = readFileSync(new URL("../docs/lua-api.md", web), "utf8");
  const [, table] = /events of the activity log, with[^]*?--- \|\n([^]*?)\n\n/.exec(api) ?? [];
  for (const row of table.split("\n")) note(row.split("|")[1], /`([a-z_]+)(?: \{[^`]*)?`/g);
  for (const name of ["sent", "resent", "checkpoint_end", "log", "remote_refused"])
    assert.ok(named.has(name), name);
  const texts = Object.keys(en).filter((key) => key.startsWith("event."));
  assert.deepEqual(texts.sort(), [...named].map((name) => `event.${name}`).sort());
});

test("every error of the host has a sentence of its own", () => {
  const [, table] = /named\[\] = \{([^]+?)\n\};/.exec(source("bridge/http/statuses.c"));
  const named = [...table.matchAll(/\{"([a-z_]+)", (\d+)\}/g)];
  assert.ok(named.length > 50);
  for (const [, name, status] of named) {
    assert.ok(`failed.${name}` in en, name);
    assert.ok(`error.${status}` in en, status);
  }
});

test("the queue and the cost of an agent at a line are those of the lines until then", () => {
  const task = (task_id, state, more) => ({ task_id, state, priority: "P2", ...more });
  const tasks = [task("a", "pending"), task("b", "completed"), task("c", "processing")];
  const { pending, processing, completed } = queueOf([
    ...tasks,
    task("d", "pending", { priority: "P0" }),
  ]);
  assert.deepEqual(
    pending.map((one) => one.task_id),
    ["d", "a"],
  );
  assert.deepEqual([processing.task_id, completed], ["c", ["b"]]);
  assert.equal(queueOf([]).processing, undefined);
  const line = (task_id, model, calls) => ({
    agent: "x",
    task_id,
    detail: JSON.stringify({ model, calls, cost: calls }),
  });
  const lines = [line("t", "m", 1), line("t", "n", 1), line(undefined, "m", 5), line("t", "m", 2)];
  assert.equal(totalUsage(usageThen(lines)).calls, 8);
  assert.deepEqual(usageThen([]), []);
});

// An address elsewhere: with a protocol or with that of the page. `//` begins a comment of a module
// as well, but not right behind a quote, an equals sign or a parenthesis.
const outside = (text, file) =>
  text.match(/\b(?:https?|wss?|ftp):\/\/\S+|["'`(=]\s*\/\/[^\s/]\S*/) ??
  (/\.(?:css|html|json)$/.test(file) ? text.match(/(?<!:)\/\/\w\S*|@import\s+\S+/) : null);

test("addresses elsewhere are found however they are written", () => {
  for (const text of [
    'fetch("//host/x")',
    "url(//host/x)",
    "url( //host)",
    "import '//host/x.js'",
    "src=//host",
    "fetch(`//${host}/`)",
    'new WebSocket("ws://host")',
  ])
    assert.ok(outside(text, "x.js"), text);
  for (const text of ['@import "x.css"', "//host"]) assert.ok(outside(text, "x.css"), text);
  assert.equal(outside("// a comment\nlet a; // another, of (this)", "x.js"), null);
});

test("the page is small, loads nothing from elsewhere and hands over no HTML", () => {
  const sizes = files.map((file) => statSync(file).size);
  assert.ok(sizes.reduce((sum, size) => sum + size, 0) <= 400 * 1024);
  for (const file of files.filter((name) => !name.endsWith(".svg"))) {
    const text = readFileSync(file, "utf8");
    assert.ok(text.split("\n").length <= 301 || file.endsWith(".json"), `${file} is too long`);
    assert.equal(outside(text.replaceAll("http://www.w3.org/2000/svg", ""), file), null, file);
    assert.doesNotMatch(
      text,
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/,
      file,
    );
  }
});

test("type, spaces and corners are those of the scales", () => {
  const own =
    /^ *(?:padding|margin|gap|row-gap|column-gap|border-radius|font)[\w-]*:.*\d(?:px|r?em)\b/m;
  for (const file of files.filter((name) => name.endsWith(".css") && !/scales/.test(name)))
    assert.equal(own.exec(readFileSync(file, "utf8"))?.[0], undefined, file);
});

test("what an agent did is not what was done with its messages", () => {
  const lines = ["a", "b", "a", "a", "b"].map((agent, i) => ({ agent, other: "a", line: i + 1 }));
  const numbers = (max) => deedsOf(lines, "a", max).map(({ line }) => line);
  assert.deepEqual(numbers(9), [4, 3, 1]);
  assert.deepEqual(numbers(2), [4, 3]);
  assert.deepEqual(deedsOf(lines, "c", 9), []);
});

test("items: the one on screen stays while it is in the list", () => {
  const items = [{ id: "urgent" }, { id: "read" }];
  assert.equal(shownId(items, "", "read"), "read");
  assert.equal(shownId(items, "urgent", "read"), "urgent");
  assert.equal(shownId(items, "", "decided"), "urgent");
  assert.equal(shownId([], "", "decided"), null);
});

test("items: their state, the one shown and the next", () => {
  assert.equal(stateOf({ state: "withdrawn" }), "withdrawn");
  assert.equal(stateOf({}), "open");
  assert.equal(stateOf({}, "decided"), "decided");
  assert.equal(stateOf({}, "all"), "open");
  assert.equal(stateOf({ decision: "reject" }, "all"), "decided");
  const items = [{ id: "a" }, { id: "b" }, { id: "c" }];
  assert.equal(shownId(items, undefined), "a");
  assert.equal(shownId(items, "gone"), "gone");
  assert.equal(shownId([], undefined), null);
  assert.equal(nextOf(items, "b").id, "c");
  assert.equal(nextOf(items, "c").id, "b");
  assert.equal(nextOf(items, "gone").id, "a");
  assert.equal(nextOf([{ id: "a" }], "a"), null);
});

test("the chain of waits of a past moment leads to its end", () => {
  const agents = [
    { id: "root", status: "blocked_internal" },
    { id: "editor", status: "blocked_internal" },
    { id: "writer", status: "blocked_user" },
    { id: "checker", status: "paused" },
    { id: "reader", status: "idle" },
    { id: "courier", status: "idle", external: true },
    { id: "a", status: "blocked_internal" },
    { id: "b", status: "blocked_internal" },
  ];
  const wait = (agent, kind, ...waits_for) => ({ agent, kind, waits_for });
  const waits = [
    wait("root", "reply", "editor"),
    wait("editor", "reply", "writer"),
    wait("writer", "human", "user"),
    wait("a", "reply", "b"),
    wait("b", "reply", "a"),
  ];
  const told = (id, more = []) =>
    chainOf(agents, [...waits, ...more], id)
      .map((step) => step.end ?? step.agent)
      .join(" ");
  assert.equal(told("root"), "root editor person");
  assert.equal(told("reader"), "idle");
  assert.equal(told("a"), "a cycle");
  assert.equal(told("reader", [wait("reader", "reply", "checker")]), "reader paused");
  assert.equal(told("reader", [wait("reader", "reply", "courier")]), "reader outside");
  assert.equal(told("reader", [wait("reader", "reply", "gone")]), "reader silence");
  assert.equal(told("checker", [wait("checker", "reply", "reader")]), "checker silence");
  assert.equal(told("reader", [wait("reader", "sleep")]), "sleep");
  assert.equal(told("reader", [wait("reader", "receive")]), "silence");
  assert.equal(told("reader", [wait("reader", "task")]), "host");
  // The log has no line for what a busy agent does: neither work nor silence may be claimed.
  for (const status of ["working", "ending"]) {
    agents.push({ id: status, status });
    assert.equal(told(status), "unlogged");
    assert.equal(told("reader", [wait("reader", "reply", status)]), "reader unlogged");
  }
});

test("budgets: the society's first, then those with the least left", () => {
  const budget = (of, id, left, limit) => ({ of, id, what: "tokens", left, limit });
  const list = [
    budget("agent", "b", 50, 100),
    budget("agent", "a", 50, 100),
    budget("task", "t", 0, 10),
    budget("society", undefined, 9, 10),
  ];
  assert.deepEqual(
    tightest(list).map((one) => one.id ?? one.of),
    ["society", "t", "a", "b"],
  );
});
