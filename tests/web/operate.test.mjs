// Changes from the page in front of the real program, SOCIETY: what was ordered is so there, and
// nothing else is.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { eventually, go, launch, noticed, open } from "./browser.mjs";
import { Program } from "./program.mjs";

// Whoever prints without paper fails, once for each message.
const PRINTER = `
local society = require("society")
society.config { name = "print" }
society.policy("supervision", "backoff", { retries_max = 0, failures_max = 1000 })
society.role { id = "printer", name = "printer", behaviour = function(agent, message)
  if message.payload.text == "paper" then agent.state.has_paper = true return end
  assert(agent.state.has_paper, "no paper")
  agent.state.printed = (agent.state.printed or "") .. message.payload.text
end }
society.root(function(root, message)
  if message.from ~= "user" then return end
  root:spawn_agent("printer", { objective = "print", constraints = {}, inputs = "i",
    outputs = "o", completion_criteria = "c" }, { id = "printer" })
  for text in ("abcde"):gmatch(".") do
    root:send_message { to = "printer", payload = { text = text } }
  end
end)
society.main(function(user) user:send_message { to = "root", payload = "go" } end)
`;

let browser;
let program;
let tab;
before(async () => {
  browser = await launch();
  program = await Program.start(PRINTER);
  tab = await open(browser, program.url, { allow: /404|422/ });
});
after(async () => {
  await browser.close();
  program.end();
});

const said = (text) => noticed(tab.page, text);

const letters = async () =>
  (await program.get("/dead-letters")).items.map((one) => one.payload.text).join("");

const printer = async () => {
  const answer = await program.get("/agents/printer");
  return answer.items?.[0] ?? answer;
};

// Selects the letters with those texts: the row says whose it is, its card what it says.
async function pick(texts) {
  const { page } = tab;
  for (const { id, payload } of (await program.get("/dead-letters")).items)
    if (texts.includes(payload.text)) await page.check(`.long [data-id="${id}"] input`);
}

test("dead letters: the selected are delivered again or dropped, all others stay", async () => {
  const { page } = tab;
  await eventually("five dead letters", async () => (await letters()) === "abcde");
  await program.post("/messages", { to: "printer", payload: { text: "paper" } });
  await eventually("paper", async () => (await printer()).state?.has_paper);
  await go(page, "#/dead?to=printer");
  await eventually("all", async () => (await page.locator(".long [data-id]").count()) === 5);
  await pick("bd");
  await page.click('.filters [data-do="redeliver"]');
  await said("Delivered again: 2");
  await eventually("b and d", async () => (await printer()).state.printed === "bd");
  assert.equal(await letters(), "ace");
  await pick("c");
  await page.click('.filters [data-do="drop"]');
  await page.click('[data-do="confirm"]');
  await said("Dropped: 1");
  assert.equal(await letters(), "ae");
  assert.equal((await program.get("/stats")).dropped, 1);
  await page.click('[data-do="redeliver-all"]');
  await page.click('[data-do="confirm"]');
  await page.locator(".empty").waitFor();
  await eventually("a and e", async () => (await printer()).state.printed === "bdae");
  assert.equal(await letters(), "");
});

// It lets everybody write to everybody, and says so or not.
const MINE = `
return { kind = "contacts", name = "mine", version = 1,
  may_send = function() return true end,
  examples = { { ask = "may_send", given = { { from = { id = "a", role = "r" },
    to = { id = "b", role = "r" }, is_known = false } }, expect = @EXPECT@ } } }
`;

test("policies: one is put into force, one that fails its example is not", async () => {
  const { page } = tab;
  const inForce = async () =>
    (await program.get("/policies")).items.find((one) => one.kind === "contacts").name;
  const folder = join(program.place, "policies", "contacts");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "mine.lua"), MINE.replace("@EXPECT@", "false"));
  const before = await inForce();
  const swap = async () => {
    await page.fill('form.swap [name="name"]', "mine");
    await page.click('form.swap [data-do="swap"]');
    await page.click('[data-do="confirm"]');
  };
  await go(page, "#/policies?kind=contacts");
  await swap();
  await said("The policy was not accepted. The old one stays in force.");
  await said("expected false, got true");
  assert.equal(await inForce(), before);
  writeFileSync(join(folder, "mine.lua"), MINE.replace("@EXPECT@", "true"));
  await swap();
  await said("contacts is now mine");
  assert.match(await inForce(), /mine/);
  await page.locator('.policy[data-id="contacts"] b', { hasText: "mine" }).waitFor();
});

test("an agent that is terminated has ended, for the reason that was given", async () => {
  const { page } = tab;
  await go(page, "#/agent/printer");
  await page.click('.page-head [data-do="terminate"]');
  await page.fill("dialog input", "no more paper");
  await page.click('[data-do="confirm"]');
  await page.locator(".page-head h1", { hasText: "stopped" }).waitFor();
  assert.ok((await printer()).ended_at);
  const { items } = await program.get("/activity?agent=printer&after=0&limit=1000");
  assert.ok(items.some(({ detail }) => String(detail).includes("no more paper")));
  assert.deepEqual(tab.problems, []);
});
