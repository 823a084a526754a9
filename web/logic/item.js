// Items of the inbox: their state, and which one is shown.

/** open, decided or withdrawn. Rows of a list by state do not repeat it: `listed` is that state. */
export function stateOf(item, listed = "open") {
  if (item.state) return item.state;
  if (item.decision || item.decided_at) return "decided";
  if (item.withdrawn_at) return "withdrawn";
  return listed === "all" ? "open" : listed;
}

/** The id of the item to show: the one the address names, else the one on screen as long as it is
 *  in the list, whatever more urgent arrives, else the first. */
export function shownId(items, named, shown = null) {
  return named || items.find((one) => one.id === shown)?.id || items[0]?.id || null;
}

/** What an agent itself did, of the lines that concern it: the latest `max`, the last one first. */
export function deedsOf(lines, agent, max) {
  return lines
    .filter((line) => line.agent === agent)
    .slice(-max)
    .reverse();
}

/** What follows when the item `id` is decided: the next of the list, else the one before. */
export function nextOf(items, id) {
  const index = items.findIndex((one) => one.id === id);
  if (index < 0) return items[0] ?? null;
  return items[index + 1] ?? items[index - 1] ?? null;
}
