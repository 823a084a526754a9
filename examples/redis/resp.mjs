// Redis' protocol in a few lines, so that the examples need nothing but Node.

import net from "node:net";

// One value at `at`: [value, end], or null if it is not there yet.
function parse(bytes, at) {
  const end = bytes.indexOf("\r\n", at);
  if (end < 0) return null;
  const kind = String.fromCharCode(bytes[at]);
  const rest = bytes.toString("utf8", at + 1, end);
  if (kind === "+") return [rest, end + 2];
  if (kind === "-") return [new Error(rest), end + 2];
  if (kind === ":") return [Number(rest), end + 2];
  const count = Number(rest);
  if (count < 0) return [null, end + 2];
  if (kind === "$") {
    const stop = end + 2 + count;
    return bytes.length < stop + 2 ? null : [bytes.toString("utf8", end + 2, stop), stop + 2];
  }
  const list = [];
  let next = end + 2;
  for (let i = 0; i < count; i++) {
    const item = parse(bytes, next);
    if (!item) return null;
    list.push(item[0]);
    next = item[1];
  }
  return [list, next];
}

// A connection: read() awaits the next value, call() sends a command and awaits its reply.
export class Redis {
  constructor(port, host = "127.0.0.1") {
    this.bytes = Buffer.alloc(0);
    this.values = [];
    this.waiters = [];
    this.socket = net.connect(Number(port), host);
    this.socket.on("data", (data) => {
      this.bytes = Buffer.concat([this.bytes, data]);
      for (let value; (value = parse(this.bytes, 0)); ) {
        this.bytes = this.bytes.subarray(value[1]);
        const waiter = this.waiters.shift();
        if (waiter) waiter(value[0]);
        else this.values.push(value[0]);
      }
    });
  }

  read() {
    if (this.values.length > 0) return Promise.resolve(this.values.shift());
    return new Promise((resolve) => this.waiters.push(resolve));
  }

  async call(...words) {
    const parts = words.map(String).map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
    this.socket.write(`*${words.length}\r\n${parts.join("")}`);
    const reply = await this.read();
    if (reply instanceof Error) throw reply;
    return reply;
  }

  close() {
    this.socket.end();
  }
}
