// What is changed from the page, but for decisions: policies, agents, dead letters.

import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, go, noticed } from "./browser.mjs";
import { iso } from "./society.mjs";
import { visits } from "./visits.mjs";

const { visit } = visits();

// Five letters: three for printer, two for courier.
function letters(society) {
  society.dead = [1, 2, 3, 4, 5].map((n) => ({
    id: `msg_d${n}`,
    from: "writer",
    to: n % 2 === 1 ? "printer" : "courier",
    type: "query",
    payload: { text: `letter ${n}` },
    status: "dead",
    reason: "receiver_failed",
    timestamp: iso(Date.now()),
    attempt: 3,
  }));
}

const left = (society) => society.dead.map((letter) => letter.id.slice(-1)).join("");
const shown = (page) =>
  page
    .locator(".long [data-id]")
    .evaluateAll((rows) => rows.map((row) => row.dataset.id.slice(-1)).join(""));

const sees = (page, wanted) =>
  eventually(`letters ${wanted}`, async () => (await shown(page)) === wanted);

const pick = (page, n) => page.check(`.long [data-id="msg_d${n}"] input`);

async function open(page, society) {
  letters(society);
  await go(page, "#/dead");
  await sees(page, "12345");
}

test("a policy is put into force, and the page shows what is", async () => {
  await visit("full", {}, async (page, society) => {
    society.maySwap = true;
    await go(page, "#/policies?kind=contacts");
    const card = page.locator('.policy[data-id="contacts"]');
    await card.locator('[name="name"]').fill("open");
    await card.locator('[name="settings"]').fill('{"hint":"mine"}');
    await card.locator('[data-do="swap"]').click();
    await page.locator("dialog", { hasText: "Put open into force for contacts?" }).waitFor();
    assert.equal(society.policies[0].name, "strict"); // not before somebody has said so
    await page.click('[data-do="confirm"]');
    await noticed(page, "contacts is now open");
    await card.locator(".tag", { hasText: "v2" }).waitFor();
    assert.match(await card.textContent(), /open.*hint.*mine/);
    assert.deepEqual(society.asked, [
      {
        method: "PUT",
        path: "/policies/contacts",
        body: { name: "open", settings: { hint: "mine" } },
      },
    ]);
    const swaps = page.locator(".card", { has: page.locator("h2", { hasText: "Swaps" }) });
    assert.match(await swaps.locator("li").first().textContent(), /contacts: strict → open/);
  });
});

test("a policy whose example fails is not in force: the page says which and keeps what was typed", async () => {
  await visit("full", { allow: /422/ }, async (page, society) => {
    Object.assign(society, { maySwap: true, refuses: "mine" });
    await go(page, "#/policies?kind=contacts");
    const card = page.locator('.policy[data-id="contacts"]');
    await card.locator('[name="name"]').fill("mine");
    await card.locator('[name="settings"]').fill('{"hint":"mine"}');
    await card.locator('[data-do="swap"]').click();
    await page.click('[data-do="confirm"]');
    await noticed(page, "The policy was not accepted. The old one stays in force.");
    await noticed(page, "contacts: example 2 of mine fails");
    assert.match(await card.textContent(), /strictv1/);
    assert.equal(await card.locator('[name="name"]').inputValue(), "mine");
    assert.equal(await card.locator('[name="settings"]').inputValue(), '{"hint":"mine"}');
    assert.equal(await card.locator('[data-do="swap"]:disabled').count(), 0);
    assert.equal(society.policies[0].name, "strict");

    // Settings that are not JSON are never sent.
    const { length } = society.asked;
    await card.locator('[name="settings"]').fill("{hint:");
    await card.locator('[data-do="swap"]').click();
    await card.locator("[role=alert]").waitFor();
    assert.equal(await page.locator("dialog[open]").count(), 0);
    assert.equal(society.asked.length, length);
  });
});

test("an agent is terminated, after a question, with the reason that was given", async () => {
  await visit("full", {}, async (page, society) => {
    for (const id of ["user", "root"]) {
      await go(page, `#/agent/${id}`);
      assert.equal(await page.locator('[data-do="terminate"]').count(), 0, id);
    }
    await go(page, "#/agent/writer");
    await page.click('.page-head [data-do="terminate"]');
    await page.locator("dialog", { hasText: "Terminate writer?" }).waitFor();
    await page.click('[data-do="cancel-dialog"]');
    assert.deepEqual(society.asked, []);
    await page.click('.page-head [data-do="terminate"]');
    await page.fill("dialog input", "not needed");
    await page.click('[data-do="confirm"]');
    await noticed(page, "writer is ending");
    assert.deepEqual(society.asked, [
      { method: "DELETE", path: "/agents/writer", body: { reason: "not needed" } },
    ]);
    await page.locator(".page-head h1", { hasText: "stopped" }).waitFor();
    assert.equal(await page.locator(".page-head button").count(), 0);
  });
});

test("dead letters: only the selected are delivered again or dropped", async () => {
  await visit("full", {}, async (page, society) => {
    await open(page, society);
    assert.equal(await page.locator('.filters [data-do="redeliver"]:disabled').count(), 1);
    assert.equal(await page.locator('.filters [data-do="drop"]:disabled').count(), 1);
    await pick(page, 2);
    await pick(page, 5);
    await page.locator(".filters", { hasText: "2 selected" }).waitFor();
    await page.click('.filters [data-do="redeliver"]');
    await noticed(page, "Delivered again: 2");
    await sees(page, "134");
    assert.deepEqual(
      society.asked.map(({ path }) => path),
      ["/dead-letters/msg_d2/redeliver", "/dead-letters/msg_d5/redeliver"],
    );
    society.dead.push({ ...society.dead[0], id: "msg_d2" }); // it could not be handled again
    society.emit("message.dead");
    await sees(page, "1342");
    assert.equal(await page.locator(".long input:checked").count(), 0);
    society.dead.pop();
    society.emit("message.dropped");
    await sees(page, "134");

    await pick(page, 1);
    await pick(page, 3);
    await page.uncheck('.long [data-id="msg_d1"] input');
    await page.click('.filters [data-do="drop"]');
    await page.locator("dialog", { hasText: "Drop the letter?" }).waitFor();
    assert.equal(left(society), "134"); // not before somebody has said so
    await page.click('[data-do="confirm"]');
    await noticed(page, "Dropped: 1");
    await sees(page, "14");
    const { method, path } = society.asked.at(-1);
    assert.deepEqual([method, path], ["DELETE", "/dead-letters/msg_d3"]);
  });
});

test("dead letters: the open one is delivered again or dropped, not the selected", async () => {
  await visit("full", {}, async (page, society) => {
    await open(page, society);
    await pick(page, 1);
    for (const [n, of, after] of [
      [2, "redeliver", "1345"],
      [4, "drop", "135"],
    ]) {
      await page.click(`.long [data-id="msg_d${n}"] [data-do="open"]`);
      await page.locator(".chosen", { hasText: `letter ${n}` }).waitFor();
      await page.click(`.chosen [data-do="${of}"]`);
      if (of === "drop") await page.click('[data-do="confirm"]');
      await sees(page, after);
      assert.equal(left(society), after);
    }
  });
});

test("dead letters: all that fit the filter, and no others", async () => {
  await visit("full", {}, async (page, society) => {
    await open(page, society);
    await go(page, "#/dead?to=printer");
    await sees(page, "135");
    assert.match(await page.textContent('[data-do="drop-all"]'), /Drop all 3/);
    await page.click('[data-do="drop-all"]');
    await page.click('[data-do="confirm"]');
    await noticed(page, "Dropped: 3");
    assert.equal(left(society), "24");
    assert.deepEqual(society.asked.at(-1), {
      path: "/dead-letters/drop",
      body: { filter: { to: "printer" }, expected: 3 },
    });
    await page.locator(".empty", { hasText: "No matches" }).waitFor();
    await go(page, "#/dead?to=courier");
    await page.click('[data-do="redeliver-all"]');
    await page.click('[data-do="confirm"]');
    await noticed(page, "Delivered again: 2");
    assert.equal(left(society), "");
  });
});

test("dead letters: where another has come in the meantime nothing is done, and it is said", async () => {
  await visit("full", { allow: /409/ }, async (page, society) => {
    await open(page, society);
    society.dead.push({ ...society.dead[0], id: "msg_d6" }); // nobody has told the page
    await page.click('[data-do="drop-all"]');
    await page.click('[data-do="confirm"]');
    await noticed(page, "The number has changed in the meantime. Nothing was done.");
    assert.equal(left(society), "123456");
    await sees(page, "123456");
    await page.click('[data-do="drop-all"]');
    await page.click('[data-do="confirm"]');
    await page.locator(".empty", { hasText: "No dead letters" }).waitFor();
  });
});

test("dead letters: what could not be handled stays selected, and what was not is kept", async () => {
  await visit("full", { allow: /409/ }, async (page, society) => {
    await open(page, society);
    const handle = society.handle.bind(society);
    society.handle = (method, parts, body) =>
      parts[1] === "msg_d2"
        ? { status: 409, answer: { error: "receiver_failed", message: "courier has failed" } }
        : handle(method, parts, body);
    for (const n of [1, 2, 3]) await pick(page, n);
    await page.click('.filters [data-do="redeliver"]');
    await noticed(page, "The receiver has failed. Resume it first.");
    await sees(page, "2345");
    assert.deepEqual(
      await page
        .locator(".long .row", { has: page.locator("input:checked") })
        .evaluateAll((rows) => rows.map((row) => row.dataset.id)),
      ["msg_d2", "msg_d3"], // it was not tried
    );
  });
});
