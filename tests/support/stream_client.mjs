// Listens to a society's events with a client that is not ours:
//     node stream_client.mjs MODULES fetch|eventsource|ws URL TOKEN COUNT
// Prints "open", then each event as { name, id, data } on a line, and ends after COUNT. With
// COUNT 0 it says something to the WebSocket and prints the code it is closed with.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, kind, url, token, count] = process.argv.slice(2);
const require = createRequire(pathToFileURL(modules + "/"));
const headers = { Authorization: `Bearer ${token}` };
let seen = 0;

function take(name, id, data) {
  console.log(JSON.stringify({ name, id, data: JSON.parse(data) }));
  if (++seen === Number(count)) process.exit(0);
}

async function byFetch() {
  const response = await fetch(url, { headers });
  console.log(response.ok ? "open" : `status ${response.status}`);
  if (!response.ok) process.exit(0);
  let text = "";
  for await (const bytes of response.body.pipeThrough(new TextDecoderStream())) {
    text += bytes;
    let end;
    while ((end = text.indexOf("\n\n")) >= 0) {
      const fields = {};
      for (const line of text.slice(0, end).split("\n")) {
        const at = line.indexOf(": ");
        if (at > 0) fields[line.slice(0, at)] = line.slice(at + 2);
      }
      text = text.slice(end + 2);
      if (fields.data) take(fields.event, Number(fields.id ?? 0), fields.data);
    }
  }
  console.log("closed");
}

function byEventSource(names) {
  const loaded = require("eventsource");
  const EventSource = loaded.EventSource ?? loaded;
  const source = new EventSource(url, { headers });
  source.onopen = () => console.log("open");
  for (const name of names) {
    source.addEventListener(name, (event) => take(name, Number(event.lastEventId), event.data));
  }
}

function byWebSocket() {
  const WebSocket = require("ws");
  const socket = new WebSocket(url.replace(/^http/, "ws"), { headers });
  socket.on("open", () => {
    console.log("open");
    if (count === "0") socket.send("hello");
  });
  socket.on("message", (text) => {
    const { type, id, data } = JSON.parse(text);
    take(type, id ?? 0, JSON.stringify(data));
  });
  socket.on("close", (code) => console.log(`closed ${code}`));
  socket.on("unexpected-response", (request, response) => {
    console.log(`status ${response.statusCode}`);
    process.exit(0);
  });
}

if (kind === "fetch") await byFetch();
else if (kind === "ws") byWebSocket();
else byEventSource(["message.sent", "message.processed", "order", "log", "agent.born"]);
