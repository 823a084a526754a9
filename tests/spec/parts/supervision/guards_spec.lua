-- Runaway protection: each guard refuses with its own error, earlier work stays, and the
-- parent gets one alert.
--
-- Covers: core/parts/supervision/guard.c

local scene = require("scene")

local DEFAULTS = {
  depth_max = 100, children_max = 100000, agents_max = 1000000, hops_max = 100000,
  mailbox_max = 100000, no_progress_max = 10000,
}

local function alerts(s, filter)
  local list = {}
  for _, message in ipairs(s:messages({ type = "alert" })) do
    list[#list + 1] = ("%s to %s: %s"):format(message.payload.alert_type, message.to,
      message.payload.agent)
    assert.equal("system", message.from)
    assert.is_string(message.payload.message)
    assert.is_number(message.payload.limit)
  end
  local events = s:activity({ type = "guard", agent = filter })
  return list, #events
end

describe("a guard", function()
  after_each(scene.close)

  for name, default in pairs(DEFAULTS) do
    it(("has a setting, %s, of at least 1"):format(name), function()
      assert.is_truthy(scene.new({ config = { [name] = 1 } }))
      assert.is_truthy(scene.new({ config = { [name] = default } }))
      for _, bad in ipairs({ 0, -1, 1.5, "x", true }) do
        assert.has_error(function() scene.new({ config = { [name] = bad } }) end)
      end
    end)
  end

  -- Every agent spawns a child, which spawns a child.
  local function tower(config)
    local refused = {}
    local s = scene.new({ config = config, app = function(s)
      local function grow(agent)
        local child, err = agent:spawn_agent("r", scene.brief(), { message = "grow" })
        assert(child or err)
        refused[#refused + 1] = err and { id = agent.id, error = err }
      end
      s:role({ id = "r", name = "r", behaviour = { task_assignment = grow } })
      s:root({ general = grow, default = function() end })
    end })
    return s, refused
  end

  it("stops a tree that grows too deep: too_deep", function()
    local s, refused = tower({ depth_max = 3 })
    scene.tell(s, "root")
    assert.equal(5, s:stats().agents)
    assert.equal(1, #refused)
    assert.equal("too_deep", refused[1].error.error)
    assert.equal(3, refused[1].error.limit)
    assert.equal(refused[1].id, refused[1].error.agentId)
    assert.is_string(refused[1].error.message)
    local parent = s:agent(refused[1].id).parent
    assert.same({ "too_deep to " .. parent .. ": " .. refused[1].id }, (alerts(s)))
    assert.equal(0, s:stats().dead)
  end)

  it("stops an agent with too many children over its life: too_many_children", function()
    local got = {}
    local s = scene.troupe({ root = function(root, message)
      if message.type == "alert" then
        return
      end
      local child, err = root:spawn_agent("actor", scene.brief())
      got[#got + 1] = child and "born" or err.error
      if child then
        root:terminate(child.id, { force = true })
      end
    end }, { config = { children_max = 3 } })
    for _ = 1, 5 do
      scene.tell(s, "root")
    end
    assert.same({ "born", "born", "born", "too_many_children", "too_many_children" }, got)
    assert.equal(2, s:stats().agents)
    assert.same({ "too_many_children to user: root" }, (alerts(s)))
    s:crash()
    s:recover()
    scene.tell(s, "root")
    assert.equal("too_many_children", got[6])
    assert.equal(1, #alerts(s))
  end)

  it("does not count a child whose spawn was rolled back", function()
    local tries = 0
    local s = scene.troupe({ root = function(root)
      tries = tries + 1
      assert(root:spawn_agent("actor", scene.brief()))
      assert(tries > 2, "boom")
    end }, { config = { children_max = 1 } })
    scene.tell(s, "root")
    assert.equal(3, s:stats().agents)
    assert.equal(0, s:stats().dead)
  end)

  it("stops a society that is too large: too_many_agents, until some terminate", function()
    local got
    local s = scene.troupe({
      a = function(a, message)
        if message.payload.text == "end" then
          return a:stop()
        end
        got = select(2, a:spawn_agent("actor", scene.brief())) or "born"
      end,
      b = function(b) b:stop() end,
    }, { config = { agents_max = 4 } })
    scene.tell(s, "a")
    assert.equal("too_many_agents", got.error)
    assert.same({ "too_many_agents to root: a" }, (alerts(s)))
    scene.tell(s, "b")
    scene.tell(s, "a")
    assert.equal("born", got)
  end)

  it("stops a message passed on too many times: too_many_hops", function()
    local got = {}
    local function pass(to)
      return function(agent, message)
        if message.type ~= "alert" then
          local ok, err = agent:send_message({ to = to, payload = "x" })
          agent.state.n = (agent.state.n or 0) + 1
          got[#got + 1] = ok and message.hops or err
        end
      end
    end
    local s = scene.troupe({ a = pass("b"), b = pass("a") }, { config = { hops_max = 10 } })
    scene.tell(s, "a")
    assert.equal(11, #got)
    assert.equal("too_many_hops", got[11].error)
    assert.same({ "too_many_hops to root: a" }, (alerts(s)))
    assert.equal(0, s:stats().dead)
    assert.equal(0, s:stats().pending)
  end)

  it("allows an agent to send itself messages forever: those are no hops", function()
    local n = 0
    local s = scene.troupe({ a = function(a, message)
      n = n + 1
      assert.equal(0, message.hops)
      a.state.n = n
      if n < 100 then
        assert(a:send_message({ to = "a", payload = "x" }))
      end
    end }, { config = { hops_max = 10, no_progress_max = 10 } })
    scene.tell(s, "a")
    assert.equal(100, n)
  end)

  it("refuses messages to a full mailbox: mailbox_full, and nothing is lost", function()
    local got, handled, tries = {}, 0, 0
    local s = scene.troupe({
      a = function(a, message)
        if message.type == "alert" then
          return
        end
        tries = tries + 1
        for i = 1, 6 do
          local ok, err = a:send_message({ to = "b", payload = "m" .. i,
            delay_ms = i == 2 and 10 or nil })
          got[i] = ok and "sent" or err.error
        end
      end,
      b = function(b)
        handled = handled + 1
        b:sleep(1)
      end,
    }, { config = { mailbox_max = 4 } })
    scene.tell(s, "a")
    assert.same({ "sent", "sent", "sent", "sent", "mailbox_full", "mailbox_full" }, got)
    assert.equal(4, handled)
    assert.same({ "mailbox_full to root: b" }, (alerts(s)))
    scene.tell(s, "a")
    assert.equal(8, handled)
    assert.equal(1, #alerts(s))
  end)

  it("lets a reply into a full mailbox, and refuses a door", function()
    local answer
    local s = scene.troupe({
      a = function(a, message)
        if message.payload.text == "ask" then
          answer = a:request({ to = "b", payload = "?" })
        end
      end,
      b = function(b)
        b:sleep(10)
        return "the answer"
      end,
    }, { config = { mailbox_max = 2 } })
    assert(s:send("user", { to = "a", payload = "ask" }))
    s:advance(1)
    assert(s:send("user", { to = "a", payload = "x" }))
    assert(s:send("user", { to = "a", payload = "x" }))
    local _, err = s:send("user", { to = "a", payload = "x" })
    assert.equal("mailbox_full", err.error)
    assert.equal("a", err.agentId)
    s:run()
    assert.equal("the answer", answer.payload.text)
  end)

  it("alerts again about an agent that was resumed", function()
    local s = scene.troupe({ a = function(a) a:spawn_agent("actor", scene.brief()) end },
      { config = { depth_max = 1 } })
    scene.tell(s, "a")
    scene.tell(s, "a")
    assert.equal(1, #alerts(s))
    s:pause("a")
    s:resume("a")
    scene.tell(s, "a")
    assert.equal(2, #alerts(s))
    s:resume("a") -- although nothing held it
    scene.tell(s, "a")
    assert.equal(3, #alerts(s))
  end)

  it("alerts once about a turn that raises because of it, whatever its retries", function()
    local s = scene.troupe({ a = function(a)
      assert(a:spawn_agent("actor", scene.brief()))
    end }, { config = { depth_max = 1 } })
    scene.tell(s, "a")
    local told, events = alerts(s, "a")
    assert.same({ "too_deep to root: a" }, told)
    assert.equal(1, events)
    assert.equal(1, s:stats().dead)
  end)

  it("puts the chain into the alert and the event", function()
    local s = scene.troupe({ a = function(a) a:spawn_agent("actor", scene.brief()) end },
      { config = { depth_max = 1 } })
    local id = scene.tell(s, "a")
    assert.equal(id, s:messages({ type = "alert" })[1].correlation_id)
    assert.equal(1, #s:activity({ type = "guard", correlation_id = id }))
  end)
end)
