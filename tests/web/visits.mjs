// Visits to the societies of the stand-in, all in one tab: most of the time goes into opening one.

import assert from "node:assert/strict";
import { after, before } from "node:test";
import { launch, newTab } from "./browser.mjs";
import { start } from "./standin.mjs";

const web = new URL("../../web/", import.meta.url).pathname;

/** Opens a browser for the tests of a file: { visit, browser() }. `visit` opens a scene, runs
 *  `steps` and checks that nothing went wrong in the page; each scene is another origin. `fits`
 *  says which entries of the console are expected. */
export function visits() {
  let browser;
  let tab;
  before(async () => {
    browser = await launch();
    tab = await newTab(browser);
  });
  after(() => browser.close());

  async function visit(scene, options, steps, fits = () => false) {
    const server = await start(web, scene);
    const { page } = tab;
    try {
      const problems = await tab.visit(server.url, options);
      await steps(page, server.society, server);
      assert.deepEqual(
        problems.filter((problem) => !fits(problem)),
        [],
      );
      await page.evaluate(() => localStorage.clear());
    } finally {
      server.close();
    }
  }
  return { visit, browser: () => browser };
}
