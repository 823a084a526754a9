// The pictures of docs/page.md: `make screenshots` writes them anew.
//
// SHOTS is the folder they go to.

import assert from "node:assert/strict";
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { go, launch, open, settle } from "./browser.mjs";
import { start } from "./standin.mjs";

const web = new URL("../../web/", import.meta.url).pathname;
const folder = process.env.SHOTS;
const SIZE = { width: 1200, height: 720, scale: 0.8 };
const BYTES_MAX = 120 * 1024;

const SHOTS = [
  ["now", "#/now", {}],
  ["inbox", "#/inbox", {}],
  ["agent", "#/agent/root", {}],
  ["timeline", "#/timeline?at=104", {}],
  [
    "whatif",
    "#/policies?kind=contacts&replay=replay_1&whatif=contacts&under=open",
    { scrollTo: ".difference" },
  ],
  ["agents", "#/agents?selected=editor", { theme: "dark", lang: "zh-CN" }],
];

let browser;
let server;
before(async () => {
  browser = await launch();
  server = await start(web, "full");
  mkdirSync(folder, { recursive: true });
});
after(async () => {
  await browser.close();
  server.close();
});

for (const [name, hash, options] of SHOTS) {
  test(`a picture of ${name}`, async () => {
    const { page, problems, close } = await open(browser, server.url, { ...SIZE, ...options });
    await go(page, hash);
    await page.waitForSelector(`[data-live="${hash.includes("at=") ? "past" : "live"}"]`);
    if (options.scrollTo) await page.locator(options.scrollTo).last().scrollIntoViewIfNeeded();
    await settle(page);
    const path = join(folder, `${name}.png`);
    await page.screenshot({ path });
    assert.ok(statSync(path).size < BYTES_MAX);
    assert.deepEqual(problems, []);
    await close();
  });
}
