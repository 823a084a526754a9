-- The acceptance criteria of requirements 3 and 5, one test each, under their numbers:
-- introductions, and writing to agents one has met. The contacts policy is strict.

local house = require("house")
local scene = require("scene")

-- All types are checked, as by default.
local CHECKED = { messages = { "society", "workflow", "helix" } }

-- dora designs, paul programs; they do not know each other.
local function studio(handlers, policies)
  local all = { messages = CHECKED.messages }
  for kind, name in pairs(policies or {}) do
    all[kind] = name
  end
  local s = house.new({ policies = all }, handlers)
  house.hire(s, { { "root", "designer", "dora" },
    { "root", "programmer", "paul", { objective = "build the page" } } })
  return s
end

local function seek(s, who, to, what)
  return house.order(s, who, { order = "seek", to = to, what = what, reason = "need a look" })
end

local function ask(s, from, to, payload)
  return s:send(from, { to = to, type = "introduction_request", payload = payload })
end

local WISH = { reason = "r", required_capability = "interface design" }

describe("Requirement 3, introductions:", function()
  after_each(scene.close)

  it("3.1 an agent asks its parent, or any other contact, for an introduction", function()
    local s = studio()
    assert(ask(s, "paul", "root", WISH))
    house.hire(s, { { "paul", "tester", "tina" } })
    assert(ask(s, "paul", "tina", WISH)) -- a child
    assert(s:send("user", { to = "paul", payload = "hello" }))
    s:run()
    assert(ask(s, "paul", "user", WISH)) -- who wrote first
    local _, err = ask(s, "tina", "dora", WISH)
    assert.equal("unknown_contact", err.error)
  end)

  it("3.2 a request has reason and required_capability", function()
    local s = studio()
    for name, payload in pairs({ reason = { required_capability = "c" },
      required_capability = { reason = "r" } }) do
      local sent, err = ask(s, "paul", "root", payload)
      assert.is_nil(sent)
      assert.same({ name }, err.missing_fields)
    end
  end)

  it("3.3 the agent asked looks for a match among its contacts", function()
    local s = studio()
    assert.equal("dora", seek(s, "paul", "root", "界面设计").found.id)
    assert.equal("no_introduction", seek(s, "dora", "root", "deep sea diving").refused.error)
    local got
    s = studio({ manager = { introduction_request = function(agent, message)
      got = message.payload -- an agent that answers itself is asked itself
      agent:decline(message, "nobody")
    end } })
    house.hire(s, { { "root", "manager", "mia" }, { "mia", "tester", "tina" } })
    assert.equal("nobody", seek(s, "tina", "mia", "planning").refused.reason)
    assert.equal("planning", got.required_capability)
  end)

  it("3.4 if it knows a match it answers with its id and Interface Spec", function()
    local s = studio()
    seek(s, "paul", "root", "界面设计")
    local response = house.mail(s, "introduction_response")[1]
    assert.equal("root", response.from)
    assert.equal("paul", response.to)
    assert.equal("dora", response.payload.target_agent.id)
    assert.equal("a wish of designer", response.payload.target_agent.interface_spec.input_format)
  end)

  -- mia leads tina and knows nobody who designs; root does.
  local function deep()
    local s = studio()
    house.hire(s, { { "root", "manager", "mia" }, { "mia", "tester", "tina" } })
    return s
  end

  it("3.5 if it knows none it may ask others: its parent, its children", function()
    local s = deep()
    assert.equal("dora", seek(s, "tina", "mia", "界面设计").found.id)
    local asked = house.mail(s, "introduction_request")
    assert.same({ "tina", "mia", "mia", "root" },
      { asked[1].from, asked[1].to, asked[2].from, asked[2].to })
    house.hire(s, { { "dora", "programmer", "phil" } })
    assert.equal("phil", seek(s, "root", "dora", "programming").found.id) -- downwards
  end)

  it("3.6 it passes on what it learns to the original requester", function()
    local s = deep()
    local found = seek(s, "tina", "mia", "界面设计").found
    assert.equal("mia", found.introducedBy)
    assert.same({ "mia", "root" }, found.via)
    local answers = house.mail(s, "introduction_response")
    assert.same({ "mia", "tina" }, { answers[1].to, answers[2].to })
    assert.equal("dora", answers[2].payload.target_agent.id)
  end)

  it("3.7 the target is among the requester's contacts before the response is read", function()
    local known
    local s = studio({ programmer = { introduction_response = function(agent, message)
      known = agent:knows(message.payload.target_agent.id)
    end } })
    assert(ask(s, "paul", "root", WISH))
    s:run()
    assert.same({ inRegistry = true }, known)
    assert.equal("introduction", house.contact(s, "paul", "dora").source)
    assert.equal("root", house.contact(s, "paul", "dora").introducedBy)
  end)

  it("3.8 a response has the target's id, role, Interface Spec and a usage hint", function()
    local s = studio({ manager = { introduction_request = function(agent, message)
      assert(agent:introduce(message, { target = "root", usage_hint = "one at a time" }))
    end } })
    house.hire(s, { { "root", "manager", "mia" }, { "mia", "tester", "tina" } })
    seek(s, "tina", "mia", "anything")
    local payload = house.mail(s, "introduction_response")[1].payload
    assert.equal("root", payload.target_agent.id)
    assert.equal("root", payload.target_agent.role)
    assert.equal("one at a time", payload.usage_hint)
    seek(s, "paul", "root", "界面设计")
    local target = house.mail(s, "introduction_response")[2].payload.target_agent
    assert.same({ "dora", "UI设计师", "界面设计 interface design" },
      { target.id, target.role, target.interface_spec.services })
  end)
end)

describe("Requirement 5, writing to agents one has met:", function()
  after_each(scene.close)

  -- paul has been introduced to dora, who has not been told.
  local function introduced(handlers)
    local s = studio(handlers)
    local _, err = s:send("paul", { to = "dora", payload = "too early" })
    assert.equal("unknown_contact", err.error)
    assert(seek(s, "paul", "root", "界面设计").found)
    assert.equal("root", house.known(s, "dora"))
    return s
  end

  local function first_message(handlers)
    local s = introduced(handlers)
    assert(s:send("paul", { to = "dora", payload = { text = "hi" } }))
    s:run()
    return s
  end

  it("5.1 an agent that was introduced may write first", function()
    local s = first_message()
    assert.equal("hi", house.state(s, "dora").heard.payload.text)
  end)

  it("5.2 the first message adds the sender to the receiver's contacts", function()
    local s = first_message()
    assert.equal("first_message", house.contact(s, "dora", "paul").source)
    assert(s:send("dora", { to = "paul", payload = { text = "back" } }))
  end)

  it("5.3 it introduces the sender: role, duty, reason", function()
    local s = first_message()
    assert.same({ role = "程序员", duty = "build the page", reason = "need a look" },
      house.state(s, "dora").heard.payload.self_introduction)
  end)

  it("5.4 the receiver may reply or just do what is asked", function()
    local s = first_message()
    for _, message in ipairs(s:messages({ agent = "dora" })) do
      assert.not_equal("dora", message.from)
    end
    s = first_message({ designer = { general = function(agent, message)
      agent:reply(message, { text = "welcome" })
    end } })
    assert.equal("welcome", house.state(s, "paul").heard.payload.text)
    assert.equal(0, s:stats().dead)
  end)

  it("5.5 a message has its sender's id in from", function()
    assert.equal("paul", house.state(first_message(), "dora").heard.from)
  end)

  it("5.6 a message to that from reaches the sender", function()
    local s = first_message({ designer = { general = function(agent, message)
      assert(agent:send_message({ to = message.from, payload = { text = "for you" } }))
    end } })
    assert.equal("for you", house.state(s, "paul").heard.payload.text)
    assert.matches("to 填来源标识中的智能体ID（即消息的 from）", s:context("dora"), 1, true)
  end)

  it("5.7 a receiver that keeps no contact can still reply", function()
    local s = first_message({ designer = { general = function(agent, message)
      assert(agent:remove_contact(message.from))
      assert(agent:reply(message, { text = "and forgotten" }))
    end } })
    assert.equal("and forgotten", house.state(s, "paul").heard.payload.text)
    assert.equal("root", house.known(s, "dora"))
  end)
end)
