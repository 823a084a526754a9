// Moments of the stand-in's society: what a link to one leads to, and what each view shows there.

import assert from "node:assert/strict";
import { test } from "node:test";
import { go, settle } from "./browser.mjs";
import { iso, T0 } from "./society.mjs";
import { visits } from "./visits.mjs";

const { visit } = visits();

test("the link of a difference leads to exactly its moment", async () => {
  await visit("full", { allow: /404/ }, async (page, society) => {
    // Two turns of the editor and one of the writer within one millisecond, then a later one.
    const time = iso(T0 + 5000000);
    const log = (event, row) => {
      society.log(event, row);
      society.activity.at(-1).time = time;
      return society.line;
    };
    log("sent", { agent: "editor", message_id: "msg_a", detail: "to writer" });
    const wanted = log("processed", { agent: "editor", message_id: "msg_b" });
    const last = log("processed", { agent: "editor", message_id: "msg_c" });
    log("processed", { agent: "writer", message_id: "msg_b" });
    society.log("processed", { agent: "editor", message_id: "msg_b" });
    society.activity.at(-1).time = iso(T0 + 5000001);
    const difference = (message) => ({
      agent: "editor",
      message,
      time,
      difference: "question",
      asked: "contacts.may_send",
      recorded: [true],
      now: [false],
    });
    // msg_z has no line of that time: the moment is the last one until then.
    const findings = [difference("msg_b"), difference("msg_z")];
    society.replay = { id: "replay_1", state: "different", findings };
    for (const [i, line] of [wanted, last].entries()) {
      await go(page, "#/policies?replay=replay_1");
      await page.locator(".difference a").nth(i).click();
      await page.waitForSelector(`.event.selected[data-line="${line}"]`);
      assert.match(page.url(), new RegExp(`#/timeline\\?at=${line}&agent=editor$`));
      const card = page.locator(".chosen");
      assert.match(await card.textContent(), /^processed.*Agenteditor/);
    }
  });
});

test("the slider and its keys do the same in every view that has a past", async () => {
  await visit("full", {}, async (page, society) => {
    const { line: last } = society;
    const isAt = async (view, line) => {
      await page.waitForSelector(`[data-view="${view}"][aria-busy="false"]`);
      await page.waitForSelector(`footer [data-line="${line}"]`);
      await page.waitForSelector('[data-live="past"]');
      assert.match(page.url(), new RegExp(`\\?at=${line}$`), view);
    };
    const isLive = async () => {
      await page.waitForSelector('[data-live="live"]');
      assert.doesNotMatch(page.url(), /at=/);
    };
    for (const path of ["now", "agents", "agent/editor", "timeline", "tasks", "inbox", "policies"]) {
      const [view] = path.split("/");
      await go(page, `#/${path}`);
      await page.waitForSelector(`footer [data-line="${last}"]`);
      await page.keyboard.press("[");
      await isAt(view, last - 1);
      await page.keyboard.press("[");
      await isAt(view, last - 2);
      await page.click('footer [data-do="step-back"]');
      await isAt(view, last - 3);
      await page.click('footer [data-do="step-forward"]');
      await isAt(view, last - 2);
      await page.keyboard.press("]");
      await isAt(view, last - 1);
      await page.keyboard.press("]");
      await isLive();
      await page.locator("footer .slider").fill("60");
      await isAt(view, 60);
      assert.equal(await page.getAttribute("footer .slider", "aria-valuetext"), "as it was at line 60");
      await page.click('footer [data-do="live"]');
      await isLive();
    }
    for (const view of ["dead", "cost"]) {
      await go(page, `#/${view}`);
      await page.keyboard.press("[");
      await settle(page);
      assert.equal(await page.isVisible("footer"), false, view);
      await isLive();
    }
  });
});

test("before and after: a swap, a task that ended, the counts of now", async () => {
  await visit("full", {}, async (page, society) => {
    const swap = 50;
    const end = 70;
    const [task] = society.tasks;
    const [policy] = society.policies;
    society.then = (line) => ({
      policies: [{ ...policy, name: line < swap ? "strict" : "open", version: line < swap ? 1 : 2 }],
      tasks: [{ ...task, state: line < end ? "processing" : "completed", ended_at: iso(T0) }],
      totals: { sent: line * 3, processed: line, pending: line * 2 },
    });
    const policyAt = async (line) => {
      await go(page, `#/policies?at=${line}`);
      return (await page.locator(".policy p").textContent()).replace(/\s.*/, "");
    };
    assert.equal(await policyAt(swap - 1), "strictv1");
    assert.equal(await policyAt(swap), "openv2");
    const columnAt = async (line) => {
      await go(page, `#/tasks?at=${line}`);
      return page.getAttribute(`.column:has([data-id="${task.task_id}"])`, "aria-label");
    };
    assert.equal(await columnAt(end - 1), "in progress");
    assert.equal(await columnAt(end), "completed");
    assert.equal(await page.locator(".task").count(), 1);
    for (const line of [40, 41]) {
      await go(page, `#/now?at=${line}`);
      const law = await page.locator(".law").textContent();
      assert.match(law, new RegExp(`Messages${line * 3}processed${line}pending${line * 2}`));
      assert.match(await page.textContent(".rates"), /–\s*sent.*–\s*processed/); // it has no rate
      assert.equal(await page.locator(".rates polyline").count(), 0);
    }
  });
});
