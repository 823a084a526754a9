-- receive{ from } when that agent terminates: it does not wait for a message that cannot
-- come.

local scene = require("scene")

-- `a` receives as told and records what came and when; `b` obeys; root terminates it.
local function house()
  local got = {}
  local s = scene.troupe({
    a = function(agent, message)
      for _, filter in ipairs(message.payload.all or { message.payload.receive }) do
        local mail, err = agent:receive(filter)
        got[#got + 1] = mail and mail.payload.text or err
        got.at = agent:now()
      end
    end,
    b = function(agent, message)
      local order = message.payload
      for _, mail in ipairs(order.send or {}) do
        mail.to = "a"
        assert(agent:send_message(mail))
      end
      if order.stop then
        agent:stop()
      end
      if order.sleep then
        agent:sleep(order.sleep)
      end
    end,
    root = function(root, message)
      assert(root:terminate("b", { force = message.payload.force }))
    end,
  })
  return s, got
end

local function order(s, id, payload)
  assert(s:send("user", { to = id, payload = payload }))
  s:advance(0)
end

local function stopped(err)
  assert.equal("agent_stopped", err.error)
  assert.equal("b", err.agentId)
  assert.is_string(err.message)
end

describe("receive from an agent that terminates", function()
  after_each(scene.close)

  for _, way in ipairs({ "stops", "is terminated", "is terminated by force" }) do
    it(("returns when the agent %s"):format(way), function()
      local s, got = house()
      order(s, "a", { receive = { from = "b" } })
      assert.same({}, got)
      if way == "stops" then
        order(s, "b", { stop = true })
      else
        order(s, "root", { force = way:find("force") ~= nil })
      end
      stopped(got[1])
      assert.equal(0, s:stats().waiting)
      assert.is_true(scene.law_holds(s))
    end)
  end

  it("waits while the agent still drains its mailbox", function()
    local s, got = house()
    order(s, "a", { receive = { from = "b" } })
    order(s, "b", { sleep = 1000 })
    order(s, "b", { send = { { payload = "last words" } } })
    order(s, "root", {})
    s:run()
    assert.same({ "last words" }, { got[1] })
  end)

  it("returns immediately if the agent had terminated before, whatever the timeout", function()
    local s, got = house()
    order(s, "b", { stop = true })
    local start = s:now()
    order(s, "a", { receive = { from = "b" } })
    order(s, "a", { receive = { from = "b", timeout_ms = 60000 } })
    stopped(got[1])
    stopped(got[2])
    assert.equal(start, got.at)
  end)

  it("still takes what the agent left in the mailbox", function()
    local s, got = house()
    order(s, "a", { all = { { from = "root" }, { from = "b" }, { from = "b" } } })
    order(s, "b", { send = { { payload = "left" } }, stop = true })
    assert.same({}, got)
    assert(s:send("root", { to = "a", payload = "go on" }))
    s:advance(0)
    assert.same({ "go on", "left" }, { got[1], got[2] })
    stopped(got[3])
  end)

  it("waits for the agent's delayed messages, and no longer", function()
    local s, got = house()
    order(s, "a", { receive = { from = "b", type = "late" } })
    order(s, "b", { stop = true, send = {
      { type = "late", payload = "came", delay_ms = 1000 },
      { type = "other", payload = "x", delay_ms = 9000 },
    } })
    assert.same({}, got)
    s:crash()
    s:recover()
    s:advance(1000)
    assert.equal("came", got[1])
    order(s, "a", { receive = { from = "b", type = "late" } })
    stopped(got[2])
    order(s, "a", { receive = { from = "b" } })
    assert.is_nil(got[3])
    s:run()
    assert.equal("x", got[3])
  end)

  it("returns when the agent's last message expires or is cancelled in transit", function()
    local s, got = house()
    order(s, "a", { receive = { from = "b" } })
    order(s, "b", { stop = true, send = {
      { payload = "x", delay_ms = 9000, ttl_seconds = 1 },
      { type = "task", payload = { task_id = "T" }, delay_ms = 5000 },
    } })
    s:advance(1000)
    assert.same({}, got)
    assert(s:send("user", { to = "a", type = "abort", payload = { task_id = "T" } }))
    s:advance(0)
    stopped(got[1])
    assert.is_true(scene.law_holds(s))
  end)

  it("returns after a restart", function()
    local s, got = house()
    order(s, "a", { receive = { from = "b" } })
    order(s, "b", { stop = true, sleep = 5000 })
    s:crash()
    s:recover()
    assert.same({}, got)
    s:run()
    stopped(got[1])
  end)

  it("does not affect receives from anybody or from another agent", function()
    local s, got = house()
    order(s, "a", { receive = {} })
    order(s, "b", { stop = true })
    assert.same({}, got)
    assert.equal("receive", s:waits()[1].kind)
  end)
end)
