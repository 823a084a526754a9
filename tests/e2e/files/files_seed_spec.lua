-- The protocol's four flows with a worker that follows its sketch word for word: it polls
-- its queue and the broadcasts, acks what requires it in the queue, writes heartbeats and
-- writes to orchestrator.jsonl. It knows nothing else.

local desk = require("desk")
local program = require("program")

local WORKER = [[
import datetime, json, os, sys, time
folder, me = sys.argv[1], sys.argv[2]
channel = folder + "/channel"
queue, broadcast = f"{channel}/agents/{me}.jsonl", f"{channel}/broadcast.jsonl"
positions = {queue: 0, broadcast: 0}
count = 0

def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat().replace("+00:00", "Z")

def append(path, message):
    with open(path, "a") as file:
        file.write(json.dumps(message) + "\n")

def read_new_lines(path):
    with open(path) as file:
        lines = file.readlines()[positions[path]:]
    positions[path] += len(lines)
    return [json.loads(line) for line in lines]

def tell(kind, payload):
    global count
    count += 1
    append(channel + "/orchestrator.jsonl", {"id": f"{me}_{count}", "timestamp": now(),
        "from": me, "to": "orchestrator", "type": kind, "payload": payload})

def process(message):
    if message.get("type") == "task_assign":
        tell("progress_update", {"task_id": message["payload"]["task_id"], "percent": 50})
        tell("task_complete", {"task_id": message["payload"]["task_id"], "status": "done"})
    elif message.get("type") == "checkpoint_request":
        tell("checkpoint_response",
             {"checkpoint_id": message["payload"]["checkpoint_id"], "text": me + " is ready"})

while not os.path.exists(queue):
    time.sleep(0.05)
while os.path.exists(queue):
    for message in read_new_lines(queue):
        process(message)
        if message.get("requires_ack"):
            append(f"{channel}/agents/{me}.ack",
                   {"msg_id": message["id"], "status": "received", "at": now()})
    for message in read_new_lines(broadcast):
        process(message)
    with open(f"{folder}/state/heartbeat/{me}.ts", "w") as file:
        file.write(now())
    time.sleep(0.05)
]]

describe("a worker that follows the protocol's sketch", function()
  local d

  local function said(kind)
    local count = {}
    for _, line in ipairs(d:lines("channel/orchestrator.jsonl")) do
      if line.type == kind then
        count[line.from] = (count[line.from] or 0) + 1
      end
    end
    return count
  end

  before_each(function()
    d = desk.open({ ack = { retry_delay_ms = 50 } })
    d.place:write("worker.py", WORKER)
    for _, id in ipairs({ "a", "b" }) do
      d:tell({ command = "hire", id = id })
      d.place:shell(("timeout 300 python3 worker.py w %s > %s.out 2>&1 & echo $! > %s.pid")
        :format(id, id, id))
    end
  end)

  after_each(function()
    d.place:shell("kill $(cat a.pid b.pid)")
    d:close()
  end)

  it("registers, works, reports and answers a checkpoint of all once", function()
    assert.equal("active", d:await_status("a", "active").status)
    for _, id in ipairs({ "a", "b" }) do
      d:tell({ command = "send", message = {
        to = id, type = "task_assign", payload = { task_id = "t_" .. id } } })
    end
    local heard = d:await_heard(4)
    local kinds = {}
    for _, message in ipairs(heard) do
      kinds[message.type] = (kinds[message.type] or 0) + 1
    end
    assert.same({ progress_update = 2, task_complete = 2 }, kinds)
    d:tell({ command = "shout", text = "well done" })
    local result = d:tell({ command = "check" })
    assert.same({}, result.missing)
    assert.same({ "a is ready", "b is ready" },
      { result.responses.a.text, result.responses.b.text })
    assert.is_nil(d:read("logs/errors.jsonl"))
    d:tell({ command = "hire", id = "c" }) -- it has no worker
    d:outwait_acks("c")
    assert.same({ a = 1, b = 1 }, said("checkpoint_response"))
    for _, id in ipairs({ "a", "b" }) do
      assert.equal(2, #d:lines("channel/agents/" .. id .. ".jsonl"))
      local acked = {}
      for _, ack in ipairs(d:acks(id)) do
        acked[#acked + 1] = ("%s %s %s"):format(ack.ack_for, ack.from, ack.status)
        assert.matches("^ack_%d+_%d+_%w+$", ack.id)
      end
      table.sort(acked) -- of the task_complete and the checkpoint_response
      assert.same({ id .. "_2 root processed", id .. "_2 root received",
        id .. "_3 root processed", id .. "_3 root received" }, acked)
    end
    assert.equal("", d.place:read("a.out") .. d.place:read("b.out"))
    assert.is_string(program.wait_for("a heartbeat", function()
      return d:await_status("a", "active").last_heartbeat
    end))
  end)
end)
