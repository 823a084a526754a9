"""An agent that lives outside: worker.py PORT ID [TASK]

It says hello to the orchestrator, with TASK as what it would like to do, then does each task
that comes in its queue, says so in its outbox, and ends when somebody tells it to go home.
"""

import json
import sys

from resp import Redis

port, me = sys.argv[1:3]
redis = Redis(port)


def say(message):
    redis("XADD", "agent:%s:outbox" % me, "*", "message", json.dumps(message))


task = sys.argv[3] if len(sys.argv) > 3 else "TASK-1"
say({"id": "hello-" + task, "payload": task})
while True:
    _, text = redis("BRPOP", "helix:queue:" + me, 0)
    message = json.loads(text)
    content = message.get("content") or {}
    if message.get("type") == "task":
        print("task", content["task_id"], content["requirement"], flush=True)
        say({
            "id": "result-" + content["task_id"],
            "type": "result",
            "reply_to": message["id"],
            "content": {"task_id": content["task_id"], "status": "done",
                        "output": me + " has done " + content["task_id"]},
        })
    elif content.get("text") == "go home":
        break
