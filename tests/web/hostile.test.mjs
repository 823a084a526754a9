// Texts that want to be more than texts, in a real browser, with the stand-in for the society:
// they are shown, as what they are, and nothing comes of them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, go, isWithin, keepNotices, overflow, settle } from "./browser.mjs";
import { iso, T0 } from "./society.mjs";
import { start } from "./standin.mjs";
import { visits } from "./visits.mjs";

const WEB = new URL("../../web/", import.meta.url).pathname;

const { visit } = visits();

const IMAGE = "<img src=x onerror=window.hacked=1>";
const BIDI = "\u202egnp.exe\u202c \u2066x";
const TURNING = /[\u202a-\u202e\u2066-\u2069]/;

// Everything that the page says anywhere: texts, names for those who do not see them, what comes
// up under the pointer, the title of the tab. What stands in a field is what will be sent: it is
// left as it is, and turns nothing outside of the field.
const said = (page) =>
  page.evaluate(() => {
    const names = ["title", "aria-label", "aria-valuetext", "alt", "placeholder", "label"];
    const all = [...document.querySelectorAll("*")];
    return [
      document.title,
      document.body.textContent,
      ...all.flatMap((one) => names.map((name) => one.getAttribute(name) ?? "")),
    ].join("\n");
  });

async function assertInert(page, where) {
  await settle(page);
  assert.equal(await page.evaluate(() => window.hacked), undefined, where);
  const wild = "script:not([src]), iframe, img:not([src=\"icon.svg\"]), [onerror], [onload], [onclick], a[href^=javascript]";
  assert.equal(await page.locator("body").locator(wild).count(), 0, where);
  const turning = (await said(page)).split("\n").filter((text) => TURNING.test(text));
  assert.deepEqual(
    turning.map((text) => encodeURI(text.slice(0, 200))),
    [],
    where,
  );
  assert.deepEqual(await overflow(page), [], where);
}

test("hostile texts are shown, in every view, as the texts they are", async () => {
  await visit("hostile", {}, async (page, society) => {
    const id = encodeURIComponent(IMAGE);
    const sent = society.activity.find((row) => row.event === "sent" && row.agent === IMAGE);
    for (const [view, place] of [
      ["#/now", "#main li[data-id]"],
      [`#/agents?q=${id}`, ".long .row"],
      [`#/agents?selected=${id}`, ".chosen h2"],
      [`#/agent/${id}`, ".page-head h1"],
      [`#/timeline?at=${sent.line}`, ".chosen"],
      [`#/tasks?task=${id}`, ".task b"],
      ["#/inbox?item=evil_0%3Cb%3E", "article h2"],
      ["#/dead?letter=dead_0", ".chosen h2"],
      ["#/policies", ".policy b"],
      ["#/cost", ".numbers td"],
    ]) {
      await go(page, view);
      await page.locator(place, { hasText: "<img src=x onerror=" }).first().waitFor();
      await assertInert(page, view);
    }
  });
});

test("what turns the direction of writing turns nothing, not in titles, notices or dialogs either", async () => {
  await visit("hostile", { allow: /409/ }, async (page, society) => {
    const id = encodeURIComponent(BIDI);
    for (const view of [
      "#/now",
      `#/agents?selected=${id}`,
      `#/agent/${id}`,
      "#/timeline",
      `#/tasks?task=${id}`,
      "#/inbox?item=evil_2%3Cb%3E",
      "#/dead?letter=dead_2",
      "#/policies",
      "#/cost?by=model",
    ]) {
      await go(page, view);
      await assertInert(page, view);
    }
    await go(page, `#/agent/${id}`);
    await page.locator(".page-head h1", { hasText: "gnp.exe" }).waitFor();
    await page.click('.page-head [data-do="terminate"]');
    await page.locator("dialog", { hasText: "gnp.exe" }).waitFor();
    await assertInert(page, "a dialog");
    await page.click('[data-do="cancel-dialog"]');
    await keepNotices(page);
    await page.click('.page-head [data-do="pause"]');
    await page.locator(".notice", { hasText: "gnp.exe" }).waitFor();
    await assertInert(page, "a notice");
    society.change = () => ({ status: 409, answer: { error: BIDI, message: BIDI + IMAGE } });
    await page.click('.page-head [data-do="resume"]');
    await page.locator(".notice.failed", { hasText: "gnp.exe" }).waitFor();
    await page.locator(".notice.failed", { hasText: "<img src=x" }).waitFor();
    await assertInert(page, "a refusal");
  });
});

test("a message of a megabyte opens in the timeline, a piece at a time", async () => {
  await visit("hostile", {}, async (page, society) => {
    const { line } = society.activity.find((row) => row.event === "sent" && row.agent === IMAGE);
    await go(page, `#/timeline?at=${line}`);
    const text = page.locator(".chosen pre.text");
    const length = async () => (await text.textContent()).length;
    assert.equal(await length(), 4001);
    await page.locator(".chosen", { hasText: "1,044,576 more characters" }).waitFor();
    for (const wanted of [100001, 200001]) {
      await page.click('.chosen [data-do="more"]');
      await eventually(`${wanted}`, async () => (await length()) === wanted);
    }
    assert.match(await text.textContent(), /^x+…$/);
    await assertInert(page, "a megabyte");
  });
});

test("what a replay has found may be hostile too", async () => {
  await visit("hostile", {}, async (page, society) => {
    const finding = {
      agent: IMAGE,
      message: BIDI,
      time: iso(T0),
      difference: IMAGE,
      asked: `${IMAGE}${BIDI}`,
      recorded: { effect: IMAGE, arguments: [BIDI, "y".repeat(1 << 20)] },
      now: { end: IMAGE, message: BIDI },
    };
    const findings = [finding, { ...finding, agent: BIDI, recorded: BIDI, now: "z".repeat(1 << 20) }];
    society.replay = { id: "replay_1", state: "different", findings };
    await go(page, "#/policies?replay=replay_1");
    assert.equal(await page.locator(".difference").count(), 2);
    await page.locator(".difference b", { hasText: IMAGE }).waitFor();
    await page.locator(".difference .sides", { hasText: "gnp.exe" }).first().waitFor();
    assert.ok((await page.locator(".outcome").textContent()).length < 10000);
    await assertInert(page, "differences");
    society.replay = { id: "replay_2", state: "failed", message: IMAGE + BIDI };
    await go(page, "#/policies?replay=replay_2");
    await page.locator(".outcome", { hasText: IMAGE }).waitFor();
    await assertInert(page, "a failure");
  });
});

test("the tests notice a request for elsewhere, a script that runs, an error", async () => {
  assert.equal(isWithin("http://127.0.0.1:4000/x", "http://127.0.0.1:4000"), true);
  assert.equal(isWithin("http://127.0.0.1:40001/x", "http://127.0.0.1:4000"), false);
  const seen = [];
  const note = (problem) => seen.push(problem);
  await visit(
    "empty",
    {},
    async (page, society, server) => {
      await page.evaluate(() => fetch("http://127.0.0.2:9/away").catch(() => 0));
      await page.evaluate(() => setTimeout(() => console.error("an error"), 0));
      await page.evaluate(() => setTimeout(() => window.alert("a box"), 0));
      await settle(page);
      const elsewhere = await start(WEB, "empty");
      await page.goto(`${elsewhere.url}/#left`);
      elsewhere.close();
      await page.goto(`${server.url}/`);
    },
    note,
  );
  for (const wanted of [/Content Security Policy/, /an error/, /a dialog: a box/, /a request for http/])
    assert.ok(
      seen.some((problem) => wanted.test(problem)),
      `${wanted} in ${seen}`,
    );
});
