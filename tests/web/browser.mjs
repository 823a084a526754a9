// A real browser for the tests of the page.
//
// PAGE_NPM is the folder where playwright-core and axe-core are installed, CHROMIUM the
// browser. `open` fails the test on any error in the page and on any request for elsewhere.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(`${process.env.PAGE_NPM}/index.js`);
const { chromium } = require("playwright-core");
const axeSource = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

// Long enough for any working machine. Only a failure takes as long.
export const WAIT_MS = Number(process.env.PAGE_WAIT_MS ?? 120000);

export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--no-sandbox", "--enable-precise-memory-info", "--js-flags=--expose-gc"],
  });
}

/** A page of its own browser context, with what went wrong in it: { page, problems }. */
export async function open(
  browser,
  url,
  { theme = "light", lang = "en-US", width = 1280, height = 800, scale = 1, allow = /^$/ } = {},
) {
  const context = await browser.newContext({
    viewport: { width, height },
    deviceScaleFactor: scale,
    colorScheme: theme,
    locale: lang,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  const problems = [];
  page.on("console", (message) => {
    if (message.type() === "error" && !allow.test(message.text())) problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(String(error.stack ?? error)));
  page.on("dialog", (dialog) => {
    problems.push(`a dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    const isOurs = request.url().startsWith(url) || /^(blob|data):/.test(request.url());
    if (!isOurs) problems.push(`a request for ${request.url()}`);
  });
  await page.goto(`${url}/`);
  await page.waitForSelector("[data-view]");
  return { page, problems, close: () => context.close() };
}

/** Goes to a view and waits until it shows something. */
export async function go(page, hash) {
  await page.evaluate((to) => {
    location.hash = to;
  }, hash);
  const [, view] = /^#\/(\w+)/.exec(hash);
  await page.waitForSelector(`[data-view="${view}"][aria-busy="false"]`);
  await settle(page);
}

/** Waits until the page has drawn what it knows. */
export function settle(page) {
  return page.evaluate(
    () =>
      new Promise((resolve) => {
        requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 0)));
      }),
  );
}

/** Elements that stick out of the page, but for what scrolls by itself. */
export function overflow(page) {
  return page.evaluate(() => {
    const isInside = (element) => {
      for (let up = element.parentElement; up; up = up.parentElement) {
        if (getComputedStyle(up).overflowX !== "visible") return up.id !== "main";
      }
      return false;
    };
    const wide = [...document.querySelectorAll("body *")].filter((element) => {
      const box = element.getBoundingClientRect();
      return box.width > 1 && box.right > innerWidth + 1 && !isInside(element);
    });
    const main = document.getElementById("main");
    const list = wide.map((element) => `${element.tagName}.${element.getAttribute("class")}`);
    if (document.documentElement.scrollWidth > innerWidth) list.push("the page");
    if (main.scrollWidth > main.clientWidth + 1) list.push("main");
    return list.slice(0, 8);
  });
}

/** What axe finds that is serious or critical. */
export async function accessibility(page) {
  await page
    .evaluate(`${axeSource}; 0`)
    .catch(async () => page.addScriptTag({ content: axeSource }));
  const violations = await page.evaluate(
    async () => (await window.axe.run(document, { resultTypes: ["violations"] })).violations,
  );
  return violations
    .filter((one) => one.impact === "serious" || one.impact === "critical")
    .map(
      (one) =>
        `${one.id}: ${one.nodes
          .slice(0, 3)
          .map((node) => `${node.target} ${node.any?.[0]?.message ?? ""}`)
          .join(" | ")}`,
    );
}

/** Waits until `attempt` answers true. */
export async function eventually(what, attempt) {
  const until = Date.now() + WAIT_MS;
  for (;;) {
    if (await attempt()) return;
    assert.ok(Date.now() < until, `waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
