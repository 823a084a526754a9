// Search in the pages of the site. The index, a list of sections, is a script of its own that
// is loaded with the first key, so a page opened from the disk can search as well.
"use strict";

const Search = (() => {
  const RESULTS_MAX = 20;
  const SNIPPET = 140;

  // Points for one term in one section, 0 if it is not there.
  function scoreOf(section, term) {
    const title = section.title.toLowerCase();
    let score = 0;
    if (title === term) {
      score += 40;
    } else if (title.includes(term)) {
      score += 20;
    }
    if (section.page.toLowerCase().includes(term)) {
      score += 5;
    }
    const found = section.text.toLowerCase().split(term).length - 1;
    return score + Math.min(found, 5);
  }

  function snippetOf(text, terms) {
    const lower = text.toLowerCase();
    const places = terms.map((term) => lower.indexOf(term)).filter((at) => at >= 0);
    const first = Math.max(0, (places.length > 0 ? Math.min(...places) : 0) - 30);
    const cut = text.slice(first, first + SNIPPET);
    return (first > 0 ? "…" : "") + cut + (first + SNIPPET < text.length ? "…" : "");
  }

  // The sections that have every term of the query, the best first.
  function find(index, query) {
    const terms = query.toLowerCase().split(/\s+/).filter((term) => term !== "");
    if (terms.length === 0) {
      return [];
    }
    const found = [];
    index.forEach((section, order) => {
      const scores = terms.map((term) => scoreOf(section, term));
      if (scores.every((score) => score > 0)) {
        found.push({ section, order, score: scores.reduce((sum, score) => sum + score, 0) });
      }
    });
    found.sort((a, b) => b.score - a.score || a.order - b.order);
    return found.slice(0, RESULTS_MAX).map(({ section }) => ({
      href: section.href,
      page: section.page,
      title: section.title,
      snippet: snippetOf(section.text, terms),
    }));
  }

  return { find };
})();

if (typeof document !== "undefined") {
  const form = document.getElementById("search");
  const input = form.querySelector("input");
  const list = document.getElementById("found");

  function add(parent, name, text) {
    const element = parent.appendChild(document.createElement(name));
    element.textContent = text;
    return element;
  }

  function show() {
    list.replaceChildren();
    list.hidden = input.value.trim() === "";
    if (list.hidden || !window.searchIndex) {
      return;
    }
    const results = Search.find(window.searchIndex, input.value);
    for (const result of results) {
      const link = add(add(list, "li", ""), "a", "");
      link.href = siteRoot + result.href;
      add(link, "span", result.title === result.page ? result.title
        : `${result.page}: ${result.title}`);
      add(link, "small", result.snippet);
    }
    if (results.length === 0) {
      add(add(list, "li", ""), "p", "Nothing found. Try fewer or other words.");
    }
  }

  function load() {
    if (!document.getElementById("index")) {
      const script = document.createElement("script");
      script.id = "index";
      script.src = siteRoot + "search-index.js";
      script.onload = show;
      document.head.appendChild(script);
    }
  }

  function step(by) {
    const stops = [input, ...list.querySelectorAll("a")];
    const at = stops.indexOf(document.activeElement);
    if (at >= 0) {
      stops[Math.min(Math.max(at + by, 0), stops.length - 1)].focus();
    }
  }

  input.addEventListener("input", () => {
    load();
    show();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const first = list.querySelector("a");
    if (first) {
      location.href = first.href;
    }
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      input.value = "";
      show();
      input.blur();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      step(event.key === "ArrowDown" ? 1 : -1);
      event.preventDefault();
    }
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof Element && event.target.closest("input, textarea");
    if (event.key === "/" && !isTyping) {
      input.focus();
      event.preventDefault();
    }
  });
  document.addEventListener("click", (event) => {
    if (!form.contains(event.target) || event.target.closest("#found a")) {
      list.hidden = true;
    }
  });
  // A small screen starts with the menu closed.
  if (window.matchMedia("(max-width: 50rem)").matches) {
    document.querySelector("nav details").open = false;
  }
}
