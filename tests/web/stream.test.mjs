// The stream of events in a real browser, with the stand-in for the society: where it resumes, and
// what happens where it cannot.

import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, go } from "./browser.mjs";
import { iso } from "./society.mjs";
import { visits } from "./visits.mjs";

const { visit } = visits();

const count = (page) => page.locator(".items [data-id]").count();

const max = (page) => page.getAttribute("footer .slider", "max");

function ask(society, id) {
  society.inbox.push({
    id,
    agent: "writer",
    title: `May I, ${id}?`,
    priority: "normal",
    state: "open",
    created_at: iso(Date.now()),
  });
}

async function begin(page, society) {
  await go(page, "#/inbox");
  await page.waitForSelector('[data-live="live"]');
  society.emit("inbox.new_item");
  await eventually("its line", async () => (await max(page)) === String(society.line));
  assert.deepEqual(society.resumed, [null]);
}

test("a stream that ends resumes at the last line seen, and what was missed is read", async () => {
  await visit("full", {}, async (page, society) => {
    await begin(page, society);
    const seen = society.line;
    society.hangUp();
    ask(society, "missed");
    society.line += 3;
    await eventually("another stream", () => society.resumed.length === 2);
    assert.deepEqual(society.resumed, [null, seen]);
    await eventually("the missed question", async () => (await count(page)) === 4);
    await page.waitForSelector('[data-live="live"]');
    ask(society, "heard");
    society.emit("inbox.new_item");
    await eventually("the next one", async () => (await count(page)) === 5);
    assert.equal(await max(page), String(society.line));
  });
});

test("where the last line seen was removed, the stream begins at the present", async () => {
  await visit("full", { allow: /410/ }, async (page, society) => {
    await begin(page, society);
    const seen = society.line;
    ask(society, "missed");
    society.line += 500;
    society.first = society.line - 100;
    society.hangUp();
    await eventually("another stream", () => society.resumed.length === 3);
    assert.deepEqual(society.resumed, [null, seen, null]);
    await page.waitForSelector('[data-live="live"]');
    await eventually("the missed question", async () => (await count(page)) === 4);
    await page.waitForSelector(`footer .slider[min="${society.first}"]`);
    ask(society, "heard");
    society.emit("inbox.new_item");
    await eventually("the next one", async () => (await count(page)) === 5);
    assert.equal(await max(page), String(society.line));
  });
});

test("where the society has begun anew, so does the page", async () => {
  await visit("full", {}, async (page, society) => {
    await begin(page, society);
    const seen = society.line;
    const anew = { line: 2, activity: [], inbox: [], dead: [], tasks: [], waits: [] };
    Object.assign(society, anew, { agents: society.agents.slice(0, 2) });
    society.hangUp();
    await eventually("another stream", () => society.resumed.length === 3);
    assert.deepEqual(society.resumed, [null, seen, null]);
    await page.locator(".empty", { hasText: "Nothing is waiting for you" }).waitFor();
    await page.waitForSelector('footer .slider[max="2"]');

    // Its lines are those of another log: each is news, though the page has seen their numbers.
    ask(society, "first");
    society.emit("inbox.new_item");
    await page.waitForSelector('article[data-id="first"]');
    assert.equal(await max(page), "3");
    await go(page, "#/agents");
    assert.equal(await page.locator(".long [data-id]").count(), 2);
  });
});
