// A stand-in for the HTTP door, for states of the page that a real society reaches with
// difficulty: nothing at all, errors, hostile texts.
//
//     node tests/web/standin.mjs WEB [SCENE] [PORT]     prints its address
//
// SCENE is full, empty, hostile, broken, locked or streamless.

import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";
import { pathToFileURL } from "node:url";
import { scenes } from "./scenes.mjs";

const TYPES = {
  ".html": "text/html",
  ".css": "text/css",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
};

const page = (items, line, more = {}) => ({ items, next: null, as_of: line, ...more });

// The answer of a GET: undefined is 404.
function answerTo(society, path, query) {
  const limit = Number(query.get("limit") ?? 100);
  const fits = (row) =>
    ["agent", "task", "correlation_id", "type"].every((name) => {
      const wanted = query.get(name);
      if (wanted === null) return true;
      if (name === "agent")
        return row.agent === wanted || row.other === wanted || row.owner === wanted;
      if (name === "task") return row.task_id === wanted;
      if (name === "type")
        return row.type === wanted || row.event === wanted || row.state === wanted;
      return row[name] === wanted;
    });
  const [, one, rest] =
    /^\/(?:agents|messages|inbox|policies|replays)\/([^/]+)(?:\/(\w+))?$/.exec(path) ?? [];
  const id = one && decodeURIComponent(one);
  if (path === "/stats") return society.stats();
  if (path === "/agents/tree") return page(society.tree(), society.line);
  if (path === "/agents") {
    const end = Number(query.get("before") ?? society.agents.length + 1) - 1;
    const first = Math.max(0, end - limit);
    const previous = first > 0 ? first + 1 : null;
    return page(society.agents.slice(first, end), society.line, { previous });
  }
  if (path === "/waits") return page(society.waits, society.line);
  if (path === "/tasks") return page(society.tasks.filter(fits), society.line);
  if (path === "/usage/budgets") return page(society.budgets ?? [], society.line);
  if (path === "/usage") return page(society.usage.filter(fits), society.line);
  if (path === "/dead-letters") {
    const names = ["from", "to", "type", "reason", "task"].filter((name) => query.has(name));
    const filter = Object.fromEntries(names.map((name) => [name, query.get(name)]));
    return page(society.lettersFor(filter), society.line);
  }
  if (path === "/policies") return page(society.policies, society.line);
  if (path === "/inbox") {
    const state = query.get("state") ?? "open";
    return page(
      society.inbox.filter((item) => state === "all" || item.state === state),
      society.line,
    );
  }
  if (path === "/activity") {
    const after = Number(query.get("after") ?? 0);
    const before = Number(query.get("before") ?? Infinity);
    const rows = society.activity.filter(
      (row) =>
        fits(row) &&
        row.line > after &&
        row.line < before &&
        Date.parse(row.time) < Number(query.get("until") ?? Infinity),
    );
    return page(query.has("after") ? rows.slice(0, limit) : rows.slice(-limit), society.line);
  }
  if (path === "/at") return society.at(Number(query.get("line")));
  if (path.startsWith("/agents/")) return society.agentLook(id, rest);
  if (path.startsWith("/messages/")) return society.message(id);
  if (path.startsWith("/inbox/")) return society.inbox.find((item) => item.id === id);
  if (path.startsWith("/policies/"))
    return { kind: id, names: ["open", "strict"], swaps: society.swaps?.[id] ?? [] };
  if (path.startsWith("/replays/")) return society.replay;
  return undefined;
}

function send(response, status, body, headers = {}) {
  response.writeHead(status, { "Content-Type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

// Only an answer names the scopes of the token, and only where a test has set them.
const scopesOf = ({ scopes }) => (scopes ? { "X-Society-Scopes": scopes } : {});

async function serveFile(web, path, response) {
  const name = normalize(path === "/" ? "/index.html" : path);
  try {
    const body = await readFile(join(web, name));
    response.writeHead(200, {
      "Content-Type": TYPES[extname(name)] ?? "application/octet-stream",
      "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'",
    });
    response.end(body);
  } catch {
    send(response, 404, { error: "not_found" });
  }
}

// `after` is the line that the page resumes at: null for none, 410 where it was removed.
function stream(society, response, after) {
  society.resumed.push(after);
  if (after !== null && after + 1 < society.first)
    return send(response, 410, { error: "gone", first: society.first });
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  response.write(": hello\n\n");
  const listener = (name, id, data) =>
    response.write(
      `event: ${name}\n${id === null ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`,
    );
  society.listeners.add(listener);
  const comments = setInterval(() => response.write(":\n\n"), 15000); // as the host does
  response.on("close", () => {
    clearInterval(comments);
    society.listeners.delete(listener);
  });
  society.hangUps.push(() => response.end());
  return undefined;
}

// A DELETE has its parameters in the address.
async function change(society, request, path, query) {
  let text = "";
  for await (const chunk of request) text += chunk;
  const body = text === "" ? Object.fromEntries(query) : JSON.parse(text);
  return society.change(request.method, path, body);
}

/** Starts it: resolves to { url, society, close }. */
export function start(web, scene = "full", port = 0) {
  const society = scenes[scene]();
  society.isBroken = scene === "broken";
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, "http://localhost");
    if (!url.pathname.startsWith("/api/v1/")) return serveFile(web, url.pathname, response);
    const path = url.pathname.slice("/api/v1".length);
    if (scene === "locked") return send(response, 401, { error: "unauthorized" });
    if (society.isBroken)
      return send(response, 503, { error: "saturated", message: "the journal is saturated" });
    if (path === "/events" && (scene === "streamless" || society.isStreamless))
      return send(response, 503, { error: "busy" });
    if (path === "/events") {
      const after = url.searchParams.get("after");
      return stream(society, response, after && Number(after));
    }
    if (
      path === "/activity" &&
      Number(url.searchParams.get("after") ?? Infinity) + 1 < society.first
    )
      return send(response, 410, { error: "gone", first: society.first });
    if (request.method === "GET") {
      society.reads += 1;
      const answer = answerTo(society, path, url.searchParams);
      return answer === undefined
        ? send(response, 404, { error: "not_found", message: "there is none" })
        : send(response, 200, answer, scopesOf(society));
    }
    const { status = 200, answer } = await change(society, request, path, url.searchParams);
    return send(response, status, answer);
  });
  return new Promise((resolve) => {
    server.listen(port, "127.0.0.1", () =>
      resolve({
        society,
        url: `http://127.0.0.1:${server.address().port}`,
        close: () => {
          society.stop?.();
          server.closeAllConnections();
          server.close();
        },
      }),
    );
  });
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { url } = await start(process.argv[2], process.argv[3], Number(process.argv[4] ?? 0));
  console.log(url);
}
