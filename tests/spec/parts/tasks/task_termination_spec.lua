-- Agents that terminate with open tasks, and what happens to those.

local scene = require("scene")

after_each(scene.close)

-- Root gives the child `w` tasks T1 (started, left open), T2 (running) and T3 (queued),
-- then does what `act` says.
local function house(act)
  local results = {}
  local s = scene.new({ app = function(s)
    s:role({ id = "worker", behaviour = { task = function(agent, message)
      if message.task_id ~= "T1" then
        agent:sleep(1000)
        agent:complete(message)
      end
    end, abort = function() end } })
    s:root({
      result = function(_, message)
        results[message.payload.task_id] = message.payload.error or message.payload.status
      end,
      end_it = act,
      default = function(root)
        root:spawn_agent("worker", scene.brief(), { id = "w" })
        for i = 1, 3 do
          root:send_message({ to = "w", type = "task", task_id = "T" .. i, payload = "x" })
        end
      end,
    })
  end })
  assert(s:send("user", { to = "root", payload = "go" }))
  s:advance(100)
  return s, results
end

local function states(s)
  local list = {}
  for _, row in ipairs(s:tasks()) do
    list[#list + 1] = row.state
  end
  return table.concat(list, " ")
end

describe("the tasks of an agent that terminates", function()
  it("fail if it is forced, and the assigner is notified", function()
    local s, results = house(function(root) assert(root:terminate("w", { force = true })) end)
    assert.equal("processing processing pending", states(s))
    scene.tell(s, "root", "x", "end_it")
    assert.equal("failed failed failed", states(s))
    assert.same({ T1 = "agent_stopped", T2 = "agent_stopped", T3 = "agent_stopped" }, results)
    assert.is_true(scene.law_holds(s))
    s:crash()
    s:recover()
    assert.equal("failed failed failed", states(s))
  end)

  it("are completed if it drains, except those it left open", function()
    local s, results = house(function(root) assert(root:terminate("w")) end)
    scene.tell(s, "root", "x", "end_it")
    assert.equal("failed completed completed", states(s))
    assert.same({ T1 = "agent_stopped", T2 = "done", T3 = "done" }, results)
    assert.is_nil(s:agent("w"))
  end)

  it("can be cancelled in the turn that terminates it", function()
    local s, results = house(function(root)
      assert(root:cancel("T2"))
      assert(root:cancel("T3"))
      assert(root:terminate("w"))
    end)
    scene.tell(s, "root", "x", "end_it")
    assert.equal("failed cancelled cancelled", states(s))
    assert.same({ T1 = "agent_stopped" }, results)
    assert.is_nil(s:agent("w"))
    assert.is_true(scene.law_holds(s))
  end)
end)

describe("an agent that terminates", function()
  it("does not wait for cancelled tasks, running or not due yet", function()
    local s = scene.new({ app = function(s)
      s:role({ id = "worker", behaviour = function(agent) agent:sleep(60000) end })
      s:root({
        cancel_it = function(root, message) assert(root:cancel(message.payload.text)) end,
        default = function(root)
          root:spawn_agent("worker", scene.brief(), { id = "w" })
          root:send_message({ to = "w", type = "task", task_id = "T1", payload = "x" })
          root:send_message({ to = "w", type = "task", task_id = "T2", payload = "x",
            delay_ms = 30000 })
          root:sleep(10)
          root:terminate("w")
        end,
      })
    end })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(20)
    assert(s:send("user", { to = "root", type = "cancel_it", payload = "T1" }))
    s:advance(20)
    assert.equal("ending", s:agent("w").status)
    assert(s:send("user", { to = "root", type = "cancel_it", payload = "T2" }))
    s:advance(20)
    assert.is_nil(s:agent("w"))
    assert.equal("cancelled cancelled", states(s))
    assert.is_true(scene.law_holds(s))
  end)
end)

describe("an assigner that has terminated", function()
  it("is no longer notified; the task continues", function()
    local s = scene.new({ app = function(s)
      s:role({ id = "boss", behaviour = function(agent)
        agent:send_message({ to = "root", type = "task", task_id = "T1", payload = "x",
          deadline = agent:now() + 500 })
        agent:stop()
      end })
      s:root({
        task = function(root, message)
          root:sleep(1000)
          root:complete(message)
        end,
        default = function(root)
          root:spawn_agent("boss", scene.brief(), { id = "b" })
          root:send_message({ to = "b", payload = "go" })
        end,
      })
    end })
    scene.tell(s, "root")
    assert.equal("completed", states(s))
    assert.is_true(scene.law_holds(s))
    assert.equal(0, #s:dead_letters())
    assert.equal(0, scene.count(s:transcript(), "task_notice_failed"))
  end)
end)

describe("a message that would complete or cancel a task", function()
  it("is refused with a delay: the task would not wait for it", function()
    local got, born, took = {}, nil, nil
    local s = scene.new({ app = function(s)
      s:role({ id = "worker", behaviour = function(agent, message)
        local function send(type, payload)
          payload.task_id = message.task_id
          local sent, err = agent:send_message({ to = "root", type = type, payload = payload,
            delay_ms = 1000 })
          got[#got + 1] = sent and "sent" or err.error
        end
        send("result", { status = "done" })
        send("result", { status = "failed", error = "x", retryable = true })
        send("task_complete", {})
        send("abort", {})
        send("task", { action = "cancel" })
        agent:sleep(500)
        agent:complete(message)
      end })
      s:root(function(root, message)
        if message.from == "user" then
          local before = root:now()
          born = root:spawn_agent("worker", scene.brief(), { message = "go", wait = true })
          took = root:now() - before
        end
      end)
    end })
    scene.tell(s, "root")
    assert.equal("done", born.result.status)
    assert.equal(500, took)
    assert.same({ "invalid_argument", "invalid_argument", "invalid_argument", "invalid_argument",
      "invalid_argument" }, got)
    assert.equal("completed", states(s))
  end)
end)
