// An agent that lives outside: node worker.mjs PORT ID [TASK]. As worker.py, but it reads its
// inbox, a stream, and keeps no place: it begins with what comes after its start.

import { Redis } from "./resp.mjs";

const [port, me, task = "TASK-1"] = process.argv.slice(2);
const redis = new Redis(port);
const say = (message) =>
  redis.call("XADD", `agent:${me}:outbox`, "*", "message", JSON.stringify(message));

const [newest] = await redis.call("XREVRANGE", `agent:${me}:inbox`, "+", "-", "COUNT", 1);
let place = newest ? newest[0] : "0-0";
await say({ id: `hello-${task}`, payload: task });
for (let isOver = false; !isOver; ) {
  const answer = await redis.call("XREAD", "BLOCK", 0, "STREAMS", `agent:${me}:inbox`, place);
  for (const [id, [, text]] of answer[0][1]) {
    place = id;
    const message = JSON.parse(text);
    const payload = message.payload ?? {};
    if (message.type === "task") {
      console.log("task", payload.task_id, payload.requirement);
      await say({ id: `result-${payload.task_id}`, type: "result", reply_to: message.id,
        content: { task_id: payload.task_id, status: "done", output: `${me} has done ${payload.task_id}` } });
    } else if (payload.text === "go home") {
      isOver = true;
    }
  }
}
redis.close();
