// Details of the page in a real browser, with the stand-in for the society.

import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, go } from "./browser.mjs";
import { visits } from "./visits.mjs";

const { visit } = visits();

const has = (page, selector) => eventually(selector, () => page.locator(selector).count());

test("an agent in the past: its tasks, messages and costs as they were", async () => {
  await visit("full", {}, async (page, society) => {
    const pay = (model, calls) => {
      const detail = { calls, cost: calls / 4, input_tokens: 10 * calls, model, output_tokens: 1 };
      society.log("usage_changed", {
        agent: "editor",
        task_id: "T-1",
        detail: JSON.stringify(detail),
      });
      return society.line;
    };
    const card = (name) => page.locator(".card", { has: page.locator("h2", { hasText: name }) });
    const lines = [pay("small", 1), pay("small", 2), pay("large", 1)];
    for (const [line, cost] of [
      [lines[0], /Calls1Tokens11Dollars\$0\.2500/],
      [lines[1], /Calls2Tokens21Dollars\$0\.5000/],
      [lines[2], /Calls3Tokens32Dollars\$0\.7500/],
    ]) {
      await go(page, `#/agent/editor?at=${line}`);
      assert.match(await card("Cost").textContent(), cost);
    }
    const work = await card("Work").textContent();
    assert.match(work, /Messages not handled yet2in progressT-1/);
    await go(page, `#/agents?at=${lines[2]}`);
    assert.equal(await page.textContent('.long [data-id="editor"] .tag'), "2");
    assert.equal(await page.locator(".tree .queue").count(), 2);
    await go(page, "#/agent/translator?at=5");
    await page.waitForSelector("text=It did not exist at this moment");
  });
});

test("a refusal says why, and only a token without the scope rests the button", async () => {
  await visit("full", { allow: /40[39]|41|429/ }, async (page, society) => {
    society.scopes = "read,operate";
    await go(page, "#/agent/writer");
    const refuse = async (status, error, said) => {
      society.change = () => ({ status, answer: { error, message: `the host says ${error}` } });
      await page.click('.page-head [data-do="pause"]');
      await page.locator(".notice.failed", { hasText: `the host says ${error}` }).waitFor();
      assert.match(await page.locator(".notice.failed p").first().textContent(), said, error);
      await page.click('[data-do="dismiss"]');
      await page.locator(".notice").waitFor({ state: "detached" });
    };
    await refuse(410, "item_withdrawn", /question was withdrawn/);
    await refuse(429, "mailbox_full", /mailbox is full/);
    await refuse(403, "unknown_contact", /does not know the receiver/);
    await refuse(403, "refused", /refused this/);
    await refuse(403, "forbidden", /not allowed/); // an origin, say
    await refuse(429, "never_heard_of", /Too many requests/);
    assert.equal(await page.locator('.page-head [data-do="pause"]:disabled').count(), 0);
    society.scopes = "read";
    await page.click('.page-head [data-do="pause"]');
    await has(page, '.page-head [data-do="pause"]:disabled');
  });
});

test("what waits for a person is counted in every view, as it happens", async () => {
  await visit("full", {}, async (page, society) => {
    for (const [view, open] of [
      ["agent/writer", 2],
      ["inbox", 1],
      ["cost", 0],
    ]) {
      await go(page, `#/${view}`);
      await has(page, '[data-live="live"]');
      await eventually("the count", async () => (await page.title()).startsWith(`(${open + 1})`));
      society.inbox[open].state = "decided";
      society.emit("inbox.decided");
      await eventually(`the title of ${view}`, async () =>
        open > 0 ? (await page.title()).startsWith(`(${open})`) : /^[^(]/.test(await page.title()),
      );
      const badge = page.locator("#views .badge.inbox");
      assert.deepEqual(await badge.allTextContents(), open > 0 ? [String(open)] : []);
    }
    society.counts.dead = 0;
    society.emit("message.dead");
    const letters = page.locator("#views .badge.dead");
    await eventually("no dead letters", async () => (await letters.count()) === 0);
  });
});

test("the key / goes to the first filter, whatever kind it is", async () => {
  await visit("full", {}, async (page) => {
    for (const [view, name] of [
      ["agents", "q"],
      ["inbox", "state"],
      ["timeline", "agent"],
      ["dead", "from"],
    ]) {
      await go(page, `#/${view}`);
      await page.keyboard.press("/");
      await has(page, `main .filters [name="${name}"]:focus`);
      await page.keyboard.press("Escape");
    }
    await go(page, "#/cost");
    await page.keyboard.press("/");
    await has(page, "main .filters select:focus");
  });
});

test("the slider begins where the log begins", async () => {
  await visit("full", { allow: /410/ }, async (page, society) => {
    await has(page, '[data-live="live"]');
    assert.equal(await page.getAttribute("footer .slider", "min"), "1");
    society.first = 40;
    await page.reload();
    await has(page, 'footer .slider[min="40"]');
    await go(page, "#/now?at=40");
    await has(page, 'footer [data-do="step-back"]:disabled');
  });
});
