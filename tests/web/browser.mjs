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

export function launch(more = []) {
  return chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--no-sandbox", "--enable-precise-memory-info", "--js-flags=--expose-gc", ...more],
  });
}

/** Whether an address is one of the society at `here`; 127.0.0.1:4000 is not 127.0.0.1:40001. */
export const isWithin = (url, here) => url === here || url.startsWith(`${here}/`);

// Notices go away by themselves, and a test may look too late: the page remembers them. Runs in
// the page.
function rememberNotices() {
  window.noticed = [];
  window.addEventListener("DOMContentLoaded", () => {
    const place = document.getElementById("notices");
    const note = () => window.noticed.push(...[...place.children].map((one) => one.textContent));
    if (place) new MutationObserver(note).observe(place, { childList: true, subtree: true });
  });
}

/** Waits until a notice with that text has come up, whether it is still there or not. */
export const noticed = (page, text) =>
  page.waitForFunction((wanted) => window.noticed.some((one) => one.includes(wanted)), text);

/** From now on notices stay until they are dismissed. */
export const keepNotices = (page) =>
  page.evaluate(() => {
    const { setTimeout } = window;
    window.setTimeout = (call, ms, ...more) => (ms >= 5000 ? 0 : setTimeout(call, ms, ...more));
  });

/** A page of its own browser context. `visit(url)` opens the page of a society in it and answers
 *  a list that what goes wrong there is added to. */
export async function newTab(
  browser,
  { theme = "light", lang = "en-US", width = 1280, height = 800, scale = 1 } = {},
) {
  const context = await browser.newContext({
    viewport: { width, height },
    deviceScaleFactor: scale,
    colorScheme: theme,
    locale: lang,
    reducedMotion: "reduce", // colours are what they will be at once
  });
  await context.addInitScript(rememberNotices);
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  let here = "about:blank";
  let allowed = /^$/;
  let problems = [];
  page.on("console", (message) => {
    if (message.type() === "error" && !allowed.test(message.text())) problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(String(error.stack ?? error)));
  page.on("dialog", (dialog) => {
    problems.push(`a dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    const isOurs = isWithin(request.url(), here) || /^(blob|data):/.test(request.url());
    if (!isOurs) problems.push(`a request for ${request.url()}`);
  });
  async function visit(url, { allow = /^$/ } = {}) {
    await page.goto("about:blank"); // what was open before says no more
    [here, allowed, problems] = [url, allow, []];
    await page.setViewportSize({ width, height });
    await page.goto(`${url}/`);
    await page.waitForSelector("[data-view]");
    return problems;
  }
  return { page, visit, close: () => context.close() };
}

/** The page of a society in a browser context of its own: { page, problems }. */
export async function open(browser, url, { allow, ...options } = {}) {
  const { page, visit, close } = await newTab(browser, options);
  return { page, problems: await visit(url, { allow }), close };
}

/** Goes to a view and waits until it shows something. */
export async function go(page, hash) {
  await page.evaluate(
    (to) =>
      new Promise((resolve) => {
        if (location.hash === to) resolve();
        window.addEventListener("hashchange", resolve, { once: true });
        location.hash = to;
      }),
    hash,
  );
  await settle(page);
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

// Elements that stick out of the page or of their card, but for what scrolls by itself; and texts
// squeezed so narrow that their words stand letter by letter. Runs in the page.
function findOverflow() {
  const isInside = (element, within) => {
    for (let up = element.parentElement; up && up !== within; up = up.parentElement) {
      if (getComputedStyle(up).overflowX !== "visible") return up.id !== "main";
    }
    return false;
  };
  const wide = [...document.querySelectorAll("body *")].filter((element) => {
    const box = element.getBoundingClientRect();
    if (box.width <= 1) return false;
    if (box.right > innerWidth + 1) return !isInside(element);
    const card = element.parentElement.closest(".card, .task, .row");
    const edge = card?.getBoundingClientRect().right ?? Infinity;
    return box.right > edge + 1 && !isInside(element, card.parentElement);
  });
  const main = document.getElementById("main");
  const list = wide.map((element) => `${element.tagName}.${element.getAttribute("class")}`);
  if (document.documentElement.scrollWidth > innerWidth) list.push("the page");
  if (main.scrollWidth > main.clientWidth + 1) list.push("main");
  const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode.data.trim();
    const range = document.createRange();
    range.selectNodeContents(texts.currentNode);
    const lines = new Set([...range.getClientRects()].map((line) => Math.round(line.top))).size;
    if (lines > 2 && text.length / lines < 3) list.push(`letter by letter: ${text}`);
  }
  return list.slice(0, 8);
}

export const overflow = (page) => page.evaluate(findOverflow);

/** Looks at the view on screen in both themes and both languages: [{ theme, lang, found }]. */
export function overflowInAll(page) {
  return page.evaluate(`(async () => {
    const { documentElement: html } = document;
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const press = async (button, mark) => {
      const before = html.getAttribute(mark);
      document.querySelector("[data-do=" + button + "]").click();
      while (html.getAttribute(mark) === before) await frame();
      await frame(); // the page has drawn itself anew
    };
    const list = [];
    for (let i = 0; i < 4; i += 1) {
      await press("language", "lang");
      if (i % 2 === 0) await press("theme", "data-theme");
      list.push({ theme: html.dataset.theme, lang: html.lang, found: (${findOverflow})() });
    }
    return list;
  })()`);
}

/** Collects what moves on screen without anybody touching it: `moved(page)` says what did. */
export function watchMoves(page) {
  return page.evaluate(() => {
    window.moves = [];
    window.moveWatch?.disconnect();
    window.moveWatch = new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        for (const { node, previousRect: a, currentRect: b } of entry.sources)
          window.moves.push(
            `${node?.nodeName}.${node?.className ?? node?.data}: ${[a.x, a.y, b.x, b.y]}`,
          );
    });
    window.moveWatch.observe({ type: "layout-shift" });
  });
}

export const moved = (page) => page.evaluate(() => window.moves);

/** Presses Tab from the beginning of a part of the page to its end: the controls that it did not
 *  reach, and those that do not show that they have the focus. */
export async function tabThrough(page, part) {
  const count = await page.evaluate((within) => {
    const isShown = (one) => one.checkVisibility({ visibilityProperty: true });
    const place = document.querySelector(within);
    const all = [...place.querySelectorAll("a[href], button, input, select, textarea")];
    window.unreached = new Set(all.filter((one) => !one.disabled && isShown(one)));
    window.unseen = [];
    window.tabWatch?.abort();
    window.tabWatch = new AbortController();
    const note = ({ target }) => {
      window.unreached.delete(target);
      const isSeen = getComputedStyle(target).outlineStyle !== "none";
      if (!isSeen && target !== place) window.unseen.push(target);
    };
    window.addEventListener("focusin", note, window.tabWatch);
    place.tabIndex = -1;
    place.focus();
    return all.length;
  }, part);
  const left = () => page.evaluate(() => window.unreached.size);
  for (let presses = 0; presses < count + 40 && (await left()) > 0; presses += 10)
    await Promise.all(Array.from({ length: 10 }, () => page.keyboard.press("Tab")));
  return page.evaluate(() =>
    [...window.unreached, ...window.unseen].map((one) => one.outerHTML.slice(0, 200)),
  );
}

/** What axe finds that is serious or critical; `runOnly` names rules, without it all are run. */
export async function accessibility(page, runOnly) {
  if (!(await page.evaluate(() => "axe" in window)))
    await page
      .evaluate(`${axeSource}; 0`)
      .catch(async () => page.addScriptTag({ content: axeSource }));
  const violations = await page.evaluate(
    async (options) => (await window.axe.run(document, options)).violations,
    { resultTypes: ["violations"], ...(runOnly ? { runOnly } : {}) },
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

/** The colours of pixels of an element as it is on screen, each "rgb(r, g, b)". `places` go from
 *  left to right, from 0 to 1; `canvas` is a page of no other use. */
export async function coloursAt(canvas, locator, places) {
  const picture = (await locator.screenshot()).toString("base64");
  return canvas.evaluate(
    async ([data, shares]) => {
      const image = new Image();
      image.src = `data:image/png;base64,${data}`;
      await image.decode();
      const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
      context.drawImage(image, 0, 0);
      return shares.map((share) => {
        const [r, g, b] = context.getImageData(image.width * share, image.height / 2, 1, 1).data;
        return `rgb(${r}, ${g}, ${b})`;
      });
    },
    [picture, places],
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
