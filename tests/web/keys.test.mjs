// The keyboard: every key that the help lists, but for those of the inbox.

import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, go, settle } from "./browser.mjs";
import { visits } from "./visits.mjs";

const { visit } = visits();

// All at once: what `g` begins is over when the next key is long in coming.
const press = (page, ...keys) => Promise.all(keys.map((key) => page.keyboard.press(key)));

test("g and a letter go to each view, and no other letter anywhere", async () => {
  await visit("full", {}, async (page) => {
    for (const [key, view] of [
      ["a", "agents"],
      ["t", "timeline"],
      ["k", "tasks"],
      ["i", "inbox"],
      ["d", "dead"],
      ["p", "policies"],
      ["c", "cost"],
      ["n", "now"],
    ]) {
      await press(page, "g", key);
      await page.waitForSelector(`[data-view="${view}"][aria-busy="false"]`);
      assert.match(page.url(), new RegExp(`#/${view}$`));
    }
    await press(page, "g", "x", "t"); // the second letter alone is no place to go to
    await settle(page);
    assert.match(page.url(), /#\/now$/);
    await go(page, "#/inbox?item=item_2");
    await page.fill('article [name="comment"]', "");
    await press(page, "g", "n");
    assert.equal(await page.inputValue('article [name="comment"]'), "gn");
    assert.match(page.url(), /#\/inbox/);

    // A view that has a past keeps the moment.
    await go(page, "#/agents?at=60");
    await press(page, "g", "k");
    await page.waitForSelector('[data-view="tasks"]');
    assert.match(page.url(), /#\/tasks\?at=60$/);
    await press(page, "g", "c");
    await page.waitForSelector('[data-view="cost"]');
    assert.match(page.url(), /#\/cost$/);
  });
});

test("l returns to live, L switches the language, D the theme, p holds what is new", async () => {
  await visit("full", {}, async (page) => {
    await go(page, "#/tasks?at=60");
    await page.waitForSelector('[data-live="past"]');
    await press(page, "l");
    await page.waitForSelector('[data-live="live"]');
    assert.match(page.url(), /#\/tasks$/);
    await press(page, "L");
    await page.waitForSelector('html[lang="zh-CN"]');
    await page.locator(".column h2", { hasText: "待处理" }).waitFor();
    await press(page, "L");
    await page.waitForSelector('html[lang="en"]');
    await page.locator(".column h2", { hasText: "pending" }).waitFor();
    await press(page, "D");
    await page.waitForSelector('html[data-theme="dark"]');
    await press(page, "D");
    await page.waitForSelector('html[data-theme="light"]');
    await press(page, "p");
    await page.waitForSelector('[data-live="paused"]');
    await press(page, "p");
    await page.waitForSelector('[data-live="live"]');
  });
});

test("agents: j, k and the arrows move the selection, Enter opens it", async () => {
  await visit("full", {}, async (page) => {
    await go(page, "#/agents");
    const order = await page
      .locator(".long .row:not(.group)")
      .evaluateAll((rows) => rows.map((row) => row.dataset.id));
    assert.deepEqual(order.slice(0, 4), ["user", "root", "editor", "writer"]);
    await press(page, "Enter"); // nobody is selected
    assert.match(page.url(), /#\/agents$/);
    for (const [key, wanted] of [
      ["j", "user"],
      ["j", "root"],
      ["ArrowDown", "editor"],
      ["j", "writer"],
      ["k", "editor"],
      ["ArrowUp", "root"],
      ["k", "user"],
      ["k", "user"], // the first
      ["j", "root"],
    ]) {
      await press(page, key);
      await page.waitForSelector(`.long .row.selected[data-id="${wanted}"]`);
      await page.waitForSelector(`.chosen[data-id="${wanted}"]`);
      assert.equal(await page.locator(".long .selected").count(), 1);
    }
    await press(page, "Enter");
    await page.waitForSelector('[data-view="agent"] .page-head[data-id="root"]');

    // The selection never leaves the list: a long one scrolls with it.
    await go(page, "#/agents?open=courier&selected=reader1");
    for (let i = 2; i <= 24; i += 1) {
      await press(page, "j");
      await page.waitForSelector(`.long .selected[data-id="reader${i}"]`);
    }
    const isInside = () =>
      page.evaluate(() => {
        const row = document.querySelector(".long .selected").getBoundingClientRect();
        const list = document.querySelector(".long").getBoundingClientRect();
        return row.top >= list.top - 1 && row.bottom <= list.bottom + 1;
      });
    await eventually("the row in sight", isInside);
  });
});

test("timeline, tasks by filter: j and k go event by event", async () => {
  await visit("full", {}, async (page) => {
    await go(page, "#/timeline");
    const lines = await page
      .locator(".event[data-line]")
      .evaluateAll((rows) => rows.map((row) => Number(row.dataset.line)));
    const last = lines.at(-1);
    for (const [key, wanted] of [
      ["k", last],
      ["k", last - 1],
      ["ArrowUp", last - 2],
      ["j", last - 1],
      ["ArrowDown", last],
    ]) {
      await press(page, key);
      await page.waitForSelector(`.event.selected[data-line="${wanted}"]`);
    }
  });
});

test("dead letters and questions: the arrows move as j and k do", async () => {
  await visit("full", {}, async (page) => {
    for (const [view, first, second] of [
      ["inbox", "article[data-id='item_1']", "article[data-id='item_2']"],
      ["dead", ".chosen[data-id='msg_d0']", ".chosen[data-id='msg_d1']"],
    ]) {
      await go(page, `#/${view}`);
      if (view === "dead") await press(page, "ArrowDown");
      await page.waitForSelector(first);
      await press(page, "ArrowDown");
      await page.waitForSelector(second);
      await press(page, "ArrowUp");
      await page.waitForSelector(first);
    }
  });
});

test("a dialog goes with the look that it was opened on", async () => {
  await visit("full", {}, async (page) => {
    await go(page, "#/agents");
    await go(page, "#/tasks");
    await press(page, "?");
    await page.waitForSelector("dialog[open] dl.keys");
    await page.goBack();
    await page.waitForSelector('[data-view="agents"][aria-busy="false"]');
    await page.waitForSelector("dialog:not([open])", { state: "attached" });
    await go(page, "#/tasks");
    await page.click('[data-do="cancel"][data-for="T-4"]');
    await page.waitForSelector("dialog[open] input");
    await page.goBack();
    await page.waitForSelector("dialog:not([open])", { state: "attached" });
    await page.waitForSelector('[data-view="agents"][aria-busy="false"]');
  });
});

test("an address of no view becomes that of the view shown in its place", async () => {
  await visit("full", {}, async (page) => {
    await go(page, "#/tasks");
    await page.evaluate(() => (location.hash = "#/nonsense"));
    await page.waitForSelector('[data-view="now"][aria-busy="false"]');
    assert.match(page.url(), /#\/now$/);
    await page.goBack();
    await page.waitForSelector('[data-view="tasks"]');
  });
});
