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
    assert.match(work, /Unhandled messages2in progressT-1/);
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

test("a long text is shown to its end, piece by piece", async () => {
  await visit("full", {}, async (page, society) => {
    society.inbox[0].body = `${"x".repeat(250000)} the end`;
    await go(page, "#/inbox?item=item_1");
    const text = page.locator("article pre.text");
    const left = page.locator("article .prose .quiet");
    for (const [shown, rest] of [
      [6001, /244,008 more characters\. Show the next 100,000/],
      [100001, /150,008 more characters\. Show the next 100,000/],
      [200001, /50,008 more characters\. Show them/],
    ]) {
      await eventually(`${shown}`, async () => (await text.textContent()).length === shown);
      assert.match(await left.textContent(), rest);
      await page.click('article [data-do="more"]');
    }
    await eventually("the end", async () => (await text.textContent()).endsWith(" the end"));
    assert.equal(await page.locator('article [data-do="more"]').count(), 0);
  });
});

test("a swap takes along the settings in force, and shows them first", async () => {
  await visit("full", { allow: /403/ }, async (page, society) => {
    society.policies[0].settings = { hint: "ask first" };
    const form = page.locator("form.swap");
    const name = form.locator('[name="name"]');
    const settings = form.locator('[name="settings"]');
    await go(page, "#/policies?kind=contacts");
    assert.equal(await name.inputValue(), "open");
    assert.equal(await settings.inputValue(), "");
    await name.fill("strict");
    await eventually("its settings", async () => /ask first/.test(await settings.inputValue()));
    await name.fill("open"); // what belongs to another policy is not taken along
    await eventually("no settings", async () => (await settings.inputValue()) === "");
    await name.fill("strict");
    await eventually("its settings", async () => /ask first/.test(await settings.inputValue()));
    await page.click('[data-do="swap"]');
    await page.click('[data-do="confirm"]');
    await page.waitForSelector(".notice.failed");
    const body = { name: "strict", settings: { hint: "ask first" } };
    assert.deepEqual(society.asked.at(-1), { method: "PUT", path: "/policies/contacts", body });
    await settings.fill('{"hint":"mine"}');
    await name.fill("open");
    assert.equal(await settings.inputValue(), '{"hint":"mine"}');
  });
});

test("a dark page is dark from its first moment on", async () => {
  await visit("full", {}, async (page) => {
    let release;
    const held = new Promise((resolve) => (release = resolve));
    const waitFor = (route) => held.then(() => route.continue()).catch(() => {}); // it was left
    await page.route("**/main.js", waitFor);
    const back = () =>
      page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    for (const [system, chosen, colour] of [
      ["dark", null, "rgb(22, 25, 27)"],
      ["light", null, "rgb(246, 245, 242)"],
      ["light", "dark", "rgb(22, 25, 27)"],
    ]) {
      await page.emulateMedia({ colorScheme: system });
      if (chosen) await page.evaluate((to) => localStorage.setItem("society.theme", to), chosen);
      await page.reload({ waitUntil: "commit" });
      await page.waitForFunction(() => document.getElementById("main"));
      await eventually(`${system}, ${chosen}`, async () => (await back()) === colour); // its styles
      assert.equal(await page.locator("[data-view]").count(), 0); // no module has run
    }
    release();
    await has(page, "[data-view]");
    await page.unroute("**/main.js", waitFor);
    await page.emulateMedia({ colorScheme: "light" });
  });
});

test("rows, cards and what looks like a button have their marks", async () => {
  await visit("full", {}, async (page, society) => {
    const count = (selector) => page.locator(selector).count();
    for (let i = 0; i < 60; i += 1) society.agent(`w${i}`, "worker", "printer", "paused");
    await go(page, "#/now");
    assert.equal(await count('[data-id="printer/paused"]'), 1);
    assert.match(await page.getAttribute(".law .bg-processed", "title"), /^processed: 1,251$/);
    await go(page, "#/agents?selected=editor");
    assert.equal(await count('.long .group[data-id^="printer/"]'), 1);
    assert.equal(await count('.chosen[data-id="editor"] a[data-do="open-agent"]'), 1);
    await go(page, "#/dead?letter=msg_d0");
    assert.equal(await count('.chosen[data-id="msg_d0"]'), 1);
    await go(page, "#/tasks");
    assert.equal(await count('.task a[data-do="open-timeline"]'), society.tasks.length);
    await go(page, "#/agent/writer");
    assert.equal(await count('a[data-do="open-timeline"]'), 1);
    assert.equal(await count('.chain a[data-do="decide"]'), 1);
    assert.ok((await count("li[data-line]")) > 3); // its recent events
    await go(page, "#/inbox?item=item_1");
    assert.ok((await count("article li[data-line]")) > 3);
    await go(page, "#/policies");
    assert.equal(await count("li[data-line]"), 1);
  });
});

test("on a narrow screen names of a usual length stay in one piece", async () => {
  await visit("full", {}, async (page) => {
    await page.setViewportSize({ width: 320, height: 800 });
    const line = (node) => node.getClientRects().length;
    for (const view of ["#/cost", "#/agent/editor", "#/agent/editor?at=60"]) {
      await go(page, view);
      const names = page.locator("td a.agent bdi", { hasText: "researcher" });
      assert.equal(await names.first().evaluate(line), 1, view);
    }
    const heads = page.locator(".numbers th.right");
    await go(page, "#/cost");
    for (const lang of ["en", "zh-CN"]) {
      await has(page, `html[lang="${lang}"]`);
      const calls = await heads.nth(1).evaluate((head) => {
        const range = document.createRange();
        range.selectNodeContents(head);
        return range.getClientRects().length;
      });
      assert.equal(calls, 1, lang);
      await page.keyboard.press("L");
    }
  });
});

test("a dialog that opens while another closes stays open", async () => {
  await visit("full", {}, async (page) => {
    await go(page, "#/tasks");
    await page.click('[data-do="cancel"][data-for="T-4"]');
    await page.waitForSelector("dialog[open]");
    await page.evaluate(
      () =>
        new Promise((resolve) => {
          const dialog = document.querySelector("dialog");
          dialog.addEventListener("close", () => setTimeout(resolve, 0), { once: true });
          dialog.close(); // what listens to that hears of it later
          const help = new KeyboardEvent("keydown", { key: "?", bubbles: true });
          document.body.dispatchEvent(help);
        }),
    );
    assert.ok(await page.locator("dialog[open] dl.keys").count());
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog:not([open])", { state: "attached" });
    await page.click('[data-do="cancel"][data-for="T-4"]'); // and it asks again
    await page.waitForSelector("dialog input:focus");
  });
});
