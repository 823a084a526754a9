// The page in front of the real program, SOCIETY.

import assert from "node:assert/strict";
import { request } from "node:http";
import { after, before, test } from "node:test";
import { accessibility, eventually, go, launch, open, overflow, settle } from "./browser.mjs";
import { Program } from "./program.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

// Runs an app and, when it is reached by HTTP, `steps`.
async function running(app, steps, options) {
  const program = await Program.start(app, options);
  try {
    await steps(program);
  } finally {
    program.end();
  }
}

// Without a stream of events the page reads every two seconds, and the browser says why.
async function look(program, also = "none") {
  const allow = new RegExp((await program.has("/events")) ? also : `404|${also}`);
  return open(browser, program.url, { allow });
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

test("one tab decides by keyboard, another sees it within a second", async () => {
  await running(ASKER, async (program) => {
    const one = await look(program);
    const two = await look(program);
    const delays = [];
    for (let i = 0; i < 3; i += 1) {
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
      await one.page.waitForSelector("text=Nothing waits for you");
      delays.push((await two.page.evaluate(() => window.seen)) - pressed);
      const item = await program.get(`/inbox/${id}`);
      assert.equal(item.decision, "approve");
    }
    const isStreamed = await program.has("/events");
    assert.ok(!isStreamed || Math.min(...delays) <= 1000, `${delays} ms`);
    assert.deepEqual([...one.problems, ...two.problems], []);
    await one.close();
    await two.close();
  });
});

// A clock that counts: each line of it is in the log once.
const TICKER = `
local society = require("society")
society.config { name = "ticker" }
society.root(function(root, message)
  root.state.count = (root.state.count or 0) + 1
  root:send_message { to = "root", payload = { n = root.state.count }, delay_ms = 50 }
end)
society.main(function(user)
  user:send_message { to = "root", payload = "go" }
end)
`;

test("after kill -9 and a restart the open page goes on, with nothing missing or doubled", async (context) => {
  await running(TICKER, async (program) => {
    if (!(await program.has("/events"))) return context.skip("the program has no events");
    const { page, problems, close } = await look(program, "ERR_|Failed to load");
    await go(page, "#/timeline");
    await page.waitForSelector(".event");
    await page.waitForSelector('[data-live="live"]');
    for (let i = 0; i < 3; i += 1) {
      await program.kill();
      await page.waitForSelector('[data-live="offline"]');
      await program.restart();
      await page.waitForSelector('[data-live="live"]');
      const line = (await program.get("/stats")).sent;
      await eventually("more messages", async () => (await program.get("/stats")).sent > line + 10);
    }
    await page.click('[data-do="pause-updates"]');
    await settle(page);
    const shown = await page
      .locator(".event[data-line]")
      .evaluateAll((rows) => rows.map((row) => Number(row.dataset.line)));
    const { items } = await program.get("/activity?limit=1000");
    const first = shown[0];
    assert.ok(shown.length > 5);
    assert.deepEqual(
      shown,
      items.map((row) => row.line).filter((line) => line >= first && line <= shown.at(-1)),
    );
    const numbers = (await program.get("/messages?limit=1000")).items
      .map((message) => message.payload.n)
      .filter(Number.isInteger);
    assert.deepEqual(numbers, [...new Set(numbers)]);
    assert.deepEqual(problems, []);
    await close();
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
      await page.waitForSelector("text=Nothing waits for you");
      assert.deepEqual(problems, []);
      await close();
    },
    { isOpen: false },
  );
});

test("the newsroom: every view, and why an editor waits", async () => {
  await running(null, async (program) => {
    const { page, problems, close } = await look(program);
    await eventually(
      "a question",
      async () => (await program.get("/inbox?state=open")).items.length > 0,
    );
    const [item] = (await program.get("/inbox?state=open")).items;
    for (const view of [
      "#/now",
      "#/agents",
      `#/agent/${item.agent}`,
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
    await go(page, `#/agent/${item.agent}`);
    await page.waitForSelector('.chain [data-do="decide"]');
    assert.deepEqual(problems, []);
    await close();
  });
});

test("the past: every view that has one shows what was so at that line", async (context) => {
  await running(null, async (program) => {
    if (!(await program.has("/at"))) return context.skip("the program has no past");
    const { page, problems, close } = await look(program);
    await eventually("some lines", async () => (await program.get("/stats")).sent > 10);
    await go(page, "#/now");
    await page.waitForSelector("[data-line]");
    const line = Number(await page.getAttribute("[data-line]", "data-line"));
    assert.ok(line > 10);
    for (const view of ["now", "agents", "agent/city", "timeline", "tasks", "inbox", "policies"]) {
      await go(page, `#/${view}?at=${line - 2}`);
      await page.waitForSelector('[data-live="past"]');
      assert.equal(await page.locator('[data-do="retry"]').count(), 0, view);
    }
    await go(page, "#/agents?at=3");
    const then = await page.locator(".long [data-id]").count();
    await go(page, "#/agents");
    const now = await page.locator(".long [data-id]").count();
    assert.ok(then > 0 && then < now, `${then} of ${now}`);
    await page.keyboard.press("[");
    await page.waitForSelector('[data-live="past"]');
    assert.deepEqual(problems, []);
    await close();
  });
});

test("what if: history runs again under another policy", async (context) => {
  await running(null, async (program) => {
    if (!(await program.has("/replays"))) return context.skip("the program has no replays");
    const { page, problems, close } = await look(program);
    await eventually("some messages", async () => (await program.get("/stats")).sent > 10);
    await go(page, "#/policies");
    await page.selectOption('form.filters select[name="kind"]', "presentation");
    await page.fill('form.filters [name="name"]', "zh");
    await page.click('[data-do="replay"]');
    await page.waitForSelector(".difference");
    await page.locator(".difference a").first().click();
    await page.waitForSelector('[data-view="timeline"] .event.selected');
    assert.deepEqual(problems, []);
    await close();
  });
});
