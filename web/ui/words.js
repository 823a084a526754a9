// The texts of the page in the reader's language, and how values are shown in it.

import * as format from "../logic/format.js";

export const LANGUAGES = ["en", "zh"];

const TAGS = { en: "en", zh: "zh-CN" };

let texts = {};
let plural = new Intl.PluralRules("en");
export let lang = "en";
export let tag = "en";

/** The language to begin with: the one chosen last, else the browser's. */
export function preferred(stored) {
  if (LANGUAGES.includes(stored)) return stored;
  return navigator.languages?.some((name) => /^zh\b/i.test(name)) ? "zh" : "en";
}

/** Loads a language. */
export async function load(name) {
  const response = await fetch(`${name}.json`);
  if (!response.ok) throw new Error(`${name}.json: ${response.status}`);
  texts = await response.json();
  lang = name;
  tag = TAGS[name];
  plural = new Intl.PluralRules(tag);
}

/** Whether there is a text of that key. */
export const has = (key) => key in texts;

/** The text of a key, with `{name}` filled in; `n` chooses the singular where there is one. */
export function t(key, values) {
  if (!has(key)) console.error(`no text: ${key}`); // no test of the page lets that pass
  const one = values?.n === 1 && plural.select(1) === "one" ? texts[`${key}_one`] : undefined;
  const shown =
    values && typeof values.n === "number" ? { ...values, n: number(values.n) } : values;
  return format.fill(one ?? texts[key] ?? key, shown);
}

/** The text of a key, or `fallback` where there is none: names that come from the host. Those of
 *  events and errors are words in all but the spaces. */
export function word(key, fallback) {
  const name = /^(event|error)\./.test(key) ? String(fallback).replaceAll("_", " ") : fallback;
  return texts[key] ?? format.oneLine(name, 60);
}

export const number = (value) => format.number(value, tag);
export const compact = (value) => format.compact(value, tag);
/** A large number in the fewest characters: 12K. */
export const rough = (value) => format.compact(value, tag, { maximumFractionDigits: 0 });
/** What is left of something: never shown as more than it is. */
export const atLeast = (value) => format.compact(value, tag, { roundingMode: "floor" });
export const dollars = (value) => format.dollars(value, tag);
let shownMs = null;

/** Says which moment is on screen: distances are from there. null: the present. */
export function showMoment(time) {
  const ms = time === null ? NaN : format.timeMs(time);
  shownMs = Number.isNaN(ms) ? null : ms;
}

/** The moment on screen, in ms. */
export const nowMs = () => shownMs ?? Date.now();

export const clock = (time) => format.clock(time, Date.now(), tag);
export const duration = (ms) => format.duration(ms, (unit) => t(`unit.${unit}`));

/** How long ago, or how long until. */
export function distance(time, now = nowMs()) {
  const ms = format.timeMs(time) - now;
  if (Number.isNaN(ms)) return "";
  if (Math.abs(ms) < 1500) return t("time.now");
  return t(ms < 0 ? "time.ago" : "time.in", { duration: duration(ms) });
}
