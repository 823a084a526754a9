// The page of the real program, SOCIETY, in front of ten thousand agents that send a thousand
// messages a second: it paints within two seconds, 95 of 100 frames take at most 33 ms, and what it
// holds does not grow: memory, nodes, listeners.
//
// LOAD_SECONDS is how long the views are looked at, all at once. Time is CPU time of each page's
// own thread, so what other programs take does not count; and where the machine is too slow for
// a thousand messages a second, what the society does without a page is the yardstick.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { eventually, go, launch, open, settle } from "./browser.mjs";
import { Program } from "./program.mjs";

const CROWD = readFileSync(new URL("crowd.lua", import.meta.url), "utf8");
const SECONDS = Number(process.env.LOAD_SECONDS ?? 60);
const SLICE_SECONDS = 30;
const YARDSTICK_SECONDS = 5;
const RATE = 1000;
const RATE_SHARE = 0.5;

// The views looked at, and what each must show of the crowd while it is measured.
const VIEWS = [
  [
    "#/now",
    "how many agents there are",
    () => document.querySelector("#main").textContent.includes("10,032"),
  ],
  [
    "#/agents?open=root",
    "the leads",
    () => document.querySelectorAll('.long [data-id^="lead"]').length > 5,
  ],
  [
    "#/timeline",
    "what they send",
    () => document.querySelectorAll(".event[data-line]").length > 20,
  ],
  ["#/inbox", "thirty questions", () => document.querySelectorAll(".items [data-id]").length > 5],
  ["#/tasks", "their tasks", () => document.querySelectorAll(".task[data-id]").length >= 30],
  [
    "#/agent/lead1",
    "what it has just done",
    () => document.querySelectorAll("#main li[data-line]").length > 5,
  ],
];
const FRAME_MS = 33;
const PAUSE_US = 1000;
const LATE_SHARE = 0.05;
const PAINT_MS = 2000;
const TRIES = 5;
const ROUNDS = 4;
const LOOKS = 8;
const GROWTH_BYTES = ((2 << 20) * Math.max(60, SECONDS)) / 60;

// What a page holds comes and goes with what it shows, by so much and no more.
const SHOWN_SHARE = 1.2;
const SHOWN_MORE = 20;

let browser;
let server;
before(async () => {
  browser = await launch();
  server = await Program.start(CROWD);
  await eventually("ten thousand agents", async () => (await server.get("/stats")).agents >= 10030);
});
after(async () => {
  await browser.close();
  server.end();
});

const sleep = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

// How long each page's main thread is busy at a time in the next `seconds`, as { frames, rates }:
// a map from the page's view to the CPU time in ms of each run of tasks that follow one another
// without a pause, and how many messages a second there were. Each page marks its own thread. A
// trace is text, so a long one is made of several.
async function traceFrames(pages, seconds) {
  const frames = new Map(pages.map(({ view }) => [view, []]));
  const rates = [];
  for (let left = seconds; left > 0; left -= SLICE_SECONDS) {
    await browser.startTracing(null, { categories: ["toplevel", "blink.user_timing"] });
    for (const { page, view } of pages) await page.evaluate((name) => performance.mark(name), view);
    rates.push(await rateDuring(() => sleep(Math.min(left, SLICE_SECONDS))));
    const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
    const threadOf = (event) => `${event.pid} ${event.tid}`;
    const threads = new Map();
    for (const event of traceEvents)
      if (event.cat === "blink.user_timing" && frames.has(event.name))
        threads.set(threadOf(event), { runs: frames.get(event.name), end: -Infinity });
    assert.equal(threads.size, pages.length, "each page has a thread of its own");
    const tasks = traceEvents.filter(({ name }) => name === "ThreadControllerImpl::RunTask");
    for (const event of tasks.sort((a, b) => a.ts - b.ts)) {
      const thread = threads.get(threadOf(event));
      if (!thread) continue;
      const ms = (event.tdur ?? event.dur ?? 0) / 1000;
      if (event.ts - thread.end > PAUSE_US) thread.runs.push(ms);
      else thread.runs[thread.runs.length - 1] += ms;
      thread.end = event.ts + (event.dur ?? 0);
    }
  }
  return { frames, rates };
}

// What a page holds once its garbage is gone: { bytes, nodes, listeners }. What it is about to
// replace is still held at some moments, so it is the least of several.
async function holdings({ page }) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const looks = [];
  for (let i = 0; i < LOOKS; i += 1) {
    await settle(page);
    await session.send("HeapProfiler.collectGarbage");
    await session.send("HeapProfiler.collectGarbage"); // what the first one let go of
    looks.push((await session.send("Performance.getMetrics")).metrics);
  }
  await session.detach();
  const least = (wanted) =>
    Math.min(...looks.map((metrics) => metrics.find(({ name }) => name === wanted).value));
  return {
    bytes: least("JSHeapUsedSize"),
    nodes: least("Nodes"),
    listeners: least("JSEventListeners"),
  };
}

const atMost = (held) => held * SHOWN_SHARE + SHOWN_MORE;

// What a page holds at the end. What is on screen differs from moment to moment, so a page that
// holds much more than at first is looked at again: what has leaked is still there then.
async function settled(one) {
  for (let round = 1; ; round += 1) {
    const now = await holdings(one);
    const isFlat =
      now.bytes - one.held.bytes < GROWTH_BYTES &&
      now.nodes <= atMost(one.held.nodes) &&
      now.listeners <= atMost(one.held.listeners);
    if (isFlat || round === ROUNDS) return now;
    await sleep(1);
  }
}

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

// Opens the page so often: when its first paint came each time, and when all agents, in ms.
async function openings() {
  const paints = [];
  const wholes = [];
  for (let i = 0; i < TRIES; i += 1) {
    const { page, close } = await open(browser, server.url);
    const whole = await page.waitForFunction(
      () =>
        document.querySelector('[data-view="now"][aria-busy="false"]') &&
        document.querySelector("#main").textContent.includes("10,032") &&
        performance.now(),
    );
    wholes.push(Math.round(await whole.jsonValue()));
    paints.push(
      Math.round(
        await page.evaluate(
          () => performance.getEntriesByName("first-contentful-paint")[0].startTime,
        ),
      ),
    );
    await close();
  }
  return { paints, wholes };
}

// By the clock, so what else the machine does counts: if the page is too slow in one round, it has
// others. One that is always too slow is so in each.
test("the first paint comes within two seconds, and so do all agents", async (context) => {
  for (let round = 1; ; round += 1) {
    const { paints, wholes } = await openings();
    const said = `first paint after ${paints} ms, all agents after ${wholes} ms`;
    context.diagnostic(said);
    if (median(paints) <= PAINT_MS && median(wholes) <= PAINT_MS) break;
    assert.ok(round < ROUNDS, said);
  }
});

// Messages a second from now until `steps` has ended, by the society's own clock.
async function rateDuring(steps) {
  const before = await server.get("/stats");
  await steps();
  const after = await server.get("/stats");
  return ((after.sent - before.sent) * 1000) / (Date.parse(after.now) - Date.parse(before.now));
}

test("frames are short and memory does not grow", async (context) => {
  const alone = await rateDuring(() => sleep(YARDSTICK_SECONDS));
  const pages = [];
  for (const [view, what, shows] of VIEWS) {
    const one = await open(browser, server.url);
    await go(one.page, view);
    await eventually(what, () => one.page.evaluate(shows));
    pages.push({ ...one, view, what, shows });
  }
  await sleep(Math.min(5, SECONDS));
  for (const one of pages) one.held = await holdings(one);
  const { frames, rates } = await traceFrames(pages, SECONDS);
  const rate = Math.max(...rates); // pages that slow the society down always do
  context.diagnostic(`${rate.toFixed(0)} messages a second, ${alone.toFixed(0)} without a page`);
  const count = (SECONDS * 1000) / FRAME_MS;
  for (const one of pages) {
    const runs = frames.get(one.view);
    const late = runs.reduce((all, ms) => all + Math.floor(ms / FRAME_MS), 0);
    const worst = runs.reduce((most, ms) => Math.max(most, ms), 0);
    const { bytes, nodes, listeners } = await settled(one);
    const grown = bytes - one.held.bytes;
    const elements = await one.page.evaluate(() => document.getElementsByTagName("*").length);
    const said =
      `${one.view}: ${late} of ${count.toFixed(0)} frames of ${FRAME_MS} ms late, ` +
      `worst ${worst.toFixed(1)} ms, ${(grown / 1024).toFixed(0)} KB more, ${elements} elements, ` +
      `nodes ${one.held.nodes} → ${nodes}, listeners ${one.held.listeners} → ${listeners}`;
    context.diagnostic(said);
    assert.ok(worst > 0, `${one.view} was traced`);
    assert.ok(late <= count * LATE_SHARE, said);
    assert.ok(grown < GROWTH_BYTES, said);
    assert.ok(nodes <= atMost(one.held.nodes), said);
    assert.ok(listeners <= atMost(one.held.listeners), said);
    assert.ok(elements < 3000, said);
    assert.ok(await one.page.evaluate(one.shows), `${one.view} still shows ${one.what}`);
    assert.deepEqual(one.problems, []);
    await one.close();
  }
  const again = await rateDuring(() => sleep(YARDSTICK_SECONDS));
  const least = Math.min(RATE, RATE_SHARE * Math.min(alone, again));
  assert.ok(rate >= least, `${rate} messages a second, ${alone} before and ${again} after`);
});
