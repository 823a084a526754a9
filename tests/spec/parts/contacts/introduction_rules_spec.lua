-- What introductions may not do, what else they may wait for, and that they survive
-- crashes.
--
-- Covers: core/script/answers/introduce.c

local house = require("house")
local scene = require("scene")

describe("an unsolicited response", function()
  after_each(scene.close)

  local function intruder(options)
    local s = house.new(options)
    house.hire(s, { { "root", "programmer", "paul" }, { "root", "manager", "mona" } })
    house.order(s, "paul", { order = "say", to = "root", payload = "hello" })
    return s
  end

  it("is refused and changes nothing", function()
    local s = intruder({ policies = { contacts = "open" } })
    for _, target in ipairs({ "mona", "root" }) do
      local before = house.known(s, "paul")
      local state = house.order(s, "mona", { order = "say", to = "paul",
        type = "introduction_response", payload = { target_agent = { id = target } } })
      assert.same("unsolicited_introduction", state.refused.error)
      assert.same(before, house.known(s, "paul"))
    end
    assert.same({}, house.mail(s, "introduction_response"))
  end)

  it("is refused from an agent that was not asked", function()
    local s = house.new({ policies = { contacts = "open" } },
      { manager = { introduction_request = function() end } })
    house.hire(s, { { "root", "programmer", "paul" }, { "root", "manager", "mona" },
      { "root", "manager", "mike" } })
    house.order(s, "paul", { order = "say", to = "mona", type = "introduction_request",
      payload = { reason = "r", required_capability = "c" } })
    local state = house.order(s, "mike", { order = "say", to = "paul",
      type = "introduction_response", payload = { target_agent = { id = "root" } } })
    assert.same("unsolicited_introduction", state.refused.error)
  end)

  it("is refused the second time", function()
    local errors = {}
    local s = house.new(nil, { manager = { introduction_request = function(agent, message)
      for i = 1, 2 do
        local _, err = agent:introduce(message, { target = "root" })
        errors[i] = err and err.error or "sent"
      end
    end } })
    house.hire(s, { { "root", "manager", "mona" }, { "mona", "programmer", "paul" } })
    house.order(s, "paul", { order = "seek", to = "mona", what = "x" })
    house.order(s, "paul", { order = "seek", to = "mona", what = "x" })
    assert.same("sent", errors[1])
  end)

  it("is refused even if its own via says it was passed on", function()
    local s = house.new(nil, { manager = { introduction_request = function(agent, message)
      agent.state.seen = message.payload
    end } })
    house.hire(s, { { "root", "manager", "mona" }, { "mona", "programmer", "paul" } })
    house.order(s, "paul", { order = "say", to = "mona", type = "introduction_request",
      payload = { reason = "r", required_capability = "c", via = { "root" } } })
    assert.same({ reason = "r", required_capability = "c" }, house.state(s, "mona").seen)
  end)

  it("can be allowed by a policy of the app", function()
    local s = intruder({ policies = { contacts = "open" } })
    s:policy("introductions", {
      kind = "introductions", version = 1,
      answer = function() return { leave = true } end,
      takes_unsolicited = function(request) return request.from.id == "mona" end,
    })
    local state = house.order(s, "mona", { order = "say", to = "paul",
      type = "introduction_response", payload = { target_agent = { id = "mona" } } })
    assert.truthy(state.sent)
    assert.same("mona", house.contact(s, "paul", "mona").introducedBy)
  end)
end)

describe("the policy confirm", function()
  after_each(scene.close)

  -- paul works for mona, dora for root: the departments meet through root.
  local function departments(answer)
    local s = house.new({ policies = { introductions = "confirm" }, faults = {} }, {
      manager = { collaboration_request = function(agent, message)
        agent.state.asked = message.payload
        return answer(message)
      end },
    })
    house.hire(s, { { "root", "manager", "mona" }, { "mona", "programmer", "paul" },
      { "root", "designer", "dora" } })
    return s, house.order(s, "paul", { order = "seek", to = "mona", what = "界面设计",
      reason = "a page" })
  end

  it("introduces when the requester's parent agrees", function()
    local s, state = departments(function() return { accepted = true } end)
    assert.same("dora", state.found.id)
    local asked = house.state(s, "mona").asked
    assert.same("introduction", asked.subject)
    assert.same("paul", asked.requester.id)
    assert.same("dora", asked.target_agent.id)
    assert.same("a page", asked.reason)
    assert(s:check())
  end)

  it("refuses when the parent declines or answers something else", function()
    for _, answer in ipairs({ { accepted = false }, { text = "hm" }, "yes" }) do
      local s, state = departments(function() return answer end)
      assert.same("no_introduction", state.refused.error)
      assert.same("the requester's parent did not agree", state.refused.reason)
      assert.is_nil(house.contact(s, "paul", "dora"))
      scene.close()
    end
  end)

  it("refuses when the parent never answers", function()
    local s, state = departments(function() return nil end)
    assert.same("no_introduction", state.refused.error)
    assert.same(0, s:stats().waiting)
  end)

  it("adds no contact by the question itself", function()
    local s = departments(function() return { accepted = true } end)
    assert.same("dora mona user", house.known(s, "paul"))
    assert.same("dora paul root user", house.known(s, "mona"))
  end)
end)

describe("the policy parent", function()
  after_each(scene.close)

  it("asks the parent even for a contact of the agent", function()
    local s = house.new({ policies = { introductions = "parent" } })
    house.hire(s, { { "root", "manager", "mona" }, { "mona", "programmer", "paul" },
      { "mona", "designer", "dora" }, { "root", "designer", "dieter" } })
    local state = house.order(s, "paul", { order = "seek", to = "mona", what = "界面设计" })
    assert.same("dieter", state.found.id)
    assert.same({ "mona", "root" }, state.found.via)
  end)
end)

describe("an introduction in progress", function()
  after_each(scene.close)

  -- paul asks north, north asks root, root asks south, who thinks it over.
  local function slow_house()
    local s = house.new(nil, {
      manager = { introduction_request = function(agent, message)
        if agent.id == "north" then
          local contact, err = agent:request_introduction { to = "root",
            reason = message.payload.reason, timeout_ms = 20000,
            required_capability = message.payload.required_capability }
          if not contact then
            return agent:decline(message, err.error)
          end
          return agent:introduce(message, { target = contact.id })
        end
        agent:sleep(5000)
        agent:introduce(message, { target = "dora", usage_hint = "slowly" })
      end },
    })
    house.hire(s, { { "root", "manager", "north" }, { "root", "manager", "south" },
      { "north", "programmer", "paul" }, { "south", "designer", "dora" } })
    assert(s:send("user", { to = "paul", payload = { order = "seek", to = "north",
      what = "界面设计" } }))
    return s
  end

  it("survives a crash at any moment, and is answered once", function()
    for _, ms in ipairs({ 0, 1, 2500, 4999, 5000 }) do
      local s = slow_house()
      s:advance(ms)
      s:crash()
      s:recover()
      s:run()
      local state = house.state(s, "paul")
      assert.same("dora", state.found and state.found.id, "crash after " .. ms)
      assert.same("dora north user", house.known(s, "paul"))
      assert.same(3, #house.mail(s, "introduction_response"))
      scene.close()
    end
  end)

  it("gives up on an agent that does not answer in time, and asks the next", function()
    local s = house.new(nil, { manager = { introduction_request = function() end } })
    house.hire(s, { { "root", "manager", "deaf" }, { "root", "tester", "tess" },
      { "root", "programmer", "paul" }, { "tess", "designer", "dora" } })
    local began = s:now()
    local state = house.order(s, "paul", { order = "seek", to = "root", what = "界面设计" })
    assert.same("dora", state.found.id)
    assert.same(10000, s:now() - began)
  end)

  it("is abandoned when the requester no longer waits", function()
    local s = house.new(nil, { manager = { introduction_request = function() end } })
    house.hire(s, { { "root", "manager", "deaf" }, { "root", "programmer", "paul" } })
    local state = house.order(s, "paul", { order = "seek", to = "root", what = "diving",
      timeout_ms = 500 })
    assert.same("timeout", state.refused.error)
    local stats = s:stats()
    assert.same(0, stats.waiting)
    assert.same(stats.sent, stats.processed + stats.cancelled)
  end)

  it("held for an agent asked onward ends with the question", function()
    local s = house.new(nil, { tester = { introduction_request = function() end } })
    house.hire(s, { { "root", "manager", "north" }, { "root", "tester", "deaf" },
      { "north", "programmer", "paul" } })
    local state = house.order(s, "paul", { order = "seek", to = "north", what = "diving" })
    assert.same("no_introduction", state.refused.error)
    local stats = s:stats()
    assert.same({ 0, 0 }, { stats.pending, stats.waiting })
  end)

  it("keeps the message totals balanced", function()
    local s = slow_house()
    for _ = 1, 20 do
      s:step()
      local stats = s:stats()
      assert.same(stats.sent, stats.processed + stats.pending + stats.expired + stats.dead
        + stats.dropped + stats.cancelled)
    end
  end)
end)

describe("request_introduction", function()
  after_each(scene.close)

  it("raises on unknown options and on values of the wrong type", function()
    local s = house.new()
    house.hire(s, { { "root", "programmer", "paul" } })
    local function fails(options, pattern)
      local err = scene.play(function(root)
        local _, raised = pcall(root.request_introduction, root, options)
        return tostring(raised)
      end)
      assert.matches(pattern, err)
    end
    fails({ to = 1 }, "'to' must be an agent's id")
    fails({ to = "user", reason = {} }, "'reason' must be a string")
    fails({ to = "user", whom = "x" }, "whom")
    fails({ to = "user", timeout_ms = "x" }, "timeout_ms")
  end)

  it("is refused for an unknown agent, and for oneself", function()
    local s = house.new()
    local state = house.order(s, "root", { order = "seek", to = "nobody", what = "x" })
    assert.same("agent_not_found", state.refused.error)
    state = house.order(s, "root", { order = "seek", to = "root", what = "x" })
    assert.same("deadlock", state.refused.error)
  end)
end)
