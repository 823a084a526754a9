// The address of a look: `#/agent/ID?at=12&type=task`.
//
// Every filter and the moment are part of it, so a look can be sent to a colleague.

export const VIEWS = [
  "now",
  "agents",
  "agent",
  "timeline",
  "tasks",
  "inbox",
  "dead",
  "policies",
  "cost",
];

// The views that can show the past.
const PAST = new Set(["now", "agents", "agent", "timeline", "tasks", "inbox", "policies"]);

export function hasPast(view) {
  return PAST.has(view);
}

function decode(text) {
  try {
    return decodeURIComponent(text.replace(/\+/g, " "));
  } catch {
    return text;
  }
}

// A line of the activity log, or null for live. Anything else in the address counts as live.
function lineOf(text) {
  return /^[1-9][0-9]{0,14}$/.test(text ?? "") ? Number(text) : null;
}

const placeOf = (hash) => hash.replace(/^#?\/?/, "").split(/\?(.*)/s);

// The view and the id that a path names, and whether there is such a view.
function read(path) {
  const slash = path.indexOf("/");
  const name = slash < 0 ? path : path.slice(0, slash);
  const id = slash < 0 ? "" : decode(path.slice(slash + 1));
  return { name, id, isKnown: VIEWS.includes(name) && (name === "agent") === (id !== "") };
}

/** Whether a fragment names something that there is not. An empty one names nothing. */
export function isLost(hash) {
  const [path] = placeOf(hash);
  return path !== "" && !read(path).isKnown;
}

/** Reads a fragment: { view, id, at, filters }. An unknown view is `now`. */
export function parse(hash) {
  const [path, search = ""] = placeOf(hash);
  const { name, id, isKnown } = read(path);
  const filters = {};
  for (const pair of search.split("&")) {
    const [key, value = ""] = pair.split(/=(.*)/s);
    if (key !== "" && value !== "") filters[decode(key)] = decode(value);
  }
  const view = isKnown ? name : "now";
  const at = hasPast(view) ? lineOf(filters.at) : null;
  delete filters.at;
  return { view, id: isKnown ? id : "", at, filters };
}

/** The opposite of parse. Filters that are empty are left out; the order is fixed. */
export function format({ view, id = "", at = null, filters = {} }) {
  const pairs = Object.keys(filters)
    .sort()
    .filter((key) => filters[key] !== "" && filters[key] != null && filters[key] !== false)
    .map((key) => `${encodeURIComponent(key)}=${encodeURIComponent(filters[key])}`);
  if (at != null && hasPast(view)) pairs.unshift(`at=${at}`);
  const path = id === "" ? view : `${view}/${encodeURIComponent(id)}`;
  return `#/${path}${pairs.length > 0 ? `?${pairs.join("&")}` : ""}`;
}

/** The query of an API route: parameters that are absent or empty are left out. */
export function query(parameters) {
  const pairs = Object.entries(parameters)
    .filter(([, value]) => value != null && value !== "")
    .map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`);
  return pairs.length > 0 ? `?${pairs.join("&")}` : "";
}
