// Reads a stream of server-sent events that arrives in pieces.
//
// Only the name, the id and the data of an event are of interest. A piece may end anywhere,
// even between the two characters of a line's end.

export class Reader {
  constructor() {
    this.rest = "";
    this.clear();
  }

  clear() {
    this.name = "";
    this.id = null;
    this.data = null;
  }

  /** Takes a piece of text and calls onEvent({ name, id, data }) for each whole event. */
  push(text, onEvent) {
    const all = this.rest + text;
    let start = 0;
    for (let end = all.indexOf("\n"); end >= 0; end = all.indexOf("\n", start)) {
      const last = all[end - 1] === "\r" ? end - 1 : end;
      this.line(all.slice(start, Math.max(start, last)), onEvent);
      start = end + 1;
    }
    this.rest = all.slice(start);
  }

  line(line, onEvent) {
    if (line === "") {
      if (this.data !== null)
        onEvent({ name: this.name || "message", id: this.id, data: this.data });
      this.clear();
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return; // a comment keeps the connection alive
    const field = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value[0] === " ") value = value.slice(1);
    if (field === "event") this.name = value;
    else if (field === "data") this.data = this.data === null ? value : `${this.data}\n${value}`;
    else if (field === "id" && /^[0-9]+$/.test(value)) this.id = Number(value);
  }
}
