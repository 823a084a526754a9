// States of the page that one has to bring about, in a real browser, with the stand-in for the
// society: axe finds nothing serious in them, and nothing sticks out, in both themes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { accessibility, go, overflow, settle } from "./browser.mjs";
import { visits } from "./visits.mjs";

const { visit } = visits();

// By the system's theme: keys do nothing in dialogs.
async function looksWell(page, what) {
  for (const theme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: theme });
    await page.waitForSelector(`html[data-theme="${theme}"]`);
    await settle(page);
    assert.deepEqual(await accessibility(page), [], `${what}, ${theme}`);
    assert.deepEqual(await overflow(page), [], `${what}, ${theme}`);
  }
  await page.emulateMedia({ colorScheme: "light" });
}

test("forms, dialogs, notices and decided questions are as accessible as the rest", async () => {
  await visit("full", { allow: /422/ }, async (page, society) => {
    Object.assign(society, { maySwap: true, refuses: "open" });
    for (const width of [1280, 320]) {
      await page.setViewportSize({ width, height: 800 });
      await go(page, "#/inbox?item=item_2");
      await page.keyboard.press("m");
      await page.waitForSelector("form.modify");
      await looksWell(page, `changes, ${width}`);
      await page.click('[data-do="submit-modify"]');
      await page.waitForSelector("form.modify [role=alert]");
      await looksWell(page, `changes refused, ${width}`);
      await page.click('[data-do="close-modify"]');
      await go(page, "#/inbox?state=decided&item=item_0");
      await page.waitForSelector("article .verdict");
      await looksWell(page, `decided, ${width}`);
      await go(page, "#/agent/writer");
      await page.click('[data-do="terminate"]');
      await page.waitForSelector("dialog[open] input");
      await looksWell(page, `a dialog, ${width}`);
      await page.click('[data-do="cancel-dialog"]');
      await go(page, "#/policies?kind=contacts");
      await page.click('[data-do="swap"]');
      await page.click('[data-do="confirm"]');
      await page.waitForSelector(".notice.failed");
      await looksWell(page, `a notice, ${width}`);
      await page.click('[data-do="dismiss"]');
    }
  });
});

test("so is the past", async () => {
  await visit("full", {}, async (page) => {
    for (const view of ["now", "agents", "agent/editor", "timeline", "tasks", "inbox", "policies"]) {
      await go(page, `#/${view}?at=113`);
      await looksWell(page, `${view} in the past`);
    }
  });
});

for (const [scene, sign, allow] of [
  ["locked", "text=society open", /401/],
  ["broken", '[data-do="retry"]', /503/],
])
  test(`so is a society that is ${scene}`, async () => {
    await visit(scene, { allow }, async (page, society) => {
      await page.waitForSelector(sign);
      await looksWell(page, scene);
      society.isBroken = false;
    });
  });

test("so is one that does not answer", async () => {
  await visit("full", { allow: /ERR_|Failed to load/ }, async (page, society, server) => {
    await go(page, "#/now");
    await page.waitForSelector('[data-live="live"]');
    server.close();
    await page.waitForSelector('#notices [data-do="retry"]');
    await looksWell(page, "offline");
  });
});
