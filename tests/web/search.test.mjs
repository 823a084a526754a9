// The search of the documents' site, without a browser: SITE is where `make docs` put it.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import vm from "node:vm";

const read = (name) => readFileSync(`${process.env.SITE}/${name}`, "utf8");
const context = vm.createContext({ window: {} });
const Search = vm.runInContext(`${read("search.js")};Search`, context);
vm.runInContext(read("search-index.js"), context);
const index = context.window.searchIndex;

const find = (query) => JSON.parse(JSON.stringify(Search.find(index, query)));

test("every section is at a place that the site has", () => {
  assert.ok(index.length > 200);
  for (const { href } of index) {
    const [path, id] = href.split("#");
    assert.ok(existsSync(`${process.env.SITE}/${path}`), href);
    assert.ok(id.length > 0, href);
  }
});

test("a word of a heading finds that section first", () => {
  assert.match(find("retention")[0].href, /^docs\/operating\.html#retention/);
  assert.equal(find("Glossary")[0].title, "Glossary");
});

test("every word of a query has to be there, in any case", () => {
  const results = find("BACKUP checksums");
  assert.ok(results.length > 0);
  for (const { href } of results) {
    const { page, title, text } = index.find((section) => section.href === href);
    const all = `${page} ${title} ${text}`.toLowerCase();
    assert.ok(all.includes("backup") && all.includes("checksums"), href);
  }
  assert.deepEqual(find("backup zorkmid"), []);
});

test("Chinese is found without blanks between words", () => {
  assert.ok(find("收件箱").some(({ href }) => href.startsWith("docs/zh/tutorial.html")));
});

test("a result shows the text around the first word that was found", () => {
  const found = Search.find([
    { href: "a", page: "A", title: "B", text: `${"x ".repeat(100)}needle ${"y ".repeat(100)}` },
  ], "needle")[0];
  assert.match(found.snippet, /^….*needle.*…$/);
  assert.ok(found.snippet.length < 150);
});

test("at most twenty are shown, and nothing for no words", () => {
  assert.equal(find("society").length, 20);
  assert.deepEqual(find("   "), []);
});
