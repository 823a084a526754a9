// Calls to the society's HTTP interface.

import { query } from "../logic/address.js";

const BASE = "/api/v1";

/** What went wrong: a status (0: no answer), a code and a sentence. */
export class ApiError extends Error {
  constructor(status, body) {
    super(body?.message ?? body?.hint ?? "");
    this.status = status;
    this.code = body?.error ?? (status === 0 ? "unreachable" : `http_${status}`);
    this.body = body ?? {};
  }
}

// The scopes of this token, as the last answer named them.
let scopes = null;

/** Whether this token has a scope, as far as that is known. */
export const may = (scope) => scopes === null || scopes.includes(scope);

const DECIDES = ["approve", "modify", "reject", "choose", "decide"];

/** The scope that an operation of the page needs. */
export const scopeOf = (of) =>
  DECIDES.includes(of) ? "decide" : of === "send" ? "write" : "operate";

/** Whether an error says that this token may not do `of` at all. A policy, a contact or an origin
 *  refuses with the same status, and may not do so the next time. */
export const lacksScope = (error, of) =>
  error.code === "forbidden" && (scopes === null || !may(scopeOf(of)));

async function call(method, path, { body, signal, key } = {}) {
  const headers = { Accept: "application/json" };
  if (method !== "GET") headers["X-Society"] = "1";
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key) headers["Idempotency-Key"] = key;
  let response;
  let text;
  try {
    response = await fetch(BASE + path, {
      method,
      headers,
      signal,
      cache: "no-store",
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    text = await response.text();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0);
  }
  scopes = response.headers.get("X-Society-Scopes")?.split(",") ?? scopes;
  let answer = null;
  try {
    answer = text === "" ? null : JSON.parse(text);
  } catch {
    answer = response.ok ? text : { message: text.slice(0, 500) };
  }
  if (!response.ok) throw new ApiError(response.status, answer);
  return answer;
}

export function get(path, parameters = {}, signal) {
  return call("GET", path + query(parameters), { signal });
}

/** A change. It has a key of its own, so a repeated one is done once. */
export function post(path, body = {}) {
  return call("POST", path, { body, key: crypto.randomUUID?.() ?? String(Math.random()) });
}

export function put(path, body) {
  return call("PUT", path, { body });
}

export function remove(path, parameters = {}) {
  return call("DELETE", path + query(parameters));
}

/** A part of a path. */
export const part = encodeURIComponent;

/** The rows of a list, whether it comes as a page or as a plain list. */
export function rows(answer) {
  return Array.isArray(answer) ? answer : (answer?.items ?? []);
}

/** The one object of an answer that may come as a list of one. */
export function single(answer) {
  return Array.isArray(answer) ? answer[0] : (answer?.items?.[0] ?? answer);
}

/** What a view can do without: null if it cannot be read. */
export function optional(promise) {
  return promise.catch((error) => {
    if (error.name === "AbortError") throw error;
    return null;
  });
}

const PAGE_ROWS = 1000;

/** All rows of a list, page by page from the latest back, up to `max`: { items, isWhole, as_of },
 *  in order. */
export async function all(path, parameters = {}, max = 20000, signal = undefined) {
  let items = [];
  let { before } = parameters;
  let asOf;
  for (;;) {
    const page = await get(path, { ...parameters, limit: PAGE_ROWS, before }, signal);
    items = [...rows(page), ...items];
    asOf ??= page?.as_of;
    const previous = page?.previous;
    if (!previous || previous === before) return { items, isWhole: true, as_of: asOf };
    if (items.length >= max) return { items, isWhole: false, as_of: asOf };
    before = previous;
  }
}

/** Rows of a list, page by page from its start, until there are `max` or more: { items, as_of }. */
export async function fromStart(path, parameters, max, signal) {
  let items = [];
  let after = 0;
  let asOf;
  for (;;) {
    const page = await get(path, { ...parameters, limit: PAGE_ROWS, after }, signal);
    items = [...items, ...rows(page)];
    asOf ??= page?.as_of;
    if (!page?.next || items.length >= max) return { items, as_of: asOf };
    after = page.next;
  }
}
