// Asks an agent and prints its reply: node request.mjs PORT AGENT TEXT

import { randomUUID } from "node:crypto";
import { Redis } from "./resp.mjs";

async function request(port, agent, message) {
  const correlationId = randomUUID();
  const channel = `reply:${correlationId}`;
  const ears = new Redis(port);
  const mouth = new Redis(port);
  await ears.call("SUBSCRIBE", channel);
  await mouth.call("PUBLISH", `agent:${agent}:inbox`,
    JSON.stringify({ ...message, correlation_id: correlationId, reply_channel: channel }));
  let event;
  do event = await ears.read();
  while (event[0] !== "message");
  ears.close();
  mouth.close();
  return JSON.parse(event[2]);
}

const [port, agent, text] = process.argv.slice(2);
const reply = await request(port, agent, { content: text });
console.log(JSON.stringify(reply));
process.exitCode = reply.error ? 1 : 0;
