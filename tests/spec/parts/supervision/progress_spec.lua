-- The guard against endless talk: a chain of messages without progress ends with
-- no_progress; one with progress continues.

local scene = require("scene")

local LIMIT = 20

-- a and b write to each other up to `rounds` messages; act(agent, n) runs in each.
local function talk(act, rounds, options)
  local result = { n = 0 }
  local function behave(to)
    return function(agent, message)
      if message.type == "alert" or message.type == "aside" then
        return
      end
      result.n = result.n + 1
      local extra = act and act(agent, result.n, message)
      if result.n < (rounds or 100) then
        local send = { to = to, payload = "x" }
        for name, value in pairs(type(extra) == "table" and extra or {}) do
          send[name] = value
        end
        local _, err = agent:send_message(send)
        result.error = err and err.error
      end
    end
  end
  options = options or {}
  options.config = { no_progress_max = LIMIT }
  local s = scene.troupe({
    a = behave("b"), b = behave("a"),
    c = function(c, message)
      if message.payload.text == "count" then
        c.state.n = (c.state.n or 0) + 1
      end
      return message.type == "general" and "done" or nil
    end,
  }, options)
  scene.tell(s, "a")
  return result, s
end

describe("talk without progress", function()
  after_each(scene.close)

  it("ends at the limit, with no_progress, and nothing is lost", function()
    local result, s = talk()
    assert.equal("no_progress", result.error)
    assert.equal(LIMIT + 1, result.n)
    local alert = s:messages({ type = "alert" })
    assert.equal(1, #alert)
    assert.equal("no_progress", alert[1].payload.alert_type)
    assert.equal("root", alert[1].to)
    assert.same({ 0, 0 }, { s:stats().dead, s:stats().pending })
  end)

  it("ends where agents reply, log and query", function()
    local result = { n = 0 }
    local function chat(agent, message)
      if message.type == "alert" then
        return
      end
      result.n = result.n + 1
      agent:log("info", "thanks")
      agent:contacts()
      local to = message.from == "user" and "b" or nil
      local _, err
      if to then
        _, err = agent:send_message({ to = to, payload = "hello" })
      else
        _, err = agent:reply(message, "thanks")
      end
      result.error = err and err.error
    end
    local s = scene.troupe({ a = chat, b = chat }, { config = { no_progress_max = LIMIT } })
    scene.tell(s, "a")
    assert.equal("no_progress", result.error)
    assert.equal(LIMIT + 1, result.n)
  end)

  it("ends where an agent keeps writing to itself", function()
    local n, got = 0, nil
    local s = scene.troupe({ a = function(a, message)
      n = n + 1
      if message.type ~= "alert" then
        got = select(2, a:send_message({ to = "a", payload = "again" }))
      end
    end }, { config = { no_progress_max = LIMIT } })
    scene.tell(s, "a")
    assert.equal(LIMIT + 1, n)
    assert.equal("no_progress", got.error)
  end)

  it("is counted from zero after a crash: no false alarm", function()
    local n = 0
    local function pass(to)
      return function(agent, message)
        if message.type ~= "alert" then
          n = n + 1
          agent:send_message({ to = to, payload = "x" })
        end
      end
    end
    local s = scene.troupe({ a = pass("b"), b = pass("a") }, {
      config = { no_progress_max = LIMIT } })
    assert(s:send("user", { to = "a", payload = "x" }))
    for _ = 1, 10 do
      s:step()
    end
    s:crash()
    s:recover()
    s:run()
    assert.is_true(n > LIMIT + 1 and n <= 2 * LIMIT + 1, n)
  end)

  for name, act in pairs({
    ["agent.state"] = function(agent, n) agent.state.n = n end,
    ["agent.state now and then"] = function(agent, n)
      if n % 15 == 0 then
        agent.state.n = n
      end
    end,
    ["mail to the person"] = function(agent) agent:send_message({ to = "user", payload = "x" }) end,
    ["births"] = function(agent, n)
      if n % 10 == 0 then
        agent:spawn_agent("actor", scene.brief())
      end
    end,
    ["tasks"] = function(agent, n)
      if n % 10 == 0 then
        agent:send_message({ to = "c", type = "task", payload = { task_id = "t" .. n } })
      end
    end,
    ["sleep"] = function(agent) agent:sleep(1) end,
    ["a time-out"] = function(agent) agent:receive({ type = "none", timeout_ms = 1 }) end,
    ["a delay of the message"] = function() return { delay_ms = 1 } end,
    ["questions for the person"] = function(agent, n)
      if n % 10 == 0 then
        agent:escalate({ title = "?", wait = false })
      end
    end,
    ["the progress of who is asked"] = function(agent)
      assert(agent:request({ to = "c", payload = "count" }))
    end,
  }) do
    it("is not assumed if it comes with: " .. name, function()
      local result = talk(act)
      assert.is_nil(result.error)
      assert.equal(100, result.n)
    end)
  end

  it("is not assumed if it comes with: prints", function()
    local s = scene.new({ config = { no_progress_max = LIMIT }, app = scene.app([[
      require("society").root(function(root, message)
        local n = message.payload.n
        print(n)
        if n < 100 then
          assert(root:send_message({ to = "root", payload = { n = n + 1 } }))
        end
      end)
    ]]) })
    scene.tell(s, "root", { n = 1 })
    assert.matches("100\n", s:transcript(), 1, true)
  end)

  it("is assumed if the agent asked does nothing", function()
    local result = talk(function(agent) agent:request({ to = "c", payload = "idle" }) end)
    assert.equal("no_progress", result.error)
  end)

  it("is counted for each chain separately", function()
    local got = 0
    local s = scene.troupe({ a = function(a, message)
      if message.from == "user" then
        got = got + 1
        assert(a:send_message({ to = "b", payload = "x" }))
      end
    end, b = function() end }, { config = { no_progress_max = 2 } })
    for _ = 1, 50 do
      scene.tell(s, "a")
    end
    assert.equal(50, got)
  end)

  it("is not stopped within the default of 10,000", function()
    local n, got = 0, nil
    local function pass(to)
      return function(agent, message)
        if message.type ~= "alert" then
          n = n + 1
          got = select(2, agent:send_message({ to = to, payload = "x" }))
        end
      end
    end
    local s = scene.troupe({ a = pass("b"), b = pass("a") }, { quiet = true })
    scene.tell(s, "a")
    assert.equal(10001, n)
    assert.equal("no_progress", got.error)
  end)
end)
