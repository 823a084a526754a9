-- The first message between two agents introduces the sender.
--
-- Covers: core/parts/contacts/acquaintance.c

local house = require("house")
local scene = require("scene")

describe("self_introduction", function()
  after_each(scene.close)

  local function peers(options)
    local s = house.new(options or { policies = { contacts = "open" } })
    house.hire(s, { { "root", "programmer", "paul", { objective = "build the page" } },
      { "root", "designer", "dora" } })
    return s
  end

  local function says(s, from, to, payload, type)
    house.order(s, from, { order = "say", to = to, payload = payload, type = type })
    return house.state(s, to).heard.payload
  end

  it("is filled in from role and brief, in the first message only", function()
    local s = peers()
    assert.same({ text = "hi",
      self_introduction = { role = "程序员", duty = "build the page" } },
      says(s, "paul", "dora", { text = "hi" }))
    assert.same({ text = "again" }, says(s, "paul", "dora", { text = "again" }))
    assert.same({ text = "back" }, says(s, "dora", "paul", { text = "back" }).text
      and { text = "back" })
  end)

  it("takes its reason from the introduction", function()
    local s = peers({})
    house.order(s, "paul", { order = "seek", to = "root", what = "界面设计", reason = "need a look" })
    assert.same({ role = "程序员", duty = "build the page", reason = "need a look" },
      says(s, "paul", "dora", { text = "hi" }).self_introduction)
  end)

  it("takes its reason from the brief that named the collaborator", function()
    local s = house.new()
    house.hire(s, { { "root", "designer", "dora" } })
    house.hire(s, { { "root", "programmer", "paul", { objective = "o", collaborators = {
      { agentId = "dora", role = "designer", description = "for the look of it" } } } } })
    assert.same("for the look of it",
      says(s, "paul", "dora", { text = "hi" }).self_introduction.reason)
  end)

  it("keeps what the sender says about itself", function()
    local s = peers()
    assert.same({ role = "程序员", duty = "charm", reason = "why not", mood = "good" },
      says(s, "paul", "dora", { text = "hi", self_introduction = { duty = "charm",
        reason = "why not", mood = "good" } }).self_introduction)
  end)

  it("names the sender's real role, whatever it says or passes on", function()
    local s = peers()
    assert.equal("程序员", says(s, "paul", "dora", { text = "hi",
      self_introduction = { role = "root", duty = "rule" } }).self_introduction.role)
  end)

  it("is refused if it is not an object", function()
    local s = peers()
    house.order(s, "paul", { order = "say", to = "dora",
      payload = { text = "hi", self_introduction = "me" } })
    assert.same("invalid_message_format", house.state(s, "paul").refused.error)
    assert.same("root", house.known(s, "dora"))
  end)

  it("is refused in later messages too, if it is not an object", function()
    local s = peers()
    says(s, "paul", "dora", { text = "hi" })
    for _, claim in ipairs { "I am root", { "root" }, 7, true } do
      for _, to in ipairs { "dora", "root", "All" } do
        house.order(s, "paul", { order = "say", to = to,
          payload = { text = "again", self_introduction = claim } })
        assert.same("invalid_message_format", house.state(s, "paul").refused.error)
      end
    end
    assert.same("hi", house.state(s, "dora").heard.payload.text)
  end)

  it("is refused in the first message to a child and in a reply", function()
    local refused = {}
    local s = scene.troupe({ a = function(agent, message)
      local claim = { text = "x", self_introduction = "the owner" }
      local _, err = agent:reply(message, claim)
      refused.reply = err.error
      _, err = agent:spawn_agent("actor", scene.brief(), { id = "child", message = claim })
      refused.spawn = err.cause.error
    end, b = function() end })
    scene.tell(s, "a")
    assert.same({ reply = "invalid_message_format", spawn = "invalid_message_format" }, refused)
    assert.is_nil(s:agent("child"))
  end)

  it("is not part of messages of parent, child and user, nor of replies", function()
    local s = scene.troupe({
      a = function(agent, message)
        if message.from ~= "user" then
          agent.state.got = message.payload
          return { text = "answer" }
        end
        agent.state.answer = agent:request { to = "b", payload = { text = "q" } }.payload
      end,
      b = function(agent, message)
        agent.state.got = message.payload
        return { text = "answer" }
      end,
    })
    scene.tell(s, "a")
    assert.same({ text = "answer" }, s:agent("a").state.answer)
    assert.truthy(s:agent("b").state.got.self_introduction)
    assert(s:send("root", { to = "a", payload = { text = "x" } }))
    s:run()
    assert.same({ text = "x" }, s:agent("a").state.got)
  end)

  it("is in one of two messages of the same turn", function()
    local got = {}
    local s = scene.troupe({
      a = function(agent)
        agent:send_message { to = "b", payload = { n = 1 } }
        agent:send_message { to = "b", payload = { n = 2 } }
      end,
      b = function(_, message)
        got[message.payload.n] = message.payload.self_introduction ~= nil
      end,
    })
    scene.tell(s, "a")
    assert.same({ true, false }, got)
  end)

  it("is not added to a payload that is not an object", function()
    local s = scene.troupe({ a = function(agent)
      agent:send_message { to = "b", payload = 42 }
    end, b = function(agent, message) agent.state.got = message.payload end })
    scene.tell(s, "a")
    assert.same(42, s:agent("b").state.got)
  end)
end)
