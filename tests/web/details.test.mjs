// Details of the page in a real browser, with the stand-in for the society.

import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, go, settle } from "./browser.mjs";
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

test("in another language a refusal is said in it, but for what only the host knows", async () => {
  await visit("full", { allow: /4\d\d/ }, async (page, society) => {
    await go(page, "#/agent/writer");
    await page.keyboard.press("L");
    await page.waitForSelector('html[lang="zh-CN"]');
    for (const [status, error, shown] of [
      [429, "mailbox_full", ["接收者的信箱已满，请稍后再试。"]],
      [422, "policy_refused", ["策略未被接受，原策略继续有效。", "example 2 fails"]],
      [429, "never_heard_of", ["请求过多，请稍候。", "example 2 fails"]],
    ]) {
      society.change = () => ({ status, answer: { error, message: "example 2 fails" } });
      await page.click('.page-head [data-do="pause"]');
      await page.waitForSelector(".notice.failed");
      assert.deepEqual(await page.locator(".notice.failed p").allTextContents(), shown);
      await page.click('[data-do="dismiss"]');
      await page.locator(".notice").waitFor({ state: "detached" });
    }
  });
});

test("an agent's page speaks in words: its collaborators, who wrote, what was decided", async () => {
  await visit("full", {}, async (page, society) => {
    const interfaceSpec = { services: "facts", input_format: "a query", output_format: "a list" };
    const known = { agentId: "researcher", role: "researcher", description: "knows the harbour" };
    society.brief = { collaborators: [{ ...known, interfaceSpec }] };
    society.say("editor", "writer", "general", "Hurry.");
    society.activity.at(-1).other = "writer";
    const decision = { item_id: "item_0", decision: "reject" };
    society.log("decision", { agent: "writer", detail: JSON.stringify(decision) });
    society.log("clock", { agent: "writer", detail: '{"by":"ntp","item_id":"x"}' });
    await go(page, "#/agent/writer");
    const card = (name) => page.locator(".card", { has: page.locator("h2", { hasText: name }) });
    const brief = card("Brief");
    assert.equal(
      await brief.locator("dd").textContent(),
      "researcher (researcher): knows the harbour · facts · a query → a list",
    );
    assert.equal(await brief.locator('a[href="#/agent/researcher"]').count(), 1);
    const events = card("Recent events").locator("li");
    const said = async (at) => (await events.nth(at).textContent()).replace(/^.*?[\d:]{8}/, "");
    assert.equal(await said(0), "clockBy: ntp, Question: x");
    assert.equal(await said(1), "decidedrejected · Question");
    assert.equal(await events.nth(1).locator('a[href="#/inbox?item=item_0"]').count(), 1);
    assert.equal(await said(2), "editorsentgeneral to writer");
  });
});

test("an agent that has ended is asked for nothing that it has no more", async () => {
  await visit("full", {}, async (page, society) => {
    const printer = society.agents.find(({ id }) => id === "printer");
    const ended_at = new Date().toISOString();
    Object.assign(printer, { status: "stopped", ended_at, end_reason: "out of paper" });
    await go(page, "#/agent/printer"); // what is not found is an error in the console
    assert.match(await page.textContent(".page-head"), /stopped.* · ended .* · out of paper/);
    assert.match(await page.textContent("#main"), /It has ended\. Its contacts are not kept\./);
    assert.doesNotMatch(await page.textContent("#main"), /Why it waits|It knows no one/);
    assert.deepEqual(
      await page.locator(".page-head [data-do]").evaluateAll((all) => all.map((one) => one.dataset.do)),
      ["open-timeline"],
    );
  });
  await visit("full", { allow: /404/ }, async (page) => {
    const missing = new Set();
    const note = (answer) =>
      answer.status() === 404 && missing.add(new URL(answer.url()).pathname);
    page.on("response", note);
    await go(page, "#/agent/nobody");
    await page.waitForSelector("text=There is no agent nobody");
    page.off("response", note);
    assert.deepEqual([...missing], ["/api/v1/agents/nobody"]); // one has to look
  });
});

test("what costs nothing has no bar", async () => {
  await visit("full", {}, async (page, society) => {
    const bars = page.locator(".numbers .share-bar");
    await go(page, "#/cost");
    await eventually("a bar each", async () => (await bars.count()) === 4);
    for (const row of society.usage.slice(1)) row.cost = 0;
    society.emit("usage_changed");
    await eventually("one bar", async () => (await bars.count()) === 1);
    society.usage[0].cost = 0;
    await page.reload();
    await has(page, '[data-view="cost"] .numbers td');
    assert.equal(await bars.count(), 0);
  });
});

test("an opened policy has a row of its own, and leaves no gap in the others", async () => {
  await visit("full", {}, async (page, society) => {
    const boxes = async () => {
      const all = page.locator(".grid .policy");
      return Object.fromEntries(
        await all.evaluateAll((cards) =>
          cards.map((card) => [card.dataset.id, card.getBoundingClientRect().toJSON()]),
        ),
      );
    };
    await go(page, "#/policies");
    const before = await boxes();
    for (const kind of ["context", "deadlock", "messages"]) {
      await go(page, `#/policies?kind=${kind}`);
      await has(page, `[data-id="${kind}"] form`);
      const { [kind]: opened, ...others } = await boxes();
      assert.ok(opened.width > 2 * before[kind].width, kind);
      const closed = Object.values(others);
      assert.equal(closed.length, society.policies.length - 1);
      const rows = [...new Set(closed.map(({ y }) => y))].map((top) =>
        closed.filter(({ y }) => y === top),
      );
      const perRow = Math.max(...rows.map((row) => row.length));
      assert.ok(rows.filter((row) => row.length < perRow).length <= 1, `${kind}: a gap in a row`);
      for (const row of rows) // nor below a card that is lower than the others
        assert.equal(new Set(row.map(({ height }) => height)).size, 1, kind);
    }
  });
});

test("no label of the timeline lies over another, and what nobody did has a mark", async () => {
  await visit("full", {}, async (page, society) => {
    const command = (op, target) =>
      society.log("order", { agent: "system", detail: JSON.stringify({ by: "owner", op, target }) });
    for (let i = 0; i < 3; i += 1) {
      society.say("reader24", "reader23", "query", "?");
      society.log("processed", { agent: `reader${i + 1}`, type: "query" });
    }
    command("decide", "item_1");
    command("pause", "reader24");
    for (const at of ["", `?at=${society.line}`]) {
      await page.setViewportSize({ width: 600, height: 700 });
      await go(page, `#/timeline${at}`);
      const rows = page.locator(".event");
      await eventually("rows", async () => (await rows.count()) > 5);
      for (let left = 0; left <= 1200; left += 60) {
        await page.evaluate((to) => (document.querySelector(".canvas").scrollLeft = to), left);
        await settle(page);
        const labels = await rows.evaluateAll((all) =>
          all.map((row) => row.querySelectorAll(".label").length),
        );
        assert.deepEqual([...new Set(labels)], [1], `${at} ${left}`);
      }
      const places = (selector) =>
        page.locator(selector).evaluateAll((all) => all.map((one) => one.getBoundingClientRect().x));
      const row = (line) => `.event[data-line="${line}"]`;
      await has(page, `${row(society.line)} .sign.note`); // on the lane of the agent
      const free = row(society.line - 1);
      await page.locator(`${free} .label`, { hasText: "command from outside · decide" }).waitFor();
      await eventually("a mark in sight, however far it is scrolled", async () => {
        const [[sign], [canvas]] = [await places(`${free} .sign.note`), await places(".canvas")];
        return sign > canvas;
      });
    }
  });
});
