// How much waits for a person: shown beside the names of views and in the title.

import { Pace } from "../logic/pace.js";
import { topicsOf } from "../logic/topics.js";
import { get, single } from "./api.js";

export class Badges {
  /** Calls onCount(line), the line of the log that was counted at. */
  constructor(onCount) {
    this.onCount = onCount;
    this.counts = {};
    this.pace = new Pace();
    this.timer = null;
  }

  /** An event was heard: counts again, soon, if it can have changed a count. */
  hear(name) {
    const topics = topicsOf(name);
    if (topics.includes("inbox") || topics.includes("dead")) this.soon();
  }

  soon() {
    const wait = this.pace.wait(performance.now());
    if (wait === null) this.isStale = true;
    else
      this.timer ??= setTimeout(() => {
        this.timer = null;
        this.count();
      }, wait);
  }

  async count() {
    this.isStale = this.isCounting === true;
    if (this.isStale) return;
    this.isCounting = true;
    this.pace.begin(performance.now());
    let line = null;
    try {
      const stats = single(await get("/stats"));
      const inbox = await get("/inbox", { state: "open", limit: 100 });
      this.counts = { dead: stats.dead ?? 0, inbox: (inbox.items ?? inbox).length };
      line = inbox.as_of;
    } catch {
      // The view on screen says what is wrong.
    }
    this.pace.end(performance.now());
    this.isCounting = false;
    this.onCount(line);
    if (this.isStale) this.soon();
  }
}
