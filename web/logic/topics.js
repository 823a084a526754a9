// What an event makes stale.
//
// The page keeps no model of the society of its own: an event says which lists have changed,
// and the view on screen reads those again. So nothing can be missing or doubled, whatever
// happened to the connection in between.

const BY_PREFIX = {
  inbox: ["inbox", "waits"],
  agent: ["agents", "stats"],
  task: ["tasks"],
  message: ["messages", "stats"],
  contact: ["contacts"],
  role: ["roles"],
  wait: ["waits", "agents"],
  usage: ["usage"],
  policy: ["policies"],
  order: [],
  log: [],
  summary: ["messages", "stats"],
};

/** The topics that an event of this name touches; every one of them touches the activity. */
export function topicsOf(name) {
  if (name === "model.delta") return [];
  const topics = [...(BY_PREFIX[name.split(".")[0]] ?? ["stats"]), "activity"];
  if (name === "message.dead" || name === "summary") topics.push("dead");
  return topics;
}

/** Collects what has become stale until a view asks. */
export class Stale {
  constructor() {
    this.topics = new Set();
    this.line = 0;
  }

  /** Notes an event. Returns true if it is new: a line already seen is not. */
  note({ name, id }) {
    if (id !== null && id !== undefined) {
      if (id <= this.line && name !== "summary") return false;
      this.line = Math.max(this.line, id);
    }
    for (const topic of topicsOf(name)) this.topics.add(topic);
    return true;
  }

  /** Marks everything stale, as after a connection that was lost. */
  all() {
    for (const topics of Object.values(BY_PREFIX))
      topics.forEach((topic) => this.topics.add(topic));
    this.topics.add("activity").add("dead");
  }

  /** Whether one of these topics is stale; if so, they no longer are. */
  take(topics) {
    const found = topics.filter((topic) => this.topics.has(topic));
    found.forEach((topic) => this.topics.delete(topic));
    return found.length > 0;
  }
}
