// What the lines of the activity log say beyond their events, in words.

import { clip, oneLine, payloadText } from "../logic/format.js";
import { detailOf } from "../logic/lanes.js";
import { h } from "./dom.js";
import { agentLink, link, moment, words } from "./parts.js";
import { t, word } from "./words.js";

const agents = (look, ids, max) =>
  ids.slice(0, max).map((id, i) => [i > 0 ? ", " : "", agentLink(look, id)]);

/** The name of a member of a detail. */
export const nameOf = (name) => word(`detail.${name}`, name);

/** A member of a detail: a state or kind of wait in words, names with commas between them, or its
 *  text. */
export function said(look, name, value) {
  if (name === "waits_for" && Array.isArray(value)) return agents(look, value, 20);
  if (name === "from" || name === "to") return word(`state.${value}`, payloadText(value));
  if (name === "kind") return word(`wait.${value}.any`, word(`wait.${value}`, payloadText(value)));
  if (name === "deadline" || name === "since") return moment(value);
  if (["state", "decision", "error"].includes(name))
    return word(`${name}.${value}`, payloadText(value));
  if (name === "traceback")
    return h("bdi", { class: "lines" }, clip(payloadText(value), 2000).text);
  return words(Array.isArray(value) ? value.map(payloadText).join(", ") : payloadText(value), 600);
}

// The members of a detail that say most, the best first.
const TELLING = ["title", "text", "message", "reason", "to", "model", "task_id", "op"];

const MEMBERS = 4;

// A decision: what it was, and which question it ended.
function decided(look, { item_id: item, title, decision }) {
  const to = { view: "inbox", at: null, filters: { item } };
  const question = title ? words(title, 80) : t("detail.item_id");
  return [
    said(look, "decision", decision),
    typeof item === "string" && [" · ", link(look, to, question)],
  ];
}

/** What a line says beyond its event, on one line. */
export function detailText(look, row) {
  const detail = detailOf(row);
  if (Array.isArray(detail.waits_for)) return agents(look, detail.waits_for, 3);
  if (typeof detail.decision === "string") return decided(look, detail);
  if (detail.op && typeof detail.target === "string")
    return words(`${detail.op} · ${detail.target}`, 120);
  const text = TELLING.map((name) => detail[name]).find((value) => typeof value === "string");
  const members = Object.entries(detail);
  if (text !== undefined || members.length === 0) return words(text ?? payloadText(row.detail), 120);
  return members
    .slice(0, MEMBERS)
    .map(([name, value], i) => [
      i > 0 ? ", " : "",
      `${oneLine(nameOf(name), 40)}: `,
      words(payloadText(value), 60),
    ]);
}
