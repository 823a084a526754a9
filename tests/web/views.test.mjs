// Every view in a real browser, with the stand-in for the society.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessibility, eventually, go, launch, open, overflow, settle } from "./browser.mjs";
import { start } from "./standin.mjs";

const web = new URL("../../web/", import.meta.url).pathname;
const VIEWS = [
  "#/now",
  "#/agents?selected=editor",
  "#/agent/writer",
  "#/timeline?at=90",
  "#/tasks",
  "#/inbox",
  "#/dead",
  "#/policies?kind=contacts&replay=replay_1",
  "#/cost",
];

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

// Opens a scene, runs `steps` and checks that nothing went wrong in the page.
async function visit(scene, options, steps) {
  const server = await start(web, scene);
  const { page, problems, close } = await open(browser, server.url, options);
  try {
    await steps(page, server.society, server);
    assert.deepEqual(problems, []);
  } finally {
    await close();
    server.close();
  }
}

for (const theme of ["light", "dark"]) {
  for (const lang of ["en-US", "zh-CN"]) {
    for (const width of [320, 1440]) {
      test(`nothing sticks out: ${theme}, ${lang}, ${width} px`, async () => {
        for (const scene of ["full", "empty"]) {
          await visit(scene, { theme, lang, width }, async (page) => {
            for (const view of scene === "full"
              ? VIEWS
              : VIEWS.map((hash) => hash.replace(/\?.*/, "").replace("writer", "root"))) {
              await go(page, view);
              assert.deepEqual(await overflow(page), [], view);
            }
            assert.equal(await page.getAttribute("html", "data-theme"), theme);
            assert.equal((await page.getAttribute("html", "lang")).slice(0, 2), lang.slice(0, 2));
          });
        }
      });
    }
  }
  test(`axe finds nothing serious: ${theme}`, async () => {
    for (const scene of ["full", "empty"]) {
      await visit(scene, { theme }, async (page) => {
        for (const view of scene === "full" ? VIEWS : ["#/now", "#/inbox", "#/agents"]) {
          await go(page, view);
          assert.deepEqual(await accessibility(page), [], view);
        }
        await page.keyboard.press("?");
        await page.waitForSelector("dialog[open]");
        assert.deepEqual(await accessibility(page), [], "help");
      });
    }
  });
}

test("hostile texts are inert", async () => {
  await visit("hostile", {}, async (page) => {
    for (const view of [
      ...VIEWS,
      `#/agent/${encodeURIComponent("<img src=x onerror=window.hacked=1>")}`,
      "#/timeline",
      "#/inbox?state=all",
    ]) {
      await go(page, view);
      await settle(page);
      assert.equal(await page.evaluate(() => window.hacked), undefined, view);
      const main = page.locator("#main");
      assert.equal(await main.locator("script, img, iframe, [onerror], [onload]").count(), 0, view);
      assert.doesNotMatch(await main.textContent(), /[\u202a-\u202e\u2066-\u2069]/, view);
      assert.ok((await main.textContent()).length < 300000, `${view} shows a megabyte`);
      assert.deepEqual(await overflow(page), [], view);
    }
  });
});

test("without a token the page says how to sign in", async () => {
  await visit("locked", { allow: /401/ }, async (page) => {
    await page.waitForSelector("text=society open");
    assert.equal(
      await page.getAttribute("[data-live]", "data-live").then((state) => state !== "live"),
      true,
    );
  });
});

test("without a stream of events the page reads again by itself", async () => {
  await visit("streamless", { allow: /503/ }, async (page, society) => {
    await go(page, "#/inbox");
    await page.waitForSelector('[data-live="polling"]');
    society.inbox[0].state = "decided";
    await eventually(
      "the change",
      async () => (await page.locator(".items [data-id]").count()) === 2,
    );
  });
});

test("an error says what happened, and trying again works", async () => {
  await visit("broken", { allow: /503/ }, async (page, society) => {
    await page.waitForSelector('[data-do="retry"]');
    assert.match(await page.textContent("#main"), /busy or stopping/);
    society.isBroken = false;
    await page.click('[data-do="retry"]');
    await page.waitForSelector(".view-now");
  });
});

test("the inbox: options, changes by a form, the next item by itself", async () => {
  await visit("full", {}, async (page, society) => {
    await go(page, "#/inbox");
    await page.keyboard.press("2");
    await eventually("the choice", () => society.inbox[0].state === "decided");
    await page.waitForSelector('article[data-id="item_2"]');
    await page.keyboard.press("m");
    await page.fill('form.modify [name="amount"]', "50");
    await page.click('[data-do="submit-modify"]');
    await eventually("the changes", () => society.inbox[1].decision === "modify");
    assert.deepEqual(society.inbox[1].given.changes, { amount: 50 });
    await page.waitForSelector('article[data-id="item_3"]');
    await page.fill('[name="comment"]', "no, thanks");
    await page.press('[name="comment"]', "Escape");
    await page.keyboard.press("r");
    await eventually("the rejection", () => society.inbox[2].decision === "reject");
    assert.equal(society.inbox[2].given.comment, "no, thanks");
    await page.waitForSelector("text=Nothing waits for you");
  });
});

test("time: the slider, the keys and the address agree", async () => {
  await visit("full", {}, async (page) => {
    await go(page, "#/agents");
    assert.equal(await page.getAttribute("[data-live]", "data-live"), "live");
    const last = Number(await page.getAttribute("[data-line]", "data-line"));
    await page.keyboard.press("[");
    await page.waitForSelector(`[data-line="${last - 1}"]`);
    await page.keyboard.press("[");
    await page.waitForSelector(`[data-line="${last - 2}"]`);
    await page.keyboard.press("]");
    await page.waitForSelector(`[data-line="${last - 1}"]`);
    assert.match(page.url(), new RegExp(`at=${last - 1}$`));
    assert.equal(await page.getAttribute("[data-live]", "data-live"), "past");
    await go(page, "#/agents?at=5");
    await eventually(
      "five agents",
      async () => (await page.locator(".long [data-id]").count()) === 5,
    );
    await page.click('footer [data-do="live"]');
    await page.waitForSelector('[data-live="live"]');
    await go(page, "#/cost");
    assert.equal(await page.isVisible("footer"), false);
  });
});

test("why: the chain to its real end, and the button that ends it", async () => {
  await visit("full", {}, async (page) => {
    await go(page, "#/agent/root");
    assert.deepEqual(
      await page
        .locator(".chain > li")
        .evaluateAll((items) => items.map((item) => item.dataset.id)),
      ["root", "editor", "writer"],
    );
    await page.click('.chain [data-do="decide"]');
    await page.waitForSelector('[data-view="inbox"] article[data-id="item_1"]');
    await go(page, "#/agent/checker");
    await page.waitForSelector('[data-do="resume"]');
  });
});

test("what if: differences with their moments; without history how to keep it", async () => {
  await visit("full", { allow: /409/ }, async (page, society) => {
    await go(page, "#/policies");
    await page.selectOption('form select[name="kind"]', "contacts");
    await page.fill('form.filters [name="name"]', "open");
    await page.click('[data-do="replay"]');
    await page.waitForSelector(".difference");
    assert.equal(await page.locator(".difference").count(), 2);
    await page.locator(".difference a").last().click();
    await page.waitForSelector('[data-view="timeline"] .event.selected');
    assert.match(page.url(), /at=\d+&agent=editor$/);
    await page.goBack();
    await page.waitForSelector(".difference");
    society.replay = null;
    await page.click('[data-do="replay"]');
    await page.waitForSelector('text=history = "full"');
  });
});

test("what a token may not do is said, and the button rests", async () => {
  await visit("full", { allow: /403/ }, async (page) => {
    await go(page, "#/policies?kind=contacts");
    await page.click('[data-do="swap"]');
    await page.click('[data-do="confirm"]');
    await page.waitForSelector(".notice.failed");
    await page.waitForSelector('[data-do="swap"]:disabled');
  });
});

test("updates can be paused, language and theme switched, and both are remembered", async () => {
  await visit("full", {}, async (page, society) => {
    await go(page, "#/inbox");
    await page.click('[data-do="pause-updates"]');
    await page.waitForSelector('[data-live="paused"]');
    society.inbox[0].state = "decided";
    society.emit("inbox.decided");
    await settle(page);
    assert.equal(await page.locator(".items [data-id]").count(), 3);
    await page.click('[data-do="pause-updates"]');
    await eventually(
      "the update",
      async () => (await page.locator(".items [data-id]").count()) === 2,
    );
    await page.click('[data-do="theme"]');
    await page.click('[data-do="language"]');
    await page.waitForSelector('html[data-theme="dark"][lang="zh-CN"]');
    await page.reload();
    await page.waitForSelector('html[data-theme="dark"][lang="zh-CN"]');
  });
});

test("the timeline is exported as Mermaid", async () => {
  await visit("full", {}, async (page) => {
    await go(page, "#/timeline");
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.click('[data-do="export"]'),
    ]);
    assert.equal(file.suggestedFilename(), "timeline.mmd");
  });
});

test("dead letters: the selected, and all that fit", async () => {
  await visit("full", {}, async (page, society) => {
    await go(page, "#/dead");
    await page.check(".long [data-id] input");
    await page.click('[data-do="drop"]');
    await page.click('[data-do="cancel-dialog"]');
    assert.equal(society.dead.length, 2);
    await page.click('[data-do="redeliver-all"]');
    await page.click('[data-do="confirm"]');
    await page.waitForSelector("text=No dead letters");
    assert.deepEqual(society.asked.at(-1), {
      path: "/dead-letters/redeliver",
      body: { filter: {}, expected: 2 },
    });
  });
});
