// The theme, before anything is drawn: a page that begins light would flash in a dark room.

try {
  const chosen = localStorage.getItem("society.theme");
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = chosen ?? (isDark ? "dark" : "light");
} catch {
  // A browser that keeps nothing: ui/settings.js sees to it.
}
