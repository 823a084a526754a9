// The timeline as a sequence diagram: a lane for each agent, a row for each line of the
// activity log, arrows for messages, bars for waits.

import { fit, fitting, oneLine, widthOf } from "./format.js";

const SENT = new Set(["sent", "message.sent"]);
const DONE = new Set(["processed", "message.processed"]);
const BEGAN = new Set(["blocked", "wait.began", "wait_began"]);
const ENDED = new Set(["unblocked", "wait.ended", "wait_ended"]);
const BAD = new Set([
  "dead",
  "dead_letter",
  "expired",
  "failed",
  "deadlock",
  "turn_failed",
  "message.dead",
  "message.expired",
  "wait.deadlock",
  "unresponsive",
  "guard",
]);

/** The detail of a line as an object: many are JSON text, some are sentences. */
export function detailOf(row) {
  const detail = row.detail;
  if (detail && typeof detail === "object") return detail;
  if (typeof detail === "string" && detail[0] === "{") {
    try {
      return JSON.parse(detail);
    } catch {
      return {};
    }
  }
  return {};
}

/** Whom a sent message is for, or null. */
export function receiverOf(row) {
  const detail = detailOf(row);
  const to =
    row.to ??
    row.other ??
    detail.to ??
    /^to (.+)$/s.exec(typeof row.detail === "string" ? row.detail : "")?.[1];
  return typeof to === "string" ? to : null;
}

/** What kind of row a line is: arrow, done, wait, go, bad or note. */
export function kindOf(row) {
  if (SENT.has(row.event)) return "arrow";
  if (DONE.has(row.event)) return "done";
  if (BEGAN.has(row.event)) return "wait";
  if (ENDED.has(row.event)) return "go";
  return BAD.has(row.event) ? "bad" : "note";
}

/** The lanes in order: user, root, then as agents first appear, senders before receivers. */
export function laneOrder(rows) {
  const order = new Set();
  for (const row of rows) {
    if (row.agent && row.agent !== "system") order.add(row.agent);
    const to = kindOf(row) === "arrow" ? receiverOf(row) : null;
    if (to && to !== "All") order.add(to);
  }
  const first = ["user", "root"].filter((id) => order.has(id));
  return [...first, ...[...order].filter((id) => id !== "user" && id !== "root")];
}

const JOINTS = ["-", "_", ".", "/", ":", " "];

/** The name of a lane on at most two lines of `max` columns, parted where words meet. */
export function nameLines(id, max) {
  const name = oneLine(id, 200);
  if (widthOf(name) <= max) return [name];
  const room = fitting(name, max);
  const joint = Math.max(...JOINTS.map((sign) => name.lastIndexOf(sign, room - 1)));
  const end = joint > 0 ? joint + 1 : room;
  return [name.slice(0, end), fit(name.slice(end), max)];
}

// The bars of waits: { agent, from, to, waitsFor }; from and to are indexes of rows, and null
// where the wait began before or ends after what is shown.
function bars(rows) {
  const open = new Map();
  const list = [];
  rows.forEach((row, index) => {
    const kind = kindOf(row);
    if (kind === "wait") {
      const bar = {
        agent: row.agent,
        from: index,
        to: null,
        waitsFor: detailOf(row).waits_for ?? [],
        isUser: detailOf(row).to === "blocked_user",
      };
      open.set(row.agent, bar);
      list.push(bar);
    } else if (kind === "go") {
      const bar = open.get(row.agent);
      if (bar) bar.to = index;
      else
        list.push({
          agent: row.agent,
          from: null,
          to: index,
          waitsFor: [],
          isUser: detailOf(row).from === "blocked_user",
        });
      open.delete(row.agent);
    }
  });
  return list;
}

/** The diagram of these lines of the activity log, in order. */
export function diagram(rows) {
  const lanes = laneOrder(rows);
  const place = new Map(lanes.map((id, index) => [id, index]));
  const items = rows.map((row, index) => {
    const kind = kindOf(row);
    const to = kind === "arrow" ? receiverOf(row) : null;
    return {
      row,
      index,
      kind,
      line: row.line ?? null,
      lane: place.get(row.agent) ?? place.get(detailOf(row).target) ?? null,
      to: to === "All" ? "All" : (place.get(to) ?? null),
    };
  });
  return { lanes, items, bars: bars(rows) };
}
