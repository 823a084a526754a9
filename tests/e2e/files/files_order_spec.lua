-- What an agent said before it acked is read before the ack counts.

local desk = require("desk")
local program = require("program")
local tree = require("tree")

local QUEUE = "channel/agents/a.jsonl"
local ACK = "channel/agents/a.ack"
local OUT = "channel/agents/a.out.jsonl"
local COMMON = "channel/orchestrator.jsonl"

local function example(name)
  return program.quote(tree.path("examples/files/" .. name))
end

describe("a terminating outside agent", function()
  local d

  -- An agent that has a task, and terminates when it is done with it.
  local function open(settings)
    d = desk.open(settings)
    d:tell({ command = "hire", id = "a" })
    d:tell({ command = "hire", id = "b" })
    d:tell({ command = "send", message = {
      to = "a", type = "task_assign", payload = { task_id = "t1", topic = "auth" } } })
    d:tell({ command = "end_agent", id = "a", drains = true })
    return d:await(QUEUE, 1)[1].id
  end

  local function result()
    return { id = "own-1", type = "task_complete", from = "a",
      payload = { task_id = "t1", status = "done", output = "well" } }
  end

  local function ack(id)
    d:put(ACK, { msg_id = id, status = "received" })
    d:put(ACK, { msg_id = id, status = "processed" })
  end

  after_each(function()
    d:close()
  end)

  for _, file in ipairs({ OUT, COMMON }) do
    it("is heard before its ack ends it: " .. file, function()
      local id = open()
      d:at_once(function()
        d:put(file, result())
        ack(id)
      end)
      local heard = d:await_heard(1)[1]
      assert.same({ "a", "task_complete", "well" },
        { heard.from, heard.type, heard.payload.output })
      d:await_status("a", "stopped")
      assert.equal(1, #d:heard())
      assert.is_nil(d:read("logs/errors.jsonl"))
    end)
  end

  it("is heard even if its line had to wait for its newline", function()
    local id = open({ polling = { max_wait_ms = 300, interval_ms = 50, max_interval_ms = 100 } })
    d:at_once(function()
      d:append(OUT, '{"type":"task_complete","payload":{"task_id":"t1","output":"well"}}')
      ack(id)
    end)
    assert.equal("well", d:await_heard(1)[1].payload.output)
    d:await_status("a", "stopped")
  end)

  it("is heard even if its line had to wait for a mailbox, and owes no ack", function()
    local id = open({ mailbox_max = 2, polling = { interval_ms = 20, max_interval_ms = 40 },
      ack = { retry_delay_ms = 50 } })
    d:tell({ command = "send", message = {
      to = "b", type = "task_assign", payload = { task_id = "never_acked_by_b" } } })
    d:pause_root()
    d:at_once(function()
      for i = 1, 3 do
        d:put(OUT, { payload = tostring(i) })
      end
      d:put(OUT, result())
      d:put(ACK, { msg_id = id, status = "processed" })
    end)
    d:await_event("waiting", "logs/errors.jsonl")
    d:outwait_acks("b")
    d:resume_root()
    assert.equal("well", d:await_heard(4)[4].payload.output)
    d:await_status("a", "stopped")
    assert.equal(1, #d:lines(QUEUE))
    assert.equal(4, #d:heard()) -- no alert
  end)

  for _, worker in ipairs({ "sh " .. example("worker.sh"), "python3 " .. example("worker.py") }) do
    it("is heard with the example workers: " .. worker:match("^%w+"), function()
      open()
      d.place:shell(("timeout 300 %s w a > a.out 2>&1 & echo $! > a.pid"):format(worker))
      assert.matches("^auth", d:await_heard(1)[1].payload.output)
      d:await_status("a", "stopped")
      d.place:shell("kill $(cat a.pid)")
    end)
  end
end)

describe("acks of an outside agent", function()
  it("do not wait for other agents' lines that wait for room", function()
    local d = desk.open({ mailbox_max = 2, polling = { interval_ms = 20, max_interval_ms = 40 } })
    d:tell({ command = "hire", id = "a" })
    d:tell({ command = "hire", id = "b" })
    d:tell({ command = "send", message = {
      to = "a", type = "task_assign", payload = { task_id = "t1" } } })
    local id = d:await(QUEUE, 1)[1].id
    d:pause_root()
    for i = 1, 4 do
      d:put(COMMON, { from = "b", payload = tostring(i) })
    end
    d:await_event("waiting", "logs/errors.jsonl")
    d:put(ACK, { msg_id = id, status = "processed" })
    d:await_event("acked")
    d:close()
  end)
end)

describe("a run that is ending", function()
  it("leaves no message pending that came meanwhile", function()
    local place = program.place()
    place:write("app.lua", [[
      local society = require("society")
      society.config({ name = "meanwhile", files = { dir = "w" } })
      society.role({ id = "worker", behaviour = "external" })
      society.root(function(root, message)
        return message.from == "user" and root:spawn_agent("worker", { objective = "o",
          constraints = {}, inputs = "i", outputs = "o", completion_criteria = "c" }, { id = "a" })
      end)
      society.main(function(user)
        user:request({ to = "root", payload = "go" })
        user:sleep(100)
      end)
    ]])
    place:write("talk.sh", [[
      while kill -0 $1; do
        [ -e w/channel/agents/a.jsonl ] && echo '{"payload":"x"}' >> w/channel/agents/a.out.jsonl
        sleep 0.001
      done
    ]])
    for _ = 1, 6 do -- a line must come between two looks
      local run = place:start("run app.lua --state st --fresh --quiet")
      place:shell("timeout 300 sh talk.sh " .. run.pid)
      assert.equal(0, run:wait().code)
      assert.not_matches("pending", place:shell("sqlite3 -readonly st/society.db "
        .. "\"SELECT DISTINCT status FROM messages WHERE sender = 'a'\"").out)
    end
    place:remove()
  end)

  it("continues with what a last look finds", function()
    local place = program.place()
    place:write("app.lua", [[
      local society = require("society")
      society.config({ name = "last", files = { dir = "w" } })
      society.role({ id = "worker", behaviour = "external" })
      society.root(function(root, message)
        if message.from ~= "user" then
          return print("root hears", message.type, message.payload.output)
        end
        assert(root:spawn_agent("worker", { objective = "o", constraints = {}, inputs = "i",
          outputs = "o", completion_criteria = "c" }, { id = "a" }))
        root:send_message({ to = "a", type = "task_assign", payload = { task_id = "t1" } })
      end)
      society.main(function(user) user:send_message({ to = "root", payload = "go" }) end)
    ]])
    local run = place:start("run app.lua --state st --quiet")
    local id = program.wait_for("the task", function()
      return (place:read("w/" .. QUEUE) or ""):match('"id":"(msg_[^"]*)"')
    end)
    run:kill("STOP")
    local result = [[{"type":"task_complete","payload":{"task_id":"t1","output":"well"}}]]
    place:shell(([[printf "%%s" '%s' > w/%s; echo '{"msg_id":"%s","status":"processed"}' >> w/%s]])
      :format(result, OUT, id, ACK))
    run:kill("CONT")
    local ended = run:wait()
    assert.equal("root hears\ttask_complete\twell\n", ended.out)
    assert.equal(0, ended.code)
    place:remove()
  end)
end)
