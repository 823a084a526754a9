// The page in front of the real program, SOCIETY.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { after, before, test } from "node:test";
import { accessibility, eventually, go, launch, open, overflow, settle } from "./browser.mjs";
import { Program } from "./program.mjs";

let browser;
let newsroom; // it works while other tests run: its first question takes a while
before(async () => {
  browser = await launch();
  newsroom = await Program.start(patientNewsroom());
});
after(async () => {
  await browser.close();
  newsroom.end();
});

// The newsroom of the demo, but for its patience: a question stays open until it was looked at.
function patientNewsroom() {
  const app = readFileSync(new URL("../../examples/demo/newsroom.lua", import.meta.url), "utf8");
  const patient = app.replace("PATIENCE_MS = 60 * 1000", "PATIENCE_MS = 3600 * 1000");
  assert.notEqual(patient, app);
  return patient;
}

async function openQuestion() {
  let item;
  await eventually("a question", async () => {
    [item] = (await newsroom.get("/inbox?state=open")).items;
    return item;
  });
  return item;
}

// Runs an app and, when it is reached by HTTP, `steps`.
async function running(app, steps, options) {
  const program = await Program.start(app, options);
  try {
    await steps(program);
  } finally {
    program.end();
  }
}

async function look(program, also = "none") {
  return open(browser, program.url, { allow: new RegExp(also) });
}

// Asks the person as often as somebody says so.
const ASKER = `
local society = require("society")
society.config { name = "asker", history = "full" }
society.role { id = "clerk", name = "clerk", behaviour = function(agent, message)
  local verdict = agent:escalate { title = message.payload.text, options = { "yes", "no" } }
  agent.state.count = (agent.state.count or 0) + 1
  return { text = verdict.decision }
end }
society.root(function(root, message)
  if message.from ~= "user" then return end
  if not root.state.clerk then
    root.state.clerk = root:spawn_agent("clerk", { objective = "ask", constraints = {}, inputs = "i",
      outputs = "o", completion_criteria = "c" }, { id = "clerk" }).id
  end
  root:send_message { to = "clerk", payload = message.payload }
end)
society.main(function(user)
  user:send_message { to = "root", payload = { text = "First question?" } }
end)
`;

const TRIES = 5;

test("one tab decides by keyboard, another sees it within a second", async (context) => {
  await running(ASKER, async (program) => {
    const one = await look(program);
    const two = await look(program);
    const delays = [];
    for (let i = 0; i < TRIES; i += 1) {
      if (i > 0) await program.post("/intake", { text: `Question ${i}?` });
      for (const { page } of [one, two]) {
        await go(page, "#/inbox");
        await page.waitForSelector(".items [data-id]");
        await settle(page);
      }
      await two.page.evaluate(() => {
        window.seen = new Promise((resolve) => {
          const check = () =>
            document.querySelector(".items [data-id]") === null && resolve(Date.now());
          new MutationObserver(check).observe(document.getElementById("main"), {
            childList: true,
            subtree: true,
          });
        });
      });
      const id = await one.page.getAttribute(".items [data-id]", "data-id");
      const pressed = Date.now();
      await one.page.keyboard.press("a");
      await one.page.waitForSelector("text=Nothing is waiting for you");
      delays.push((await two.page.evaluate(() => window.seen)) - pressed);
      const item = await program.get(`/inbox/${id}`);
      assert.equal(item.decision, "approve");
      for (const filters of [`item=${id}`, `item=${id}&state=all`, `item=${id}&state=decided`]) {
        await go(one.page, `#/inbox?${filters}`);
        await one.page.waitForSelector(`article[data-id="${id}"] .verdict`);
        assert.equal(await one.page.locator('[data-do="approve"]').count(), 0, filters);
      }
    }
    // The median: one hiccup of the machine is not the page's.
    context.diagnostic(`seen after ${delays} ms`);
    delays.sort((a, b) => a - b);
    assert.ok(delays[TRIES >> 1] <= 1000, `${delays} ms`);
    assert.deepEqual([...one.problems, ...two.problems], []);
    await one.close();
    await two.close();
  });
});

const EVIL = `
local society = require("society")
local EVIL = { "<img src=x onerror=window.hacked=1>", "<script>window.hacked=1</script>",
  "\\u{202e}txet desrever\\u{202c}", "\\"><svg onload=window.hacked=1>", ("x"):rep(1000000), ("a"):rep(300) }
society.config { name = "evil" }
for i, text in ipairs(EVIL) do
  society.role { id = "role" .. i, name = text:sub(1, 200), behaviour = function(agent, message)
    agent.state.evil = text:sub(1, 500000)
    agent:send_message { to = "root", payload = { text = text, [text:sub(1, 60)] = text:sub(1, 60) } }
    agent:escalate { title = text:sub(1, 2000), body = text, options = { text:sub(1, 200), "b" } }
  end }
end
society.root(function(root, message)
  if message.from ~= "user" then return end
  for i, text in ipairs(EVIL) do
    local some = text:sub(1, 2000)
    assert(root:spawn_agent("role" .. i, { objective = some, constraints = { some }, inputs = some,
      outputs = some, completion_criteria = some }, { id = "evil" .. i }))
    root:send_message { to = "evil" .. i, payload = text }
  end
end)
society.main(function(user) user:send_message { to = "root", payload = EVIL[1] } end)
`;

test("hostile texts of real agents are inert", async () => {
  await running(EVIL, async (program) => {
    const { page, problems, close } = await look(program);
    await eventually(
      "six questions",
      async () => (await program.get("/inbox?state=open")).items.length === 6,
    );
    for (const view of [
      "#/now",
      "#/agents?selected=evil1",
      "#/agent/evil1",
      "#/agent/evil3",
      "#/timeline",
      "#/tasks",
      "#/inbox",
      "#/dead",
      "#/policies",
      "#/cost",
    ]) {
      await go(page, view);
      assert.equal(await page.evaluate(() => window.hacked), undefined, view);
      assert.equal(await page.locator("#main").locator("script, img, iframe").count(), 0, view);
      assert.doesNotMatch(await page.textContent("#main"), /[\u202a-\u202e]/, view);
      assert.deepEqual(await overflow(page), [], view);
    }
    for (const item of (await program.get("/inbox?state=open")).items) {
      await go(page, `#/inbox?item=${encodeURIComponent(item.id)}`);
      await page.waitForSelector(`article[data-id="${item.id}"]`);
    }
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.deepEqual(problems, []);
    await close();
  });
});

function statusWithHost(url, path, host) {
  return new Promise((resolve, reject) => {
    request(url + path, { headers: { Host: host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
}

test("an address by another host name is refused, and the policy of the page is strict", async () => {
  await running(ASKER, async (program) => {
    for (const path of ["/", "/main.js", "/api/v1/stats"]) {
      assert.equal(await statusWithHost(program.url, path, "evil.example"), 403, path);
    }
    const response = await fetch(`${program.url}/`);
    assert.match(response.headers.get("content-security-policy"), /default-src 'self'/);
    assert.doesNotMatch(response.headers.get("content-security-policy"), /unsafe/);

    // A browser that a name of somebody else leads here gets nothing, whatever it opens.
    const misled = await launch(["--host-resolver-rules=MAP evil.example 127.0.0.1"]);
    try {
      const page = await misled.newPage();
      const { port } = new URL(program.url);
      for (const [host, status] of [
        ["127.0.0.1", 200],
        ["evil.example", 403],
      ])
        for (const path of ["/", "/api/v1/stats"]) {
          const answer = await page.goto(`http://${host}:${port}${path}`);
          assert.equal(answer.status(), status, host + path);
        }
      assert.equal(await page.locator("#main").count(), 0);
    } finally {
      await misled.close();
    }
  });
});

test("a link of society open signs the browser in, and it may decide", async () => {
  await running(
    ASKER,
    async (program) => {
      const { page, problems, close } = await look(program, "401");
      await page.waitForSelector("text=society open");
      await page.goto(program.login());
      await go(page, "#/inbox");
      await page.waitForSelector(".items [data-id]");
      await page.keyboard.press("r");
      await page.waitForSelector("text=Nothing is waiting for you");
      assert.deepEqual(problems, []);
      await close();
    },
    { isOpen: false },
  );
});

// Agents that wait, each for another end: for_asker waits for asker, which waits for a person.
const WAITS = `
local society = require("society")
society.config { name = "waits",
  llm = { provider = "openai", base_url = "@SERVER@/v1", model = "slow" } }
society.policy("contacts", "open")
society.policy("supervision", "backoff", { retries_max = 0, failures_max = 1 })
local BRIEF = { objective = "wait", constraints = {}, inputs = "i", outputs = "o",
  completion_criteria = "c" }
local HOUR = 3600000
local function print_it(agent, message)
  if message.payload.text == "paper" then agent.state.has_paper = true return end
  assert(agent.state.has_paper, "no paper")
  agent:send_message { to = "for_" .. agent.id, payload = "printed" }
end
local BEHAVIOURS = {
  asker = function(agent) return agent:escalate { title = "May I?" } end,
  sleeper = function(agent) agent:sleep(HOUR) end,
  thinker = function(agent) agent:chat { messages = { { role = "user", content = "hm" } } } end,
  caller = function(agent) agent:http { url = "@SERVER@/", timeout_ms = HOUR } end,
  listener = function(agent) return agent:receive { type = "general", timeout_ms = HOUR } end,
  rester = function() return "rested" end,
  breaker = print_it, printer = print_it,
  waiter = function(agent, message)
    agent.state.answer = agent:request { to = message.payload.to, payload = "go", timeout_ms = HOUR }
  end,
  follower = function(agent, message)
    agent.state.answer = agent:receive { from = message.payload.to, timeout_ms = HOUR }
  end,
}
for name, behaviour in pairs(BEHAVIOURS) do
  society.role { id = name, name = name, behaviour = behaviour }
end
local NAMES = { "asker", "sleeper", "thinker", "caller", "listener", "rester", "breaker", "printer" }
society.root(function(root, message)
  if message.from ~= "user" then return end
  for _, name in ipairs(NAMES) do
    root:spawn_agent(name, BRIEF, { id = name })
    if name == "rester" then root:pause(name) end
    root:spawn_agent(name == "printer" and "follower" or "waiter", BRIEF,
      { id = "for_" .. name, message = { to = name } })
  end
  root:send_message { to = "printer", payload = "print" }
  root:send_message { to = "breaker", payload = "print" }
  root:send_message { to = "breaker", payload = "print" }
end)
society.main(function(user) user:send_message { to = "root", payload = "go" } end)
`;

// A server that takes requests and never answers.
async function mute(steps) {
  const server = createServer(() => {});
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await steps(`http://127.0.0.1:${server.address().port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("why: each real end of a chain, and the buttons that end it", async () => {
  await mute(async (address) => {
    await running(WAITS.replaceAll("@SERVER@", address), async (program) => {
      const { page, problems, close } = await look(program);
      for (const [name, end, ...buttons] of [
        ["asker", /person has to decide/, "decide"],
        ["sleeper", /sleeps until/],
        ["thinker", /model is thinking/],
        ["caller", /server was asked/],
        ["listener", /No one is about to send/, "send"],
        ["rester", /is paused/, "resume"],
        ["printer", /No one is about to send/, "redeliver"],
      ]) {
        await go(page, `#/agent/for_${name}`);
        const last = page.locator(`.chain .end[data-id="${name}"]`);
        await last.filter({ hasText: end }).waitFor();
        assert.deepEqual(await page.locator(".chain > li").count(), 2, name);
        await eventually(`${name}: ${buttons}`, async () => {
          const shown = await last
            .locator("[data-do]")
            .evaluateAll((list) => list.map((one) => one.dataset.do));
          return shown.filter((one) => one !== "cancel").join() === buttons.join();
        });
        assert.equal(await page.locator('.chain > li:first-child [data-do="cancel"]').count(), 1);
      }

      // Nobody waits for an agent that has failed: it is the end of its own chain.
      await go(page, "#/agent/breaker");
      await page.locator(".chain .end", { hasText: /failed too often/ }).waitFor();
      await page.waitForSelector('.chain [data-do="redeliver"]');
      await page.click('.chain [data-do="resume"]');
      await page.waitForSelector("text=It is not waiting.");

      // It is over when the chain is gone.
      const over = () => page.waitForSelector("text=It is not waiting.");
      await go(page, "#/agent/for_rester");
      await page.click('.chain [data-do="resume"]');
      await over();
      await go(page, "#/agent/for_listener");
      await page.click('.chain [data-do="send"]');
      await page.fill("dialog input", "ten");
      await page.keyboard.press("Enter");
      await over();
      await program.post("/messages", { to: "printer", payload: { text: "paper" } });
      await go(page, "#/agent/for_printer");
      await page.click('.chain [data-do="redeliver"]');
      await over();
      await go(page, "#/agent/for_sleeper");
      await page.click('.chain > li:first-child [data-do="cancel"]');
      await page.click('dialog [data-do="confirm"]');
      await over();
      await go(page, "#/agent/for_asker");
      await page.click('.chain [data-do="decide"]');
      await page.waitForSelector('[data-view="inbox"] article [data-do="approve"]');
      await page.keyboard.press("a");
      await page.waitForSelector("text=Nothing is waiting for you");
      await go(page, "#/agent/for_asker");
      await over();
      assert.deepEqual(problems, []);
      await close();
    });
  });
});

test("a token sees the buttons of what it may do, and elsewhere why there is none", async () => {
  await running(
    ASKER,
    async (program) => {
      const as = async (scopes) => {
        const one = await look(program, "401");
        const Authorization = `Bearer ${program.token(scopes)}`;
        await one.page.setExtraHTTPHeaders({ Authorization });
        await one.page.reload();
        return one;
      };
      const reader = await as("read");
      await go(reader.page, "#/agent/clerk");
      await reader.page.waitForSelector("text=may not end this wait");
      assert.equal(await reader.page.locator('.chain [data-do="decide"]').count(), 0);
      assert.equal(await reader.page.isDisabled('[data-do="pause"]'), true);
      await go(reader.page, "#/inbox");
      await reader.page.waitForSelector("text=Your token may not decide");
      assert.equal(await reader.page.locator('[data-do="approve"]').count(), 0);
      await reader.page.keyboard.press("a");

      const decider = await as("read,decide");
      await go(decider.page, "#/agent/clerk");
      assert.equal(await decider.page.isDisabled('[data-do="pause"]'), true);
      await decider.page.click('.chain [data-do="decide"]');
      await decider.page.click('[data-do="approve"]');
      await decider.page.waitForSelector("text=Nothing is waiting for you");
      await reader.page.waitForSelector("text=Nothing is waiting for you");
      assert.deepEqual([...reader.problems, ...decider.problems], []);
      await reader.close();
      await decider.close();
    },
    { isOpen: false },
  );
});

test("the newsroom: every view, and why an editor waits", async () => {
  const { page, problems, close } = await look(newsroom);
  for (const view of [
    "#/now",
    "#/agents",
    "#/agent/city",
    "#/timeline",
    "#/tasks",
    "#/inbox",
    "#/dead",
    "#/policies",
    "#/cost",
  ]) {
    await go(page, view);
    assert.equal(await page.locator('[data-do="retry"]').count(), 0, view);
    assert.deepEqual(await accessibility(page), [], view);
  }
  await page.waitForSelector('[data-id="society"] meter');
  assert.match(await page.textContent('[data-id="society"]'), /of \$1\.00 left/);
  const item = await openQuestion();
  await go(page, `#/agent/${item.agent}`);
  await page.waitForSelector('.chain [data-do="decide"]');
  await page.click('.chain [data-do="decide"]');
  await page.waitForSelector(`article[data-id="${item.id}"] .came-by`);
  assert.match(
    (await page.locator(".came-by li").allTextContents()).join("\n"),
    new RegExp(`^user → root .*\\nroot → ${item.agent} .*\\bstory: ${/\d+/.exec(item.title)}\\b`),
  );
  assert.deepEqual(problems, []);
  await close();
});

test("the past: every view that has one shows what was so at that line", async () => {
  const { page, problems, close } = await look(newsroom);
  await eventually("some lines", async () => (await newsroom.get("/stats")).sent > 10);
  await go(page, "#/now");
  let line;
  await eventually("their lines", async () => {
    line = Number(await page.getAttribute("footer [data-line]", "data-line"));
    return line > 10;
  });
  for (const view of ["now", "agents", "agent/city", "timeline", "tasks", "inbox", "policies"]) {
    await go(page, `#/${view}?at=${line - 2}`);
    await page.waitForSelector('[data-live="past"]');
    assert.equal(await page.locator('[data-do="retry"]').count(), 0, view);
  }
  const count = () => page.locator(".tree .box").count();
  await go(page, "#/agents?at=3");
  const then = await count();
  await go(page, "#/agents");
  const now = await count();
  assert.ok(then > 0 && then < now, `${then} of ${now}`);
  await page.keyboard.press("[");
  await page.waitForSelector('[data-live="past"]');

  // What models cost an agent until then, and nothing of what came later.
  const paid = async () => (await newsroom.get("/activity?type=usage_changed&after=0")).items;
  await eventually("a call of a model", async () => (await paid()).length > 0);
  const [{ agent, line: first, detail }] = await paid();
  const { calls, input_tokens, output_tokens } = JSON.parse(detail);
  const cost = page.locator(".card", { has: page.locator("h2", { hasText: "Cost" }) });
  await go(page, `#/agent/${agent}?at=${first}`);
  assert.match(
    await cost.textContent(),
    new RegExp(`Calls${calls}Tokens${(input_tokens + output_tokens).toLocaleString("en")}`),
  );
  await go(page, `#/agent/${agent}?at=${first - 1}`);
  assert.equal(await cost.count(), 0);
  assert.deepEqual(problems, []);
  await close();
});

test("a moment is the same later, for others, and event by event", async () => {
  await running(ASKER, async (program) => {
    const one = await look(program);
    await go(one.page, "#/inbox");
    await one.page.waitForSelector("article [data-do='approve']");
    const item = await one.page.getAttribute("article", "data-id");
    const line = (await program.get("/activity?limit=1")).as_of;
    await one.page.keyboard.press("r");
    await one.page.waitForSelector("text=Nothing is waiting for you");
    await eventually("an idle clerk", async () => {
      const answer = await program.get("/agents/clerk");
      return (answer.items?.[0] ?? answer).status === "idle";
    });
    await program.post("/intake", { text: "Another question?" });

    const two = await look(program); // a colleague opens the links
    await go(two.page, `#/inbox?at=${line}`);
    await two.page.waitForSelector(`article[data-id="${item}"]`);
    assert.match(await two.page.textContent("article"), /First question\?.*still open/s);
    assert.match(await two.page.textContent("article .came-by"), /user.*root/s);
    assert.equal(await two.page.locator('[data-do="approve"], .verdict').count(), 0);
    await go(two.page, `#/agent/clerk?at=${line}`);
    await two.page.waitForSelector(".chain .end .verdict");
    assert.match(await two.page.textContent(".chain"), /person/);
    assert.equal(await two.page.locator('.chain [data-do], [data-do="terminate"]').count(), 0);
    await go(two.page, `#/now?at=${line}`);
    assert.match(await two.page.textContent("#main"), /First question\?/);
    await go(two.page, `#/agents?at=${line}`);
    await two.page.waitForSelector('.long [data-id="clerk"] .of-blocked_user');
    await go(two.page, `#/policies?at=${line}`);
    await two.page.waitForSelector('.policy[data-id="contacts"]');
    assert.equal(await two.page.locator('[data-do="replay"], [data-do="swap"]').count(), 0);

    await go(two.page, `#/timeline?at=${line}`);
    const selected = () => two.page.getAttribute(".event.selected", "data-line");
    for (let next = line; next < line + 3; next += 1) {
      await eventually(`line ${next}`, async () => Number(await selected()) === next);
      await two.page.keyboard.press("]");
    }
    assert.deepEqual([...one.problems, ...two.problems], []);
    await one.close();
    await two.close();
  });
});

test("what if: history runs again under another policy", async () => {
  const { page, problems, close } = await look(newsroom);
  await eventually("some messages", async () => (await newsroom.get("/stats")).sent > 10);
  await go(page, "#/policies");
  await page.selectOption('form.filters select[name="kind"]', "presentation");
  await page.fill('form.filters [name="name"]', "zh");
  await page.click('[data-do="replay"]');
  await page.waitForSelector(".difference");
  await page.waitForSelector("text=How messages are shown: zh");
  await page.reload(); // the address holds it
  await page.waitForSelector(".difference");
  await page.waitForSelector("text=How messages are shown: zh");

  // Each difference leads to its moment: a line of its agent until then, and the last such one
  // but for others of the same millisecond.
  const id = /replay=([^&]+)/.exec(page.url())[1];
  const answer = await newsroom.get(`/replays/${id}`);
  const { findings } = answer.items?.[0] ?? answer;
  const count = await page.locator(".difference a").count();
  const outcome = page.url();
  for (const nth of new Set([0, Math.floor(count / 2), count - 1])) {
    const { agent, time } = findings[nth];
    await page.locator(".difference a").nth(nth).click();
    await page.waitForSelector('[data-view="timeline"] .event.selected');
    assert.equal(new URLSearchParams(page.url().split("?")[1]).get("agent"), agent);
    const line = Number(await page.getAttribute(".event.selected", "data-line"));
    const asked = `agent=${agent}&until=${Date.parse(time) + 1}&limit=1000`;
    const { items } = await newsroom.get(`/activity?${asked}`);
    const here = items.findIndex((row) => row.line === line);
    assert.ok(here >= 0, `${agent} at ${time}: line ${line}`);
    assert.ok(items.slice(here + 1).every((row) => row.time === time));
    await page.goto(outcome);
    await page.waitForSelector(".difference");
  }
  assert.deepEqual(problems, []);
  await close();
});
