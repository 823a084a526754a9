-- Tasks of agents on other hosts: cancelled by their assigner, late, and asked about by a person.
--
-- Covers: core/parts/hosts/hosts_in.c

local fleets = require("fleets")
local scene = require("scene")

local function worker(s)
  s.role { id = "worker", behaviour = {
    task_assignment = function(agent) agent:sleep(3600000) end,
    abort = function() end,
  } }
  s.root {
    task_assignment = function(root, message)
      if message.payload.text == "ask" then
        local said = root:escalate { title = "May I?", timeout_ms = 60000 }
        return root:complete(message, { said = said.decision })
      end
      root:sleep(3600000)
      root:complete(message, {})
    end,
    abort = function(root, message)
      root.state.told = message.payload.task_id
      root.state.why = message.payload.reason
      root.state.times = (root.state.times or 0) + 1
    end,
  }
end

local function act(story, options)
  options = options or {}
  options.policies = { messages = { "any" }, contacts = "open" }
  return fleets.act(story, { beta = worker }, options)
end

local function assign(root, more)
  local message = { to = "root@beta", type = "task_assignment", task_id = "T1",
    payload = { text = "dig" } }
  for name, value in pairs(more or {}) do
    message[name] = value
  end
  return assert(root:send_message(message))
end

local function state_of(s)
  return fleets.find(s:tasks(), "T1", "task_id").state
end

-- The person of the owner's host cancels it.
local function cancel_there(f, owner, id)
  assert(f.beta:send("user", { to = owner, type = "abort",
    payload = { task_id = id, reason = "no time" } }))
end

describe("a task on another host", function()
  after_each(scene.close)

  it("is cancelled there by its assigner, and its owner hears of it once", function()
    local f, got = act(function(root)
      assign(root)
      root:sleep(1000)
      local cancelled = assert(root:cancel("T1", "not needed"))
      root:sleep(1000)
      local _, again = root:cancel("T1")
      return { state = cancelled.state, again = again.error }
    end)
    assert.same({ state = "cancelled", again = "task_finished" }, got)
    assert.same({ "cancelled", "cancelled" }, { state_of(f.alpha), state_of(f.beta) })
    local owner = f.beta.agent("root").state
    assert.same({ "T1", "not needed", 1 }, { owner.told, owner.why, owner.times })
    assert.equal("not needed", fleets.find(f.beta:tasks(), "T1", "task_id").reason)
    assert.equal("idle", f.beta.agent("root").status)
  end)

  it("is cancelled for its assigner if it is cancelled on the host of its owner", function()
    local f = act(function(root)
      assign(root)
      root:sleep(60000)
      return {}
    end, { faults = function(f)
      f:advance(1000)
      cancel_there(f, "root", "T1")
      f:advance(1000)
      f.alpha:crash()
      f.alpha:recover()
    end })
    assert.same({ "cancelled", "cancelled" }, { state_of(f.alpha), state_of(f.beta) })
    local result = f.alpha:messages({ type = "result" })
    assert.same({ 1, "root", "cancelled", "no time" },
      { #result, result[1].to, result[1].payload.status, result[1].payload.error })
    assert.equal("no time", fleets.find(f.alpha:tasks(), "T1", "task_id").reason)
    assert.equal(1, f.beta.agent("root").state.times)
  end)

  it("ends the wait of its assigner if it is cancelled on the host of its owner", function()
    local f, got = act(function(root)
      local _, asked = root:request { to = "root@beta", type = "task_assignment", task_id = "T1",
        payload = { text = "dig" }, timeout_ms = 600000 }
      local child = assert(root:spawn_agent("worker", scene.brief(),
        { host = "beta", message = "dig", wait = true, timeout_ms = 600000 }))
      return { asked = asked, state = child.result.status, why = child.result.error }
    end, { faults = function(f)
      for _ = 1, 2 do
        f:advance(1000)
        for _, task in ipairs(f.beta:tasks({ state = "processing" })) do
          cancel_there(f, task.agent, task.task_id)
        end
      end
    end })
    assert.same({ "cancelled", "no time" }, { got.asked.error, got.asked.reason })
    assert.same({ "cancelled", "no time" }, { got.state, got.why })
    assert.equal("cancelled", state_of(f.alpha))
    assert.same({}, f.alpha:messages({ type = "result" }))
    assert.is_nil(f.alpha.agent("root").state.seen) -- no result beside the answer
  end)

  it("is answered once if its owner fails while its assigner waits", function()
    local f, got = act(function(root)
      local _, err = root:request { to = "root@beta", type = "task_assignment", task_id = "T1",
        payload = { text = "ask" }, timeout_ms = 600000 }
      root:sleep(60000)
      return { error = err.error }
    end)
    assert.equal("receiver_failed", got.error)
    assert.equal("failed", state_of(f.alpha))
    assert.same({}, f.alpha:messages({ type = "result" }))
    assert.is_nil(f.alpha.agent("root").state.seen)
  end)

  it("is cancelled there by a plain message of its assigner", function()
    for _, plain in ipairs({ { type = "abort", payload = { task_id = "T1", reason = "r" } },
      { type = "task", payload = { task_id = "T1", action = "cancel", reason = "r" } } }) do
      local f = act(function(root)
        assign(root)
        root:sleep(1000)
        plain.to = "root@beta"
        assert(root:send_message(plain))
        root:sleep(1000)
      end)
      assert.same({ "cancelled", "cancelled" }, { state_of(f.alpha), state_of(f.beta) })
      assert.equal("r", fleets.find(f.beta:tasks(), "T1", "task_id").reason)
      assert.equal(1, #f.beta:messages({ type = plain.type }))
      scene.close()
    end
  end)

  it("is cancelled though that host was down, before or after it got the task", function()
    for seed = 1, 6 do
      local f = act(function(root)
        assign(root)
        root:sleep(1000)
        root:cancel("T1")
        return {}
      end, { seed = seed, before = function(f) f:delay(300) end, faults = function(f)
        f:advance(seed * 100)
        f.beta:crash()
        f:advance(1500)
        f.beta:recover()
      end })
      assert.equal("cancelled", state_of(f.alpha))
      for _, task in ipairs(f.beta:tasks()) do
        assert.equal("cancelled", task.state)
      end
      assert.equal("idle", f.beta.agent("root").status)
      scene.close()
    end
  end)

  it("alerts its assigner once when its deadline has passed, and its time limit", function()
    local f = act(function(root)
      assign(root, { deadline = "2026-01-01T00:00:30Z" })
      root:sleep(60000)
      return {}
    end)
    local alerts = {}
    for _, message in ipairs(f.alpha:messages({ type = "alert" })) do
      alerts[#alerts + 1] = { message.to, message.payload.alert_type, message.payload.agent }
    end
    assert.same({ { "root", "deadline", "root@beta" }, { "root", "timeout", "root@beta" } },
      alerts)
  end)

  it("is pending for its assigner until it begins there", function()
    local f = act(function(root)
      assign(root)
      assign(root, { task_id = "T2", payload = { text = "dig on" } })
      root:sleep(60000)
      return {}
    end, { faults = function(f)
      f:advance(10000)
      for _, s in ipairs({ f.alpha, f.beta }) do
        local second = fleets.find(s:tasks(), "T2", "task_id")
        assert.same({ "processing", "pending", 0 }, { state_of(s), second.state, second.tries })
        assert.is_nil(second.started_at)
      end
      cancel_there(f, "root", "T1")
      f:advance(1000)
      f.alpha:crash()
      f.alpha:recover()
      local second = fleets.find(f.alpha:tasks(), "T2", "task_id")
      assert.same({ "processing", 1 }, { second.state, second.tries })
      assert.matches("^2026%-01%-01T00:00:1", second.started_at)
      f:advance(30000)
    end })
    local alerts = {}
    for _, message in ipairs(f.alpha:messages({ type = "alert" })) do
      alerts[#alerts + 1] = message.payload.alert_type .. " of " .. message.payload.task_id
      assert.matches("^2026%-01%-01T00:30:1", message.timestamp) -- half an hour from its start
    end
    assert.same({ "timeout of T2" }, alerts)
  end)

  it("fails for its assigner if its owner fails to handle it", function()
    local f = act(function(root)
      assign(root, { payload = { text = "ask" } }) -- nobody decides, and that raises there
      return {}
    end, { faults = function(f)
      f:advance(1000)
      assert.equal(0, #f.alpha:inbox())
      f.alpha:crash()
      f.alpha:recover()
    end })
    assert.equal("failed", state_of(f.alpha))
    local result = f.alpha:messages({ type = "result" })
    assert.same({ 1, "root", "failed" }, { #result, result[1].to, result[1].payload.status })
  end)

  it("lets its owner ask the person of its own host", function()
    local g = act(function(root)
      assign(root, { payload = { text = "ask" } })
      return {}
    end, { faults = function(h)
      h:advance(1000)
      local item = assert(h.beta:inbox()[1])
      assert(h.beta:decide(item.id, { decision = "approve" }))
    end })
    assert.equal("completed", state_of(g.alpha))
    assert.equal("approve", fleets.find(g.alpha:messages({ type = "result" }), "root@beta",
      "from").payload.output.said)
  end)
end)
