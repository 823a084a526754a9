// Every view in a real browser, with the stand-in for the society.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import {
  accessibility,
  coloursAt,
  eventually,
  go,
  keepNotices,
  moved,
  noticed,
  overflow,
  overflowInAll,
  settle,
  tabThrough,
  watchMoves,
} from "./browser.mjs";
import { visits } from "./visits.mjs";

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

const PAST = [
  "#/now?at=60",
  "#/agents?at=60&selected=editor",
  "#/agent/editor?at=60",
  "#/tasks?at=60",
  "#/inbox?at=113",
  "#/policies?at=60",
];

const WIDTHS = [320, 768, 2560, 1440];

const { visit, browser } = visits();

for (const scene of ["full", "empty"]) {
  test(`every view, ${scene}: nothing sticks out, axe finds nothing serious`, async () => {
    await visit(scene, {}, async (page) => {
      for (const hash of VIEWS) {
        const view = scene === "full" ? hash : hash.replace(/\?.*/, "").replace("writer", "root");
        await go(page, view);
        const looks = new Set();
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 800 });
          for (const { theme, lang, found } of await overflowInAll(page)) {
            assert.deepEqual(found, [], `${view} at ${width} px, ${theme}, ${lang}`);
            looks.add(`${width} ${theme} ${lang}`);
          }
        }
        assert.equal(looks.size, WIDTHS.length * 4, [...looks].join());
        assert.deepEqual(await accessibility(page), [], view);
        await page.keyboard.press("D");
        const contrast = ["color-contrast"]; // the theme is nothing but colours
        assert.deepEqual(await accessibility(page, contrast), [], `${view}, dark`);
      }
    });
  });
}

test("the past fits every screen", async () => {
  await visit("full", {}, async (page) => {
    for (const view of PAST) {
      await go(page, view);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 });
        for (const { theme, lang, found } of await overflowInAll(page))
          assert.deepEqual(found, [], `${view} at ${width} px, ${theme}, ${lang}`);
      }
    }
  });
});

test("axe finds nothing serious on narrow screens, in the past and in the help", async () => {
  await visit("full", {}, async (page) => {
    await page.setViewportSize({ width: WIDTHS[0], height: 800 });
    for (const view of [...VIEWS, ...PAST]) {
      await go(page, view);
      assert.deepEqual(await accessibility(page), [], view);
    }
    await page.keyboard.press("?");
    await page.waitForSelector("dialog[open]");
    for (const theme of ["light", "dark"]) {
      assert.deepEqual(await accessibility(page), [], `help, ${theme}`);
      await page.emulateMedia({ colorScheme: "dark" });
    }
    await page.emulateMedia({ colorScheme: "light" });
  });
});

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
      for (const width of [320, 768, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        await settle(page);
        assert.deepEqual(await overflow(page), [], `${view} at ${width} px`);
      }
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

test("a connection that is lost for long is said, with a way to try again", async () => {
  await visit("full", { allow: /ERR_|Failed to load/ }, async (page, society, server) => {
    await go(page, "#/now");
    await page.waitForSelector('[data-live="live"]');
    server.close();
    await page.waitForSelector('[data-live="offline"]');
    await page.locator("#notices", { hasText: "does not answer" }).waitFor();
    assert.equal(await page.locator('#notices [data-do="retry"]').count(), 1);
    assert.equal(await page.locator(".view-now").count(), 1);
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
    assert.match(await page.textContent("#main"), /society is busy/);
    society.isStreamless = true;
    await page.keyboard.press("p"); // or it would try again by itself
    society.isBroken = false;
    await page.click('[data-do="retry"]');
    await page.waitForSelector(".view-now");

    // A moment or filter that cannot be read is not answered with what was on screen before.
    society.isBroken = true;
    await go(page, "#/now?at=5");
    await page.waitForSelector('main [data-do="retry"]');
    assert.equal(await page.locator(".view-now").count(), 0);
    await page.click('main [data-do="live"]');
    await page.waitForSelector('main [data-do="live"]', { state: "detached" });
    await page.waitForSelector('main [data-do="retry"]');
    society.isBroken = false;
    await page.click('main [data-do="retry"]');
    await page.waitForSelector(".view-now");
  });
});

test("trouble on the way moves nothing on screen, and goes away with its cause", async () => {
  await visit("full", { allow: /503/ }, async (page, society) => {
    await go(page, "#/now");
    const place = () => page.locator(".card").first().boundingBox();
    const before = await place();
    society.isBroken = true;
    society.emit("inbox.decided");
    await page.waitForSelector('#notices [data-do="retry"]');
    assert.deepEqual(await place(), before);
    assert.match(await page.textContent("#notices"), /society is busy/);
    await page.keyboard.press("p"); // or it would try again by itself
    society.isBroken = false;
    await page.click('#notices [data-do="retry"]');
    await page.waitForSelector('#notices [data-do="retry"]', { state: "detached" });
    assert.deepEqual(await place(), before);
  });
});

test("what happens in the society moves nothing on screen", async () => {
  await visit("full", {}, async (page, society) => {
    const { waits } = society;
    for (const view of VIEWS.filter((hash) => !hash.includes("at="))) {
      await go(page, view);
      await watchMoves(page);
      for (const status of ["idle", "working", "idle"]) {
        const { reads } = society;
        society.agents
          .filter((one) => one.id.startsWith("reader"))
          .forEach((one) => {
            one.status = status;
            one.queue_length = 12;
          });
        if (view === "#/now") {
          society.waits = status === "idle" ? waits : waits.slice(2);
          society.inbox[1].state = status === "idle" ? "open" : "decided";
        }
        society.counts.sent += 7;
        society.counts.processed += 7;
        for (const name of [
          "agent.status_changed",
          "message.sent",
          "inbox.new_item",
          "usage.changed",
          "policy.swapped",
          "task.stage_changed",
        ])
          society.emit(name);
        await eventually("another look", () => society.reads > reads);
      }
      await settle(page);
      // Rows follow what comes and goes; cards stand.
      const isCard = (move) => view !== "#/now" || move.startsWith("SECTION");
      assert.deepEqual((await moved(page)).filter(isCard), [], view);
    }
  });
});

test("what somebody selects, filters or steps to moves nothing under the hand", async () => {
  await visit("full", {}, async (page) => {
    const place = (selector) => page.locator(selector).first().boundingBox();
    await go(page, "#/agents");
    const row = await place('.long [data-id="printer"]');
    const picture = await place(".picture");
    await page.click('.long [data-id="printer"] [data-do="select"]');
    await page.waitForSelector('.chosen [data-do="resume"]');
    assert.deepEqual(await place('.long [data-id="printer"]'), row);
    await page.selectOption('[name="status"]', "failed");
    await page.waitForSelector(".tree .dim");
    assert.deepEqual(await place(".picture"), picture);
    const slider = await place("footer .slider");
    await page.keyboard.press("[");
    await page.waitForSelector('[data-live="past"]');
    assert.deepEqual(await place("footer .slider"), slider);
    await go(page, "#/now");
    const cards = () =>
      page.locator(".card").evaluateAll((list) =>
        list.map((one) => [one.className, one.offsetLeft, one.offsetTop, one.offsetWidth]),
      );
    const live = await cards();
    await page.keyboard.press("[");
    await page.waitForSelector('[data-live="past"]');
    await page.waitForSelector('main[aria-busy="false"]');
    assert.deepEqual(await cards(), live);
  });
});

test("names of views and of states stay in one piece, and inside", async () => {
  await visit("full", {}, async (page, society) => {
    society.counts.dead = 128400;
    society.emit("message.dead");
    await page.locator("#views .badge.dead", { hasText: "128K" }).waitFor();
    for (const view of VIEWS) {
      await go(page, view);
      const out = await page.evaluate(() => {
        const menu = document.querySelector("#views ul").getBoundingClientRect();
        const all = [...document.querySelectorAll("#views a, #views .badge")];
        return all
          .filter(
            (one) =>
              one.getBoundingClientRect().right > menu.right ||
              [...one.children].some((part) => part.scrollWidth > part.clientWidth + 1),
          )
          .map((one) => one.textContent);
      });
      assert.deepEqual(out, [], view);
    }
    await go(page, "#/now");
    for (const lang of ["en", "zh-CN"]) {
      await page.waitForSelector(`html[lang="${lang}"]`);
      const lines = await page.locator(".states li").evaluateAll((list) =>
        list.map((one) => {
          const range = document.createRange();
          range.selectNodeContents(one.querySelector("span"));
          return range.getClientRects().length;
        }),
      );
      assert.deepEqual(lines, Array(8).fill(1), lang);
      await page.keyboard.press("L");
    }

    // On a narrow screen as well there is more than one question in sight.
    await page.setViewportSize({ width: 320, height: 740 });
    const isInside = await page.locator('li[data-id="item_2"]').evaluate((row) => {
      const card = row.closest(".card").getBoundingClientRect();
      return row.getBoundingClientRect().bottom <= card.bottom;
    });
    assert.ok(isInside);
  });
});

test("by keyboard alone every control is reached, and shows it", async () => {
  await visit("full", {}, async (page) => {
    for (const [i, view] of VIEWS.entries()) {
      await go(page, view);
      assert.deepEqual(await tabThrough(page, i === 0 ? "body" : "#main"), [], view);
    }
  });
});

test("a button that works keeps the focus; where it is gone the view has it", async () => {
  await visit("full", {}, async (page) => {
    const at = (selector) => eventually(selector, () => page.locator(selector).count());
    await go(page, "#/agent/writer");
    await page.focus('.page-head [data-do="pause"]');
    await page.keyboard.press("Enter");
    await at('.page-head [data-do="resume"]:focus');
    await page.keyboard.press("Enter");
    await at('.page-head [data-do="pause"]:focus');
    await go(page, "#/tasks");
    await page.focus('[data-do="cancel"][data-for="T-4"]');
    await page.keyboard.press("Enter");
    await at("dialog input:focus");
    await page.keyboard.press("Enter");
    await page.waitForSelector('[data-do="cancel"][data-for="T-4"]', { state: "detached" });
    await at("main:focus");
  });
});

test("the timeline can be read by those who do not see it", async () => {
  await visit("full", {}, async (page) => {
    await go(page, "#/timeline");
    const row = page
      .locator('[role="img"][aria-label$="researcher sent response → editor"]')
      .first();
    await go(page, `#/timeline?at=${await row.getAttribute("data-line")}`);
    await page.locator("[aria-live] .card", { hasText: "It is so." }).waitFor();
  });
});

test("the skip link leads to the content and leaves the address alone", async () => {
  await visit("full", {}, async (page) => {
    await go(page, "#/tasks");
    await page.focus("#skip");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "main");
    assert.match(page.url(), /#\/tasks$/);
  });
});

test("the inbox: after a decision the focus is on what follows", async () => {
  await visit("full", {}, async (page, society) => {
    const at = (selector) => eventually(selector, () => page.locator(selector).count());
    await go(page, "#/inbox");
    await page.click('[data-do="approve"]');
    await at('article[data-id="item_2"] h2:focus');
    await page.keyboard.press("m");
    await at("form.modify [name]:focus");
    await page.click('[data-do="close-modify"]');
    await at('[data-do="modify"]:focus');
    await page.keyboard.press("r");
    await at('article[data-id="item_3"] h2:focus');
    await page.keyboard.press("a");
    await at(".empty:focus");
    assert.ok(society.inbox.every((item) => item.state === "decided"));
  });
});

test("a link to an item that was decided shows it, without buttons", async () => {
  await visit("full", {}, async (page, society) => {
    society.inbox[1].state = "decided";
    society.inbox[1].decision = "reject";
    await go(page, "#/inbox?item=item_2");
    await page.waitForSelector('article[data-id="item_2"] .verdict');
    assert.doesNotMatch(await page.textContent("article"), /\bdue\b|overdue/);
    assert.equal(await page.locator('article [data-do="approve"]').count(), 0);
    await page.keyboard.press("a");
    await go(page, "#/inbox?state=all&item=item_2");
    await page.waitForSelector('article[data-id="item_2"] .verdict');
    assert.equal(await page.locator('article [data-do="approve"]').count(), 0);
    assert.equal(society.inbox[1].decision, "reject");
  });
});

test("a link to an item that does not exist shows no other in its place", async () => {
  const steps = async (page, society) => {
    for (const at of ["", "&at=113"]) {
      await go(page, `#/inbox?item=%3Cimg%3E${at}`);
      await page.waitForSelector(".inbox-split .empty");
      assert.match(await page.textContent(".inbox-split .empty"), /no question <img>/);
      assert.equal(await page.locator("article.item").count(), 0);
      for (const key of ["a", "r", "m", "1"]) await page.keyboard.press(key);
    }
    await go(page, "#/inbox?item=gone");
    await page.waitForSelector(".inbox-split .empty");
    await page.keyboard.press("j");
    await page.waitForSelector('article[data-id="item_1"]');
    assert.ok(society.inbox.every((item) => !item.given));
  };
  await visit("full", {}, steps, (problem) => /status of 404/.test(problem));
});

test("the inbox: options, changes by a form, the next item by itself", async () => {
  await visit("full", {}, async (page, society) => {
    await go(page, "#/inbox");
    assert.equal(await page.locator("article button.main").count(), 0); // an option says more
    await page.keyboard.press("2");
    await noticed(page, "Chosen: “The sea is closer than you think”; writer");
    assert.equal(society.inbox[0].state, "decided");
    await page.waitForSelector('article[data-id="item_2"]');
    assert.equal(await page.locator('article button.main[data-do="approve"]').count(), 1);
    await page.keyboard.press("m");
    await page.waitForSelector("form.modify");
    assert.equal(await page.locator('[data-do="approve"]').count(), 0);
    await page.click('[data-do="submit-modify"]');
    await page.waitForSelector("form.modify [role=alert]"); // nothing has changed
    await page.focus('[data-do="submit-modify"]');
    await page.keyboard.press("a");
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
    await page.waitForSelector("text=Nothing is waiting for you");
  });
});

test("a more urgent question does not push aside the one that is read", async () => {
  await visit("full", {}, async (page, society) => {
    await go(page, "#/inbox");
    await page.waitForSelector('article[data-id="item_1"]');
    assert.match(await page.textContent(".decision"), /cannot be undone/);
    const urgent = { id: "item_4", title: "Stop the press?", priority: "urgent", state: "open" };
    society.inbox.unshift({ ...society.inbox[0], ...urgent });
    society.emit("inbox.new_item");
    await page.waitForSelector('.items [data-id="item_4"]');
    assert.equal(await page.getAttribute("article", "data-id"), "item_1");
    await page.keyboard.press("a");
    await page.waitForSelector('.items [data-id="item_1"]', { state: "detached" });
    const decided = society.inbox.filter((item) => item.given).map((item) => item.id);
    assert.deepEqual(decided, ["item_1"]);
  });
});

test("what was typed, unfolded and scrolled to is there for whoever comes back", async () => {
  await visit("full", {}, async (page, society) => {
    await page.setViewportSize({ width: 1280, height: 500 });
    await go(page, "#/inbox?item=item_2");
    await page.fill('[name="comment"]', "after the 5th");
    await page.focus('[data-do="modify"]');
    await page.keyboard.press("m");
    await page.fill('form.modify [name="amount"]', "50");
    await page.check('form.modify [name="express"]');
    const main = page.locator("main");
    await main.evaluate((node) => (node.scrollTop = 120));
    const top = await main.evaluate((node) => node.scrollTop);
    assert.ok(top > 0);
    await page.click("article .quiet a.agent");
    await page.waitForSelector('[data-view="agent"] h1');
    assert.equal(await main.evaluate((node) => node.scrollTop), 0);
    await page.goBack();
    await page.waitForSelector("form.modify");
    await eventually("the place", async () => (await main.evaluate((n) => n.scrollTop)) === top);
    assert.equal(await page.inputValue('[name="comment"]'), "after the 5th");
    assert.equal(await page.inputValue('form.modify [name="amount"]'), "50");
    assert.ok(await page.isChecked('form.modify [name="express"]'));
    await page.click('[data-do="submit-modify"]');
    await eventually("the decision", () => society.inbox[1].decision === "modify");
    assert.deepEqual(society.inbox[1].given.changes, { amount: 50, express: true });
    assert.equal(society.inbox[1].given.comment, "after the 5th");

    await go(page, "#/agents?open=courier");
    const list = page.locator(".long");
    await list.evaluate((node) => (node.scrollTop = 600));
    await page.waitForSelector('.long [data-id="reader12"]');
    const place = await list.evaluate((node) => node.scrollTop);
    await page
      .locator('.long [data-id="reader12"] a')
      .first()
      .evaluate((one) => one.click());
    await page.waitForSelector('[data-view="agent"] h1');
    await page.goBack();
    await page.waitForSelector('.long [data-id="reader12"]');
    await eventually(
      "the place in the list",
      async () => (await list.evaluate((node) => node.scrollTop)) === place,
    );
  });
});

test("the inbox: another list, another item; in the past it says that nothing waited", async () => {
  await visit("full", {}, async (page) => {
    await go(page, "#/inbox?item=item_2");
    await page.selectOption('[name="state"]', "decided");
    await page.waitForSelector('article[data-id="item_0"] .verdict');
    assert.doesNotMatch(page.url(), /item_2/);
    await go(page, "#/inbox?at=40");
    await page.waitForSelector("text=Nothing was waiting for you at this moment");
  });
});

test("an agent that is not there gets a sentence of its own", async () => {
  await visit("full", { allow: /404/ }, async (page) => {
    await go(page, "#/agent/nobody");
    await page.waitForSelector("text=There is no agent nobody");
    assert.equal(await page.locator("#notices").textContent(), "");
  });
});

test("on a small screen help begins with its title, and notices leave time alone", async () => {
  await visit("full", {}, async (page) => {
    await page.setViewportSize({ width: 320, height: 480 });
    await go(page, "#/inbox");
    await page.click('[data-do="help"]');
    await page.waitForSelector("#dialog-title:focus");
    assert.ok((await page.locator("#dialog-title").boundingBox()).y > 0);
    await page.keyboard.press("Tab");
    await page.waitForSelector('dialog [data-do="close"]:focus');
    await page.keyboard.press("Escape");
    await page.waitForSelector('[data-do="help"]:focus');
    await keepNotices(page);
    await page.click('[data-do="approve"]');
    const places = await page.waitForFunction(() => {
      const [notice, time] = [".notice", "footer"].map((one) => document.querySelector(one));
      return notice && [notice.getBoundingClientRect().bottom, time.getBoundingClientRect().top];
    });
    const [bottom, top] = await places.jsonValue();
    assert.ok(bottom <= top, `${bottom} ${top}`);
  });
});

test("a dialog keeps the focus inside, and Escape gives it back", async () => {
  await visit("full", {}, async (page) => {
    await go(page, "#/tasks");
    await page.focus('[data-do="cancel"][data-for="T-4"]');
    await page.keyboard.press("Enter");
    await page.waitForSelector("dialog input:focus");
    for (let i = 0; i < 8; i += 1) {
      await page.keyboard.press("Tab");
      const isBehind = await page.evaluate(
        () => document.activeElement.closest("dialog, body > header, nav, main, footer")?.id,
      );
      assert.ok(["dialog", undefined].includes(isBehind), isBehind);
    }
    await page.keyboard.press("Escape");
    await page.waitForSelector('[data-do="cancel"][data-for="T-4"]:focus');
  });
});

test("a key that is held down decides one question, not those that follow", async () => {
  await visit("full", {}, async (page, society) => {
    await go(page, "#/inbox");
    await page.keyboard.down("r");
    await page.waitForSelector('article[data-id="item_2"] h2:focus');
    await page.keyboard.down("r"); // it repeats
    await page.keyboard.up("r");
    await page.keyboard.press("a");
    await eventually("a decision", () => society.inbox[1].state === "decided");
    assert.equal(society.inbox[1].decision, "approve");
  });
});

test("a dialog that opens again is empty and takes what is typed", async () => {
  await visit("full", {}, async (page, society) => {
    await go(page, "#/tasks");
    const cancel = '[data-do="cancel"][data-for="T-4"]';
    await page.click(cancel);
    await page.fill("dialog input", "not yet");
    await page.click('[data-do="cancel-dialog"]');
    await page.click(cancel);
    assert.equal(await page.inputValue("dialog input"), "");
    await page.fill("dialog input", "too late");
    await page.click('[data-do="confirm"]');
    await page.waitForSelector(cancel, { state: "detached" });
    assert.deepEqual(society.asked.at(-1), {
      path: "/tasks/T-4/cancel",
      body: { reason: "too late" },
    });
  });
});

test("the inbox: changes in plain words, and of a member called comment", async () => {
  await visit("full", {}, async (page, society) => {
    society.inbox[1].body = { comment: "as agreed", amount: 120 };
    await go(page, "#/inbox?item=item_2");
    await page.keyboard.press("m");
    await page.fill('form.modify [name="amount"]', "50");
    await page.click('[data-do="submit-modify"]');
    await eventually("the change", () => society.inbox[1].decision === "modify");
    assert.deepEqual(society.inbox[1].given.changes, { amount: 50 });
    await page.waitForSelector('article[data-id="item_3"]');
    await page.keyboard.press("m");
    await page.fill("form.modify textarea", "only the first part");
    await page.click('[data-do="submit-modify"]');
    await eventually("the words", () => society.inbox[2].decision === "modify");
    assert.deepEqual(society.inbox[2].given.changes, { text: "only the first part" });
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
    await page.locator("footer input[type=range]").evaluate((slider) => {
      slider.value = "7";
      slider.dispatchEvent(new Event("input", { bubbles: true }));
    });
    await page.waitForSelector('[data-line="7"]');
    assert.match(page.url(), /at=7$/);
    await page.click('footer [data-do="live"]');
    await page.waitForSelector('[data-live="live"]');
    for (const view of ["dead", "cost"]) {
      await go(page, `#/${view}`);
      assert.equal(await page.isVisible("footer"), false, view);
    }
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
    await eventually("the outcome", () => page.locator(".outcome:focus").count());
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

test("what if: a replay that failed does not say to keep history, which is kept", async () => {
  await visit("full", {}, async (page, society) => {
    society.replay = { id: "replay_1", state: "failed" };
    await go(page, "#/policies?replay=replay_1");
    await page.waitForSelector("text=could not be replayed");
    assert.equal(await page.locator('text=history = "full"').count(), 0);
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

test("cost: what is left of each budget", async () => {
  await visit("full", {}, async (page, society) => {
    await go(page, "#/cost");
    const rows = await page.locator(".plain-rows [data-id]").allTextContents();
    assert.equal(rows.length, 3);
    assert.match(rows[0], /society.*\$0\.9048 of \$1\.00 left/);
    assert.match(rows[1], /T-5.*used up/);
    assert.match(rows[2], /writer.*900 of 20K left/);
    const canvas = await browser().newPage();
    for (const theme of ["light", "dark"]) {
      await page.waitForSelector(`html[data-theme="${theme}"]`);
      for (const [id, ...wanted] of [
        ["society", [0.05, "accent"], [0.95, "line"]],
        ["writer", [0.02, "red"]],
        ["T-5", [0.05, "line"]],
      ]) {
        const colours = await page.evaluate(
          (names) => {
            const probe = document.body.appendChild(document.createElement("i"));
            const list = names.map((name) => {
              probe.style.color = `var(--${name})`;
              return getComputedStyle(probe).color;
            });
            probe.remove();
            return list;
          },
          wanted.map(([, name]) => name),
        );
        const meter = page.locator(`[data-id="${id}"] meter`);
        const places = wanted.map(([x]) => x);
        assert.deepEqual(await coloursAt(canvas, meter, places), colours, `${id}, ${theme}`);
      }
      await page.keyboard.press("D");
    }
    await canvas.close();
    const [budget] = society.budgets;
    society.budgets = [
      { ...budget, what: "tokens", limit: 20000000, used: 14430, left: 19985570 },
    ];
    society.emit("usage.changed");
    await page.locator('[data-id="society"]', { hasText: "19.9M of 20M left" }).waitFor();
    society.budgets = [];
    await go(page, "#/now");
    await go(page, "#/cost");
    await page.waitForSelector("text=No budget is set");
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
    const text = readFileSync(await file.path(), "utf8");
    assert.match(text, /^sequenceDiagram\n {2}participant p1 as user\n/);
    assert.match(text, /\n {2}p1->>p2: task\n/);
  });
});

test("the times of the timeline stay in sight beside a wide diagram", async () => {
  await visit("full", {}, async (page) => {
    await page.setViewportSize({ width: 320, height: 800 });
    await go(page, "#/timeline");
    const canvas = page.locator(".sequence .canvas");
    await canvas.evaluate((node) => (node.scrollLeft = 200));
    await eventually("the times", () =>
      canvas.evaluate((node) => {
        const times = [...node.querySelectorAll(".time")];
        const edge = node.getBoundingClientRect().left;
        const isNear = (one) => Math.abs(one.getBoundingClientRect().left - edge - 8) < 4;
        return node.scrollLeft === 200 && times.length > 5 && times.every(isNear);
      }),
    );
  });
});

test("dead letters: the selected, and all that fit", async () => {
  await visit("full", {}, async (page, society) => {
    await go(page, "#/dead");
    await page.keyboard.press("j");
    await page.locator(".chosen", { hasText: "how many copies?" }).waitFor();
    await page.keyboard.press("j");
    await page.reload(); // the address holds which one is open
    await page.locator(".chosen", { hasText: "deliver to the north quay" }).waitFor();
    await page.keyboard.press("k");
    await page.locator(".chosen", { hasText: "how many copies?" }).waitFor();
    const offered = page.locator("#values-to option");
    assert.deepEqual(await offered.evaluateAll((list) => list.map((one) => one.value)), [
      "courier",
      "printer",
    ]);
    await page.selectOption('[name="reason"]', { label: "the receiver failed" });
    await eventually("the filter", () => /reason=receiver_failed/.test(page.url()));
    await page.selectOption('[name="reason"]', { label: "any" });
    await eventually("no filter", () => !/reason/.test(page.url()));
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
