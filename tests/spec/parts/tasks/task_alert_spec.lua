-- Deadlines and time limits: one alert each, on time, to the agent that gave the task.

local scene = require("scene")

after_each(scene.close)

local MINUTE = 60000

local function house(options)
  local alerts = {}
  local s = scene.troupe({
    root = function(root, message)
      if message.type == "alert" then
        alerts[#alerts + 1] = { at = root:now(), from = message.from, payload = message.payload }
      end
    end,
    worker = function() end,
  }, options)
  return s, alerts
end

local function give(s, deadline)
  assert(s:send("root", { to = "worker", type = "task", task_id = "T1", payload = "x",
    deadline = deadline }))
end

describe("an alert", function()
  it("comes once when a task takes longer than thirty minutes", function()
    local s, alerts = house()
    local start = s:now()
    give(s)
    s:advance(30 * MINUTE - 1)
    assert.same({}, alerts)
    s:advance(1)
    assert.same({ { at = start + 30 * MINUTE, from = "system", payload = {
      alert_type = "timeout", agent = "worker", task_id = "T1", duration_minutes = 30 } } }, alerts)
    s:advance(300 * MINUTE)
    assert.equal(1, #alerts)
  end)

  it("comes once when the deadline passes, even if the task has not started", function()
    local s, alerts = house()
    s:role({ id = "actor", behaviour = function(agent) agent:sleep(50 * MINUTE) end })
    assert(s:send("root", { to = "worker", payload = "before it" }))
    give(s, s:now() + 20 * MINUTE)
    s:advance(100 * MINUTE)
    assert.equal(2, #alerts)
    assert.same({ alert_type = "deadline", agent = "worker", task_id = "T1",
      duration_minutes = 20 }, alerts[1].payload)
    assert.equal("timeout", alerts[2].payload.alert_type)
    assert.equal(alerts[1].at + 60 * MINUTE, alerts[2].at)
  end)

  it("does not come for a task that has ended", function()
    local s, alerts = house()
    s:role({ id = "actor", behaviour = function(agent, message) agent:complete(message) end })
    give(s, s:now() + MINUTE)
    s:advance(100 * MINUTE)
    assert.same({}, alerts)
  end)

  it("comes once across restarts: before, during or after", function()
    for _, down in ipairs({ 5, 15, 25, 35, 45 }) do
      local s, alerts = house()
      give(s, s:now() + 20 * MINUTE)
      s:advance(down * MINUTE)
      s:crash()
      s:advance(12 * MINUTE)
      s:recover()
      s:advance(0)
      s:crash()
      s:recover()
      s:advance(100 * MINUTE)
      s:crash()
      s:recover()
      s:advance(100 * MINUTE)
      local kinds = {}
      for i, alert in ipairs(alerts) do
        kinds[i] = alert.payload.alert_type
      end
      assert.same({ "deadline", "timeout" }, kinds)
      scene.close()
    end
  end)

  it("follows the society's setting and the policy", function()
    local s, alerts = house({ config = { task_limit_ms = 5000 }, policies = { contacts = "open" } })
    give(s)
    s:advance(4999)
    assert.same({}, alerts)
    s:advance(1)
    assert.equal(1, #alerts)
    s:policy("tasks", { kind = "tasks", version = 1, retry_after = function() end,
      limit = function(request)
        return request.priority == "P0" and request.limit_ms // 5 or nil
      end,
    })
    assert(s:send("root", { to = "worker", type = "task", priority = "P0", payload = "x" }))
    assert(s:send("root", { to = "worker", type = "task", payload = "x" }))
    s:advance(999)
    assert.equal(1, #alerts)
    s:advance(100 * MINUTE)
    assert.equal(2, #alerts)
  end)

  it("keeps nobody awake: an idle society does not wait for it", function()
    local s, alerts = house()
    local start = s:now()
    give(s, start + MINUTE)
    s:run()
    assert.equal(start, s:now())
    assert.same({}, alerts)
    s:send("root", { to = "worker", payload = "x", delay_ms = 2 * MINUTE })
    s:run()
    assert.equal(1, #alerts)
  end)

  it("is shown to the person who gave the task", function()
    local s = house()
    assert(s:send("user", { to = "worker", type = "task", task_id = "T9", payload = "x" }))
    s:advance(31 * MINUTE)
    assert.equal(1, scene.count(s:transcript(), "shown system: {\"agent\":\"worker\""))
  end)
end)
