// The page in front of the real program, SOCIETY, that is killed under it: kill -9 in the middle
// of traffic and before a decision. The page is never loaded again.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually, go, launch, open, settle } from "./browser.mjs";
import { Program } from "./program.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

// Runs an app with its page open and `steps`; the page must not load itself anew meanwhile.
async function underKills(app, steps) {
  const program = await Program.start(app);
  try {
    const { page, problems, close } = await open(browser, program.url, {
      allow: /ERR_|Failed to load/,
    });
    await page.evaluate(() => {
      window.isSame = true;
    });
    await steps(page, program);
    assert.equal(await page.evaluate(() => window.isSame), true);
    assert.deepEqual(problems, []);
    await close();
  } finally {
    program.end();
  }
}

async function killAndRestart(page, program) {
  await program.kill();
  await page.waitForSelector('[data-live="offline"]');
  await program.restart();
  await page.waitForSelector('[data-live="live"]');
}

// Counts to 20 whenever somebody says so: few enough lines for one page of the timeline.
const COUNTER = `
local society = require("society")
society.config { name = "counter" }
society.root(function(root, message)
  local left = message.from == "user" and 20 or message.payload.left - 1
  if left == 0 then return end
  root.state.count = (root.state.count or 0) + 1
  root:send_message { to = "root", payload = { n = root.state.count, left = left }, delay_ms = 30 }
end)
`;
const ROUND = 20;
const KILLS = 3;

// All lines of the timeline that the page has: only those on screen are drawn, so it scrolls.
async function allLines(page) {
  const lines = new Set();
  const canvas = page.locator(".sequence .canvas");
  for (let top = 0, isMore = true; isMore; top += 200) {
    isMore = await canvas.evaluate((node, to) => {
      node.scrollTop = to;
      return to + node.clientHeight < node.scrollHeight;
    }, top);
    await settle(page);
    await settle(page);
    for (const line of await shownLines(page)) lines.add(line);
  }
  return [...lines].sort((a, b) => a - b);
}

const shownLines = (page) =>
  page
    .locator(".event[data-line]")
    .evaluateAll((rows) => rows.map((row) => Number(row.dataset.line)));

test("the timeline goes on after kill -9, with nothing missing or doubled", async () => {
  await underKills(COUNTER, async (page, program) => {
    await go(page, "#/timeline");
    await page.waitForSelector('[data-live="live"]');
    const seen = []; // the last line on screen before each kill
    const counted = async () =>
      (await program.get("/messages?limit=1000")).items
        .map((message) => message.payload.n)
        .filter(Number.isInteger)
        .sort((a, b) => a - b);
    for (let i = 0; i < KILLS; i += 1) {
      await program.post("/intake", { text: "count" });
      const least = i * ROUND + 5;
      await eventually("the middle of a round", async () => (await counted()).length >= least);
      await eventually("a new row", async () => {
        const last = (await shownLines(page)).at(-1) ?? 0;
        if (last > (seen.at(-1) ?? 0)) seen[i] = last;
        return seen.length > i;
      });
      await killAndRestart(page, program);
      const end = (i + 1) * ROUND;
      await eventually("the end of the round", async () => (await counted()).length === end);
    }
    const numbers = await counted();
    assert.deepEqual(
      numbers,
      Array.from({ length: KILLS * ROUND }, (_, i) => i + 1),
    );
    await eventually("a rest", async () => (await program.get("/stats")).pending === 0);
    const { items } = await program.get("/activity?after=0&limit=1000");
    const last = items.at(-1).line;
    await page.waitForSelector(`.event[data-line="${last}"]`);
    await page.click('[data-do="pause-updates"]');
    const shown = await allLines(page);
    assert.deepEqual(
      shown,
      Array.from({ length: last }, (_, i) => i + 1),
    );
    assert.deepEqual(
      shown,
      items.map((row) => row.line),
    );
    assert.equal(seen.length, KILLS);
    assert.ok(seen.every((line) => shown.includes(line)));

    // It keeps no history to run again: the page says how to switch that on.
    await go(page, "#/policies");
    await page.click('[data-do="replay"]');
    await page.waitForSelector('text=history = "full"');
  });
});

const ASKER = `
local society = require("society")
society.config { name = "asker" }
society.root(function(root, message)
  if message.from ~= "user" then return end
  local verdict = root:escalate { title = message.payload.text, body = { amount = 5 } }
  root.state.heard = (root.state.heard or "") .. verdict.decision .. ";"
end)
`;

test("the inbox goes on after kill -9: questions, what was typed, and decisions", async () => {
  await underKills(ASKER, async (page, program) => {
    await go(page, "#/inbox");
    for (const text of ["First?", "Second?"]) await program.post("/intake", { text });
    await page.locator("article", { hasText: "First?" }).waitFor();
    const id = await page.getAttribute("article", "data-id");
    await page.fill('article [name="comment"]', "as agreed");
    await killAndRestart(page, program);
    assert.equal(await page.inputValue('article [name="comment"]'), "as agreed");
    assert.equal(await page.locator(".items [data-id]").count(), 1);
    await page.click('article [data-do="approve"]');
    await page.locator("article", { hasText: "Second?" }).waitFor();
    const { decision, comment } = await program.get(`/inbox/${id}`);
    assert.deepEqual([decision, comment], ["approve", "as agreed"]);

    await killAndRestart(page, program); // what was decided is not asked again
    await program.post("/intake", { text: "Third?" });
    await page.locator("article", { hasText: "Second?" }).waitFor();
    assert.equal(await page.locator(".items [data-id]").count(), 1);
    await page.click('article [data-do="reject"]');
    await page.locator("article", { hasText: "Third?" }).waitFor();
    await page.click('article [data-do="approve"]');
    await page.waitForSelector("text=Nothing is waiting for you");
    const state = async () => (await program.get("/agents/root")).state?.heard;
    await eventually("all three", async () => (await state()) === "approve;reject;approve;");
  });
});
