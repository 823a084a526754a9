// What each view shows of the society of the stand-in: every fact that it is there for.

import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, go } from "./browser.mjs";
import { iso } from "./society.mjs";
import { visits } from "./visits.mjs";

const { visit } = visits();

const textOf = async (place) => (await place.textContent()).replace(/\s+/g, " ");
// Without the time it begins with; one of yesterday, just after midnight, has its date as well.
const bareOf = (row) => row.replace(/^.*?[\d:]{8} ?/, "");
const texts = async (place) =>
  (await place.allTextContents()).map((text) => text.replace(/\s+/g, " ").trim());
const cardOf = (page, name) =>
  page.locator(".card", { has: page.locator("h2", { hasText: name }) });
const marks = (place, mark) =>
  place.evaluateAll((list, name) => list.map((one) => one.dataset[name]), mark);

test("now: messages by state, rates, and who needs somebody", async () => {
  await visit("full", {}, async (page, society) => {
    const now = Date.now() + 60000;
    society.counts.now = iso(now);
    society.waits.forEach((wait) => (wait.since = iso(now - 95000)));
    await go(page, "#/now");
    assert.match(await textOf(page.locator(".law h2")), /1,284/);
    assert.deepEqual(await texts(page.locator(".law .legend li")), [
      "processed1,251",
      "pending9",
      "expired6",
      "dead2",
      "dropped3",
      "cancelled13",
    ]);
    assert.equal(await page.getAttribute(".law .legend a", "href"), "#/dead");

    assert.deepEqual(await marks(cardOf(page, "Needs your decision").locator("li"), "id"), [
      "item_1",
      "item_2",
      "item_3",
    ]);
    assert.match(await textOf(page.locator('li[data-id="item_2"]')), /printer.*overdue$/);
    const waiting = await texts(cardOf(page, "Waiting").locator("li"));
    assert.deepEqual(waiting, [
      "root waits for a reply from editor1 min",
      "editor waits for a reply from writer1 min",
      "writer waits for your decision1 min",
    ]);
    assert.match(await textOf(cardOf(page, "Failed, paused").locator("h2")), /4$/);
    assert.deepEqual(await texts(cardOf(page, "Failed, paused").locator("li")), [
      "pausedchecker",
      "failedprinter",
      "unresponsivecourier",
      "failedreader5",
    ]);
    assert.deepEqual(await marks(cardOf(page, "Overdue tasks").locator("li"), "id"), ["T-3"]);
    assert.match(await textOf(cardOf(page, "Overdue tasks").locator("li")), /^T-3 writer/);

    // Ten seconds by the clock of the society.
    society.counts = { ...society.counts, now: iso(now + 10000), sent: 1354, processed: 1286 };
    society.emit("message.sent");
    await page.locator(".rates", { hasText: "7 sent / s" }).waitFor();
    assert.match(await textOf(page.locator(".rates")), /7 sent \/ s3\.5 processed \/ s/);
    assert.equal(await page.locator(".rates polyline").count(), 1);
    assert.match(await textOf(page.locator(".law")), /1,354.*in transit/); // they do not add up
  });
});

test("now: how many agents are in which state", async () => {
  await visit("full", {}, async (page, society) => {
    for (let i = 0; i < 60; i += 1) society.agent(`w${i}`, "worker", "printer"); // only counted
    await go(page, "#/now");
    const states = page.locator(".grid > .card", { has: page.locator("h2", { hasText: "Agents" }) });
    assert.match(await textOf(states.locator("h2")), /93$/);
    assert.deepEqual(await texts(states.locator("li")), [
      "working7",
      "idle79",
      "waits for an agent2",
      "waits for you1",
      "paused1",
      "failed2",
      "unresponsive1",
      "stopped0",
    ]);
  });
});

test("agents: waits are arrows, contacts of the selected agent are lines", async () => {
  await visit("full", {}, async (page, society) => {
    society.waits.forEach((wait) => (wait.since = iso(Date.now() - 5400000)));
    await go(page, "#/agents");
    const arrows = page.locator(".tree path.wait");
    const ends = async () => (await arrows.locator("title").allTextContents()).sort();
    assert.deepEqual(await ends(), ["editor → writer", "root → editor", "writer → user"]);
    assert.equal(await arrows.first().getAttribute("marker-end"), "url(#arrow)");
    assert.equal(await page.locator(".tree path.contact, .tree .box.near").count(), 0);

    await page.click('.long [data-id="editor"] [data-do="select"]');
    await page.waitForSelector(".tree path.contact");
    assert.equal(await page.locator(".tree path.contact").count(), 4);
    assert.deepEqual((await page.locator(".tree .near text:first-of-type").allTextContents()).sort(), [
      "researcher",
      "root",
      "writer",
      "翻译",
    ]);
    assert.match(
      await textOf(page.locator(".chosen")),
      /editor.*waits for a reply from writer · for 1 h.*Knows 4: root, writer, researcher, 翻译/,
    );

    // An arrow goes from box to box: its ends are those of the boxes.
    const isBetween = await page.evaluate(() => {
      const boxOf = (name) =>
        [...document.querySelectorAll(".tree .box")].find((one) =>
          one.querySelector("title").textContent.startsWith(`${name} ·`),
        );
      const places = ["editor", "writer"].map((id) => boxOf(id).getBoundingClientRect());
      const path = [...document.querySelectorAll(".tree path.wait")].find(
        (one) => one.querySelector("title").textContent === "editor → writer",
      );
      const matrix = path.getScreenCTM();
      const ends = [0, path.getTotalLength()].map((at) =>
        path.getPointAtLength(at).matrixTransform(matrix),
      );
      return ends.map(
        ({ x, y }, i) =>
          x >= places[i].left - 3 &&
          x <= places[i].right + 3 &&
          y >= places[i].top - 3 &&
          y <= places[i].bottom + 3,
      );
    });
    assert.deepEqual(isBetween, [true, true]);

    society.waits = society.waits.filter((wait) => wait.agent !== "writer");
    society.emit("agent.status_changed");
    await eventually("two arrows", async () => (await arrows.count()) === 2);
    assert.deepEqual(await ends(), ["editor → writer", "root → editor"]);
  });
});

test("agents: a large family unfolds and folds, in the list and in the picture", async () => {
  await visit("full", {}, async (page) => {
    await go(page, "#/agents");
    const group = page.locator('.long .group[data-id="courier/reader"]');
    const readers = page.locator('.tree .box title:text-matches("^reader\\\\d+ ")');
    assert.match(await textOf(group), /15 × reader114$/); // of them 11 idle, 4 working
    assert.match(await textOf(page.locator('.long .group[data-id="courier/critic"]')), /8 × critic/);
    assert.equal(await page.locator('.long [data-id="reader5"]').count(), 1); // it has failed
    assert.equal(await page.locator('.long [data-id="reader1"]').count(), 0);
    assert.equal(await readers.count(), 1);

    await group.locator('[data-do="unfold"]').click();
    await page.waitForSelector('.long [data-id="reader1"]');
    assert.equal(await group.count(), 0);
    await page.locator(".picture .canvas").evaluate((node) => (node.scrollTop = 0));
    await eventually("their boxes", async () => (await readers.count()) > 5);
    assert.match(page.url(), /open=courier/);

    await page.click('.long [data-do="fold"][data-for="courier"]');
    await group.waitFor();
    assert.equal(await page.locator('.long [data-id="reader1"]').count(), 0);
    await eventually("one box", async () => (await readers.count()) === 1);

    await page.locator(".tree .box.is-group", { hasText: "critic" }).click();
    await page.waitForSelector('.long [data-do="fold"][data-for="courier"]');
  });
});

test("an agent: brief, contacts with their source, queue, cost, state, conversation", async () => {
  await visit("full", {}, async (page, society) => {
    society.log("turn_failed", { agent: "printer", other: "editor", detail: "no paper" });
    await go(page, "#/agent/editor");
    assert.match(
      await textOf(page.locator(".page-head")),
      /^editorwaits for an agent.*editor · child of root · spawned/,
    );
    assert.match(
      await textOf(cardOf(page, "Brief")),
      new RegExp(
        "ObjectiveWrite a press release about the new harbour line that a tired reader understands" +
          "Constraintsone pageno superlatives静态网页Inputsthe facts from the researcher" +
          "Outputsa text of at most 300 words" +
          "Done whenthe editor and the person have approved it$",
      ),
    );
    const contacts = await texts(cardOf(page, "Contacts").locator("tbody tr"));
    const since = / ?\d+ .*$/; // when it was added
    assert.deepEqual(
      contacts.map((row) => row.replace(since, "")),
      [
        "rootrootits parent",
        "writerwriterits child",
        "researcherresearcherits child",
        "翻译译者introduced by root",
      ],
    );
    assert.match(
      await textOf(page.locator(".card", { hasText: "Free again" })),
      /Load40%Free again.*Messages queued2in progressT-4pendingT-7 P1completed1$/,
    );
    assert.match(
      await textOf(cardOf(page, "Cost")),
      /Calls14Tokens21,900Dollars\$0\.0037/,
    );
    assert.match(await textOf(cardOf(page, "State, as it is now")), /drafts.*3.*best.*second/);
    const events = await texts(cardOf(page, "Recent events").locator("li"));
    const bare = events.map(bareOf);
    assert.equal(bare[0], "printerturn failedno paper"); // it was not the editor
    assert.match(bare[1], /^starts waitingwriter/);
    const talk = cardOf(page, "Conversation with its model");
    assert.match(await textOf(talk), /As it is now: 3 entries/);
    const entries = await texts(talk.locator("li"));
    assert.equal(entries[0], "message[editor] Write it. 请写得简明。");
    assert.equal(entries[1], "modelI have two headlines. I will ask which one fits.");
    assert.match(entries[2], /^modelescalate .*Which headline\?/);
  });
});

test("the timeline: bars of waits, and later rows in grey", async () => {
  await visit("full", {}, async (page) => {
    await go(page, "#/timeline");
    const bars = page.locator(".sequence rect.bar");
    const last = page.locator(".event").last();
    await last.waitFor();
    const forUser = page.locator(".sequence rect.bar.for-user");
    assert.equal(await forUser.locator("title").textContent(), "writer → user");
    const open = (await bars.locator("title").allTextContents()).filter((one) => !/rese/.test(one));
    assert.deepEqual(open.sort(), ["editor → writer", "root → editor", "writer → user"]);
    assert.equal(await page.locator(".event.later").count(), 0);

    // A bar reaches from the row where the wait begins to the one where it ends, on its lane.
    const rowAt = (line) => page.locator(`.event[data-line="${line}"]`);
    const all = await page
      .locator(".event")
      .evaluateAll((rows) =>
        rows.map((row) => [Number(row.dataset.line), row.getAttribute("aria-label")]),
      );
    const [ended] = all.findLast(([, name]) => /editor continues/.test(name));
    const [began] = all.findLast(
      ([line, name]) => line < ended && /editor starts waiting/.test(name),
    );
    const middle = async (line) => {
      const { y, height } = await rowAt(line).locator(".hit").boundingBox();
      return y + height / 2;
    };
    const [from, to] = [await middle(began), await middle(ended)];
    await eventually("its bar", () =>
      bars.evaluateAll(
        (list, [first, second]) =>
          list.some((bar) => {
            const { top, bottom } = bar.getBoundingClientRect();
            return Math.abs(top - first) < 8 && Math.abs(bottom - second) < 8;
          }),
        [from, to],
      ),
    );

    await go(page, `#/timeline?at=${began}`);
    await page.waitForSelector(`.event.selected[data-line="${began}"]`);
    const later = await page
      .locator(".event")
      .evaluateAll((rows) =>
        rows.map((row) => [Number(row.dataset.line), row.classList.contains("later")]),
      );
    assert.ok(later.some(([line]) => line > began) && later.some(([line]) => line < began));
    later.forEach(([line, isLater]) => assert.equal(isLater, line > began, line));
    const strength = (one) =>
      one.locator(".label").evaluate((label) => Number(getComputedStyle(label).opacity));
    assert.ok((await strength(rowAt(ended))) < (await strength(rowAt(began))));
  });
});

test("tasks: a column for each state, the urgent first, late ones marked", async () => {
  await visit("full", {}, async (page) => {
    await go(page, "#/tasks");
    const columns = page.locator(".board .column");
    const found = [];
    for (const column of await columns.all())
      found.push([
        await textOf(column.locator("h2")),
        await marks(column.locator(".task"), "id"),
      ]);
    assert.deepEqual(found, [
      ["pending2", ["T-7", "T-4"]],
      ["in progress2", ["T-1", "T-3"]],
      ["completed1", ["T-2"]],
      ["failed1", ["T-5"]],
      ["cancelled1", ["T-6"]],
    ]);
    assert.deepEqual(await marks(page.locator(".task.late"), "id"), ["T-3"]);
    assert.match(await textOf(page.locator('.task[data-id="T-3"]')), /P2editor → writer.*overdue/);
    assert.match(await textOf(page.locator('.task[data-id="T-4"]')), /due in 1 h/);
    assert.match(await textOf(page.locator('.task[data-id="T-5"]')), /3 tries.*no paper/);
    assert.deepEqual(await marks(page.locator('[data-do="cancel"]'), "for"), [
      "T-7",
      "T-4",
      "T-1",
      "T-3",
    ]);
  });
});

test("policies: what is in force, in which version, and every swap", async () => {
  await visit("full", {}, async (page, society) => {
    society.policies[0].version = 3;
    society.log("policy_swapped", { agent: "system", detail: "contacts: open → strict" });
    const when = iso(Date.now() - 60000);
    society.swaps = {
      contacts: [
        { time: when, from: { name: "strict" }, to: { name: "open" }, by: "mayor" },
        { time: when, from: { name: "open" }, to: { name: "strict" }, by: "editor" },
      ],
    };
    await go(page, "#/policies?kind=contacts");
    const card = page.locator('.policy[data-id="contacts"]');
    assert.match(await textOf(card), /Who may write to whomcontacts.*strictv3 9f86d081/);
    assert.match(await textOf(page.locator('.policy[data-id="briefs"]')), /strictv1 9f86d081$/);
    assert.equal(await page.locator(".policy").count(), 12);
    const swapsOfKind = (await texts(card.locator("li"))).map(bareOf);
    assert.deepEqual(swapsOfKind, ["open → stricteditor", "strict → openmayor"]);
    const swaps = cardOf(page, "Swaps").locator("li");
    assert.deepEqual(await marks(swaps, "line"), [String(society.line), String(society.line - 1)]);
    assert.match(await textOf(swaps.first()), /contacts: open → strict/);
    await swaps.last().locator("a").click();
    await eventually("its moment", () => page.url().endsWith(`at=${society.line - 1}`));
  });
});

test("cost: by agent, by task and by model, and all of it", async () => {
  await visit("full", {}, async (page) => {
    await go(page, "#/cost");
    const rows = () => texts(page.locator(".numbers tbody tr"));
    assert.deepEqual(await rows(), [
      "writer$0.0785615K4.1K",
      "researcher$0.01272864K5.2K",
      "editor$0.00371421K900",
      "翻译$0.00031900300",
    ]);
    assert.match(
      await textOf(cardOf(page, "Total")),
      /\$0\.0952Calls49Tokens in100,900Tokens out10,500$/,
    );
    for (const [by, wanted] of [
      ["Task", ["T-3$0.0785615K", "T-2$0.01272864K", "T-1$0.00371421K", "no task$0.0003190"]],
      ["Model", ["gpt-4o$0.0785615K", "gpt-4o-mini$0.01674385.9K"]],
    ]) {
      await page.selectOption('[name="by"]', { label: by });
      await cardOf(page, `By ${by.toLowerCase()}`).waitFor();
      const found = await rows();
      assert.equal(found.length, wanted.length, by);
      wanted.forEach((row, i) => assert.ok(found[i].startsWith(row), `${by}: ${found[i]}`));
    }
    const widths = await page
      .locator(".share-bar")
      .evaluateAll((list) => list.map((one) => one.style.width));
    assert.deepEqual(widths, ["100%", "21.3%"]);
  });
});
