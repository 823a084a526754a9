-- Introductions: meeting an agent through one who knows both.
--
-- Covers: core/parts/contacts/introductions_wire.c

local house = require("house")
local scene = require("scene")

local function studio(options, handlers)
  local s = house.new(options, handlers)
  house.hire(s, { { "root", "designer", "dora" }, { "root", "programmer", "paul" } })
  return s
end

describe("an introduction", function()
  after_each(scene.close)

  it("comes from a parent who knows a match", function()
    local s = studio()
    local state = house.order(s, "paul", { order = "seek", to = "root", what = "界面设计" })
    assert.same("dora", state.found.id)
    assert.same("UI设计师", state.found.role)
    assert.same("introduction", state.found.source)
    assert.same("root", state.found.introducedBy)
    assert.same({ "root" }, state.found.via)
    assert.same("a wish of designer", state.found.interfaceSpec.input_format)
    assert.same(state.found, house.contact(s, "paul", "dora"))
  end)

  it("does not change the target's contacts", function()
    local s = studio()
    house.order(s, "paul", { order = "seek", to = "root", what = "interface design" })
    assert.same("root", house.known(s, "dora"))
  end)

  it("lets the requester write, which makes the two mutual contacts", function()
    local s = studio()
    local state = house.order(s, "paul", { order = "say", to = "dora", payload = { text = "hi" } })
    assert.same("unknown_contact", state.refused.error)
    house.order(s, "paul", { order = "seek", to = "root", what = "design" })
    state = house.order(s, "paul", { order = "say", to = "dora", payload = { text = "hi" } })
    assert.truthy(state.sent)
    assert.same("first_message", house.contact(s, "dora", "paul").source)
  end)

  it("is refused with a reason if nobody matches", function()
    local s = studio()
    local state = house.order(s, "paul", { order = "seek", to = "root", what = "deep sea diving" })
    assert.is_nil(state.found)
    assert.same("no_introduction", state.refused.error)
    assert.same("nobody I know offers this: deep sea diving", state.refused.reason)
    assert.same("root", state.refused.via[1])
    assert.same("root user", house.known(s, "paul"))
  end)

  it("is answered while the agent asked waits for the requester", function()
    local s = house.new(nil, {
      programmer = { task_assign = function(agent, message)
        local contact = agent:request_introduction { to = agent.parent, reason = "r",
          required_capability = "界面设计" }
        agent:reply(message, { met = contact and contact.id })
      end },
      manager = { default = function(agent, message)
        if message.payload.order then
          agent.state.child = agent:spawn_agent("programmer", scene.brief(), { id = "paul" }).id
          agent:spawn_agent("designer", scene.brief(), { id = "dora" })
          return
        end
        local answer, err = agent:request { to = "paul", type = "task_assign",
          payload = { task_id = "t1" } }
        agent.state.answer = answer and answer.payload or err
      end },
    })
    house.hire(s, { { "root", "manager", "mona" } })
    house.order(s, "mona", { order = "all" })
    house.order(s, "mona", { text = "go" })
    assert.same({ met = "dora" }, house.state(s, "mona").answer)
  end)

  it("is asked onward through two agents, and everybody on the way gains a contact", function()
    local s = house.new()
    house.hire(s, {
      { "root", "manager", "north" }, { "root", "manager", "south" },
      { "north", "programmer", "paul" }, { "south", "designer", "dora" },
    })
    local state = house.order(s, "paul", { order = "seek", to = "north", what = "界面设计" })
    assert.same("dora", state.found.id)
    assert.same("north", state.found.introducedBy)
    assert.same({ "north", "root", "south" }, state.found.via)
    assert.same({ "root", "south" }, house.contact(s, "north", "dora").via)
    assert.same({ "south" }, house.contact(s, "root", "dora").via)
    assert.same("south", house.known(s, "dora"))
  end)

  it("ends in a cycle of agents that know only each other", function()
    local s = house.new({ policies = { contacts = "open" } })
    house.hire(s, { { "root", "manager", "a" }, { "root", "manager", "b" },
      { "root", "manager", "c" } })
    for _, pair in ipairs({ { "a", "b" }, { "b", "c" }, { "c", "a" } }) do
      house.order(s, pair[2], { order = "say", to = pair[1], payload = "hello" })
    end
    local state = house.order(s, "a", { order = "seek", to = "b", what = "deep sea diving" })
    assert.same("no_introduction", state.refused.error)
    for _, message in ipairs(house.mail(s, "introduction_request")) do
      assert.is_true(#(message.payload.via or {}) <= 4)
    end
  end)

  it("goes no further than its hops", function()
    local s = house.new()
    local parent = "root"
    for i = 1, 8 do
      house.hire(s, { { parent, "manager", "m" .. i } })
      parent = "m" .. i
    end
    house.hire(s, { { "root", "designer", "dora" }, { "m8", "programmer", "paul" } })
    local state = house.order(s, "paul", { order = "seek", to = "m8", what = "界面设计" })
    assert.same("no_introduction", state.refused.error)
    s:policy("introductions", "capability", { hops_max = 10 })
    state = house.order(s, "paul", { order = "seek", to = "m8", what = "界面设计" })
    assert.same("dora", state.found.id)
    assert.same(9, #state.found.via)
  end)

  it("without wait arrives as a message, after the contact was added", function()
    local s = studio()
    house.order(s, "paul", { order = "say", to = "root", type = "introduction_request",
      payload = { reason = "r", required_capability = "design" } })
    local heard = house.state(s, "paul").heard
    assert.same("introduction_response", heard.type)
    assert.same({ id = "dora", role = "UI设计师" },
      { id = heard.payload.target_agent.id, role = heard.payload.target_agent.role })
    assert.same("introduction", house.contact(s, "paul", "dora").source)
  end)
end)

describe("an introduction by an agent's own behaviour", function()
  after_each(scene.close)

  local function asks_manager(handler, options)
    local s = house.new(options, { manager = { introduction_request = handler } })
    house.hire(s, { { "root", "manager", "mona" }, { "mona", "programmer", "paul" },
      { "mona", "designer", "dora" }, { "root", "tester", "tess" } })
    return s, house.order(s, "paul", { order = "seek", to = "mona", what = "anything" })
  end

  it("is given with introduce", function()
    local _, state = asks_manager(function(agent, message)
      agent:introduce(message, { target = "dora", usage_hint = "be kind" })
    end)
    assert.same("dora", state.found.id)
    assert.same("mona", state.found.introducedBy)
  end)

  it("is refused with decline", function()
    local _, state = asks_manager(function(agent, message)
      agent:decline(message, "too busy")
    end)
    assert.same("no_introduction", state.refused.error)
    assert.same("too busy", state.refused.reason)
    assert.same({ "mona" }, state.refused.via)
  end)

  it("is refused for an agent that is not a contact or does not exist", function()
    local errors = {}
    local _, state = asks_manager(function(agent, message)
      for _, id in ipairs({ "tess", "nobody", "paul" }) do
        local _, err = agent:introduce(message, { target = id })
        errors[#errors + 1] = err.error
      end
      agent:introduce(message, { target = "dora" })
    end)
    assert.same({ "unknown_contact", "agent_not_found", "invalid_message_format" }, errors)
    assert.same("dora", state.found.id)
  end)

  it("by a plain reply introduces nobody", function()
    local _, state = asks_manager(function(agent, message)
      agent:reply(message, { text = "ask somebody else" })
    end)
    assert.same("no_introduction", state.refused.error)
    assert.same("ask somebody else", state.refused.reason)
  end)

  it("by an ordinary message answers the oldest open request", function()
    for _, payload in ipairs({
      { target_agent = { id = "dora" } }, { target_agent = "dora" }, { targetAgentId = "dora" },
      { target_agent_id = "dora" }, { agentId = "dora" }, { agent_id = "dora" },
    }) do
      local s, state = asks_manager(function(agent, message)
        assert(agent:send_message { to = message.from, type = "introduction_response",
          payload = payload })
      end)
      assert.same("dora", state.found and state.found.id)
      local sent = house.mail(s, "introduction_response")[1].payload
      assert.same("UI设计师", sent.target_agent.role)
      assert.is_nil(sent.targetAgentId or sent.target_agent_id or sent.agentId or sent.agent_id)
    end
  end)

  it("is left to every behaviour by the policy agent", function()
    local s = studio({ policies = { introductions = "agent" } })
    local state = house.order(s, "paul", { order = "seek", to = "root", what = "design",
      timeout_ms = 1000 })
    assert.same("timeout", state.refused.error)
    assert.same("introduction_request", house.state(s, "root").heard.type)
  end)

  it("cannot be undone by a late answer", function()
    local s = house.new(nil, { manager = { introduction_request = function(agent, message)
      agent:sleep(5000)
      local _, err = agent:introduce(message, { target = "dora" })
      agent.state.late = err and err.error
    end } })
    house.hire(s, { { "root", "manager", "mona" }, { "mona", "programmer", "paul" },
      { "mona", "designer", "dora" } })
    local state = house.order(s, "paul", { order = "seek", to = "mona", what = "x",
      timeout_ms = 1000 })
    assert.same("timeout", state.refused.error)
    assert.same("unsolicited_introduction", house.state(s, "mona").late)
    assert.is_nil(house.contact(s, "paul", "dora"))
    assert.same({}, house.mail(s, "introduction_response"))
  end)
end)
