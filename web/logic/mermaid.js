// The timeline as text for Mermaid, as `society export mermaid` writes it.

import { clean, oneLine } from "./format.js";
import { kindOf, laneOrder, receiverOf } from "./lanes.js";

// Characters that mean something to Mermaid become its entities.
function escape(text) {
  return clean(text)
    .replace(/[#;%<>&]/g, (sign) => `#${sign.charCodeAt(0)};`)
    .replace(/\n/g, "<br/>")
    .replace(/\t/g, " ");
}

/** The diagram of lines of the activity log; a number stands for each agent. */
export function mermaid(rows) {
  const lanes = laneOrder(rows);
  const name = new Map(lanes.map((id, index) => [id, `p${index + 1}`]));
  const lines = ["sequenceDiagram"];
  for (const id of lanes)
    lines.push(`  participant ${name.get(id)} as ${escape(oneLine(id, 120))}`);
  for (const row of rows) {
    const from = name.get(row.agent);
    if (!from) continue;
    const label = escape(oneLine(row.type ?? row.event, 120));
    if (kindOf(row) === "arrow") {
      const to = name.get(receiverOf(row));
      lines.push(to ? `  ${from}->>${to}: ${label}` : `  Note over ${from}: ${label}`);
    } else if (kindOf(row) === "wait" || kindOf(row) === "bad") {
      lines.push(`  Note over ${from}: ${escape(row.event)}`);
    }
  }
  return `${lines.join("\n")}\n`;
}
