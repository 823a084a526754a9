// Moments of the stand-in's society: what a link to one leads to, and what each view shows there.

import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, go } from "./browser.mjs";
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
