// The reader's own settings: theme and language. They stay in this browser.

import * as words from "./words.js";

const listeners = [];

function stored(name) {
  try {
    return localStorage.getItem(`society.${name}`);
  } catch {
    return null;
  }
}

function store(name, value) {
  try {
    localStorage.setItem(`society.${name}`, value);
  } catch {
    // A browser that keeps nothing: the setting holds for this page.
  }
}

const dark = window.matchMedia("(prefers-color-scheme: dark)");

function showTheme(name) {
  document.documentElement.dataset.theme = name;
}

async function showLanguage(name) {
  await words.load(name);
  document.documentElement.lang = words.tag;
}

/** Applies what was chosen before, or what the system prefers. */
export async function begin() {
  showTheme(stored("theme") ?? (dark.matches ? "dark" : "light"));
  dark.addEventListener("change", () => {
    if (stored("theme") === null) showTheme(dark.matches ? "dark" : "light");
  });
  await showLanguage(words.preferred(stored("language")));
}

export function theme() {
  return document.documentElement.dataset.theme;
}

export function switchTheme() {
  const next = theme() === "dark" ? "light" : "dark";
  store("theme", next);
  showTheme(next);
  listeners.forEach((listener) => listener());
}

export async function switchLanguage() {
  const next = words.lang === "zh" ? "en" : "zh";
  await showLanguage(next);
  store("language", next);
  listeners.forEach((listener) => listener());
}

export function onChange(listener) {
  listeners.push(listener);
}
