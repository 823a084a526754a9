// Questions of the inbox, with the stand-in for the society: what is shown with them, and what
// becomes of them while somebody looks.

import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, go, noticed, settle } from "./browser.mjs";
import { visits } from "./visits.mjs";

const { visit } = visits();

test("a question shows what its agent has done so far, the latest first", async () => {
  await visit("full", {}, async (page, society) => {
    // What others did with its messages is not what it did, however much there is of it.
    for (let i = 0; i < 20; i += 1)
      society.log("turn_failed", { agent: "printer", other: "writer", detail: "no paper" });
    await go(page, "#/inbox?item=item_1");
    const shown = await page.locator("article li[data-line]").evaluateAll((rows) =>
      rows.map((row) => [Number(row.dataset.line), row.children[1].textContent]),
    );
    const words = { spawned: "spawned", sent: "sent", escalation: "asks you", blocked: "starts waiting" };
    const done = society.activity
      .filter((row) => row.agent === "writer")
      .map((row) => [row.line, words[row.event]])
      .reverse();
    assert.deepEqual(shown, done);
    assert.deepEqual(done.slice(0, 2).map(([, word]) => word), ["starts waiting", "asks you"]);
    await page.locator("article h3", { hasText: "What the agent has done so far" }).waitFor();
    assert.doesNotMatch(await page.textContent("article"), /turn failed/);

    // In the past, what it had done until then.
    const { line } = society.inbox[0];
    await go(page, `#/inbox?item=item_1&at=${line}`);
    const then = await page
      .locator("article li[data-line]")
      .evaluateAll((rows) => rows.map((row) => Number(row.dataset.line)));
    assert.deepEqual(then, done.map(([one]) => one).filter((one) => one <= line));
  });
});

for (const [state, more, verdict] of [
  ["decided", { decision: "reject", comment: "too dear" }, /^rejected · too dear/],
  ["withdrawn", {}, /^withdrawn by the agent/],
])
  test(`a question that is ${state} while somebody looks at it says so and takes nothing`, async () => {
    await visit("full", {}, async (page, society) => {
      await go(page, "#/inbox?item=item_2");
      await page.fill('article [name="comment"]', "agreed");
      await page.keyboard.press("Escape");
      Object.assign(society.inbox[1], { state, ...more });
      society.emit(`inbox.${state}`);
      await page.waitForSelector('article[data-id="item_2"] .verdict');
      assert.match(await page.textContent("article .verdict"), verdict);
      assert.equal(await page.locator("article button, article [name=comment]").count(), 0);
      assert.equal(await page.locator('.items [data-id="item_2"]').count(), 0);
      for (const key of ["a", "r", "m", "1"]) await page.keyboard.press(key);
      await settle(page);
      assert.deepEqual(society.asked, []);
      assert.equal(await page.locator("article").getAttribute("data-id"), "item_2");

      // It is in the list of its kind, and a list of all says of each what became of it.
      await page.selectOption('[name="state"]', state);
      await page.waitForSelector('.items [data-id="item_2"]');
      await go(page, "#/inbox?state=all");
      await page.waitForSelector('.items [data-id="item_1"]');
      const shape = page.locator('.items [data-id="item_2"] .shape');
      const name = state === "decided" ? "of-completed" : "of-cancelled";
      assert.match(await shape.getAttribute("class"), new RegExp(name));
    });
  });

test("who goes elsewhere while a decision is on its way stays there", async () => {
  await visit("full", {}, async (page, society) => {
    const decide = society.change.bind(society);
    for (const [item, agent, where, view] of [
      ["item_1", "writer", "#/agent/editor", "agent"],
      ["item_2", "printer", "#/inbox?item=item_3", "inbox"],
    ]) {
      let release;
      const held = new Promise((resolve) => (release = resolve));
      let isAsked = false;
      society.change = async (...asked) => {
        const answer = decide(...asked);
        isAsked = true;
        await held;
        return answer;
      };
      await go(page, `#/inbox?item=${item}`);
      await page.waitForSelector(`article[data-id="${item}"]`);
      await page.keyboard.press("a");
      await eventually("the decision", () => isAsked);
      await go(page, where);
      release();
      await noticed(page, `Approved; ${agent}`);
      await settle(page);
      assert.ok(page.url().endsWith(where), page.url());
      await page.waitForSelector(`[data-view="${view}"][aria-busy="false"]`);
      assert.equal(await page.locator("h2:focus").count(), 0);
    }
    assert.equal(await page.getAttribute("article", "data-id"), "item_3");
    assert.equal(society.inbox[2].state, "open");
  });
});

test("two questions of the same title are told apart by what they say", async () => {
  await visit("full", {}, async (page, society) => {
    const { inbox } = society;
    Object.assign(inbox[0], { title: "Refund?", body: { order: "A-1", amount: 12 } });
    Object.assign(inbox[1], { title: "Refund?", body: "The parcel arrived wet." });
    for (const [view, rows] of [
      ["now", ".wide.calm li"],
      ["inbox", ".items li"],
    ]) {
      await go(page, `#/${view}`);
      const said = (id) => page.locator(`${rows}[data-id="${id}"]`).textContent();
      assert.match(await said("item_1"), /^Refund\? ?order: A-1, amount: 12/, view);
      assert.match(await said("item_2"), /^Refund\? ?The parcel arrived wet\./, view);
    }
  });
});

test("a question has a time by which it is due, and does not expire", async () => {
  await visit("full", {}, async (page) => {
    for (const [lang, said] of [
      ["en", /due in \d+ min/],
      ["zh-CN", /期限 \d+ 分钟后/],
    ]) {
      await go(page, "#/inbox?item=item_1");
      await page.waitForSelector(`html[lang="${lang}"]`);
      await eventually(`${said}`, async () => said.test(await page.textContent("article")));
      await page.keyboard.press("L");
    }
  });
});
