-- The workflow example with its outside workers, simulated here: registered, given tasks,
-- acking, reporting, meeting at a checkpoint; and one that stays silent.

local society = require("society")

describe("the workflow with outside workers", function()
  local s

  before_each(function() s = society.new({ app = "examples/workflow/outside.lua" }) end)
  after_each(function() s:close() end)

  -- What root has printed so far.
  local function said()
    local lines = {}
    for line in s:transcript():gmatch("print root: ([^\n]*)") do
      lines[#lines + 1] = line
    end
    return lines
  end

  local function last(id)
    local out = s:outside(id)
    return out[#out]
  end

  local function beat(ms)
    for _ = 1, ms // 1000 do
      s:heartbeat("agent_architecture")
      s:heartbeat("agent_cognitive")
      s:advance(1000)
    end
  end

  it("runs to its end", function()
    s:advance(1)
    -- 1. Registration and 2. assignment: each has its task, and acks it.
    for i, id in ipairs({ "agent_architecture", "agent_cognitive", "agent_workflow" }) do
      local message = last(id)
      assert.equal("task_assign", message.type)
      assert.equal("root", message.from)
      assert.same({ task_id = "task_00" .. i, perspective = id:sub(7),
        topic = "user-auth-system" }, message.payload)
      assert.is_true(message.requires_ack)
      assert.equal(300, message.ttl_seconds)
    end
    assert(s:ack("agent_architecture", { id = "ack_20250125_143025_def456",
      timestamp = "2025-01-25T14:30:25.123Z", ack_for = last("agent_architecture").id,
      from = "agent_architecture", status = "received" }))
    assert(s:ack("agent_cognitive", { msg_id = last("agent_cognitive").id, status = "received",
      at = "2025-01-25T14:30:55.456Z" }))

    -- 3. Progress.
    assert(s:outside_send("agent_architecture", { type = "progress_update", to = "orchestrator",
      payload = { task_id = "task_001", text = "half of it" } }))
    beat(7000)
    assert.same({ "agent_architecture: half of it" }, said())
    assert.equal(1, #s:outside("agent_architecture"))
    assert.equal(2, last("agent_workflow").attempt)

    -- 4. The checkpoint, which the third does not answer.
    beat(2000)
    local asked = last("agent_cognitive")
    assert.equal("checkpoint_request", asked.type)
    for _, id in ipairs({ "agent_architecture", "agent_cognitive" }) do
      assert(s:outside_send(id, { type = "checkpoint_response", to = "orchestrator",
        payload = { checkpoint_id = asked.payload.checkpoint_id, status = "is nearly done" } }))
    end
    beat(5000)
    assert.same({ "checkpoint: agent_architecture is nearly done",
      "checkpoint: agent_cognitive is nearly done", "checkpoint: agent_workflow is missing" },
      { table.unpack(said(), 2) })

    -- It is silent: unresponsive at 19 s, and its task is taken away.
    beat(5000)
    assert.equal("unresponsive", s:agent("agent_workflow").status)
    assert.equal("agent_workflow: not heard, aborted", said()[5])
    assert.equal("abort", last("agent_workflow").type)
    assert.equal("task_003", last("agent_workflow").payload.task_id)

    -- The others complete, and all are told that it is over.
    for i, id in ipairs({ "agent_architecture", "agent_cognitive" }) do
      assert(s:outside_send(id, { type = "task_complete", to = "orchestrator",
        external_id = "msg_00" .. i, payload = { task_id = "task_00" .. i, output = "a report" } }))
    end
    s:run()
    assert.same({ "agent_architecture: done, a report", "agent_cognitive: done, a report" },
      { table.unpack(said(), 6) })
    for _, id in ipairs({ "agent_architecture", "agent_cognitive", "agent_workflow" }) do
      assert.equal("the workflow is over", last(id).payload.text)
      assert.is_true(last(id).broadcast)
    end
    local states = {}
    for i, task in ipairs(s:tasks()) do
      states[i] = task.state
    end
    table.sort(states)
    assert.same({ "cancelled", "completed", "completed" }, states)
    assert.equal("idle", s:agent("agent_architecture").status)
  end)

  it("loses and duplicates nothing when the host is killed", function()
    s:advance(1)
    for _ = 1, 5 do
      s:crash()
      s:recover()
      s:advance(1)
    end
    assert(s:outside_send("agent_cognitive", { type = "task_complete", external_id = "x",
      payload = { task_id = "task_002", output = "a report" } }))
    s:crash()
    s:recover()
    assert(s:outside_send("agent_cognitive", { type = "task_complete", external_id = "x",
      payload = { task_id = "task_002", output = "a report" } }).duplicate)
    s:advance(1)
    local count = 0
    for _, line in ipairs(said()) do
      count = count + (line:find("agent_cognitive: done", 1, true) and 1 or 0)
    end
    assert.equal(1, count)
    assert.equal("task_assign", last("agent_workflow").type)
  end)
end)
