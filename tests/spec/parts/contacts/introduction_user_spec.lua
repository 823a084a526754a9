-- Introductions asked of the user: an inbox item, whose choice is the introduction.
--
-- Covers: core/parts/contacts/introductions_person.c

local scene = require("scene")

local STRICT = { contacts = "strict" }

-- Ann, whom the user has written to, seeks somebody; the user knows root, ann, bob and cal.
local function troupe(options)
  options = options or {}
  local function seek(agent, message)
    if message.type == "introduction_response" then
      agent.state.response = message.payload
    elseif message.payload.text == "seek" then
      local contact, err = agent:request_introduction({ to = "user", reason = "a test",
        required_capability = "testing", timeout_ms = options.timeout_ms })
      agent.state.contact, agent.state.err = contact, err
    elseif message.payload.text == "send" then
      agent:send_message({ to = "user", type = "introduction_request",
        payload = { reason = "a test", required_capability = "testing" } })
    elseif message.payload.text == "meet" then
      agent:send_message({ to = "user", payload = "hello" })
    elseif message.payload.text == "leave" then
      agent:stop()
    end
  end
  local s = scene.troupe({ ann = seek, bob = seek, cal = seek }, { policies = STRICT })
  for _, id in ipairs({ "ann", "bob", "cal" }) do
    scene.tell(s, id, "meet")
  end
  return s
end

local function state(s, id)
  return s:agent(id).state or {}
end

-- Has ann seek; returns the item.
local function ask(s, how)
  assert(s:send("user", { to = "ann", payload = how or "seek" }))
  s:advance(100)
  return s:inbox()[1]
end

describe("an introduction asked of the user", function()
  after_each(scene.close)

  it("becomes an item with the user's contacts as options", function()
    local s = troupe()
    local item = ask(s)
    assert.equal("ann", item.agent)
    assert.equal("introduction for ann: testing", item.title)
    assert.same({ "root", "bob", "cal" }, item.options)
    assert.same({ "a test", "testing" }, { item.body.reason, item.body.required_capability })
    assert.same({ id = "bob", role = s:agent("bob").role.name }, item.body.contacts[2])
    assert.is_string(item.deadline)
    assert.equal("blocked_user", s:agent("ann").status)
  end)

  it("is made by the choice, across a restart", function()
    local s = troupe()
    local item = ask(s)
    s:crash()
    s:recover()
    local done = assert(s:decide(item.id, { choice = "bob", comment = "one file at a time" }))
    assert.is_string(done.messageId)
    s:run()
    local contact = state(s, "ann").contact
    assert.same({ "bob", "introduction", "user", "one file at a time" },
      { contact.id, contact.source, contact.introducedBy, contact.usageHint })
    assert.equal(0, #s:inbox())
    s:crash()
    s:recover()
    local _, err = s:decide(item.id, { choice = "cal" })
    assert.equal("already_decided", err.error)
    assert.is_true(scene.law_holds(s))
  end)

  it("is refused by a rejection, with the comment as the reason", function()
    local s = troupe()
    assert(s:decide(ask(s).id, { decision = "reject", comment = "do it yourself" }))
    s:run()
    assert.same({ "no_introduction", "do it yourself" },
      { state(s, "ann").err.error, state(s, "ann").err.reason })
  end)

  it("needs a choice, or a rejection", function()
    local s = troupe()
    local item = ask(s)
    for _, decision in ipairs({ { decision = "approve" }, { choice = "ann" },
      { decision = "modify", changes = { a = 1 }, choice = "bob" } }) do
      local done, err = s:decide(item.id, decision)
      assert.is_nil(done)
      assert.equal("invalid_argument", err.error)
    end
    assert.equal(1, #s:inbox())
    assert(s:decide(item.id, { choice = "cal" }))
    s:run()
    assert.equal("cal", state(s, "ann").contact.id)
  end)

  it("times out as any request, which withdraws the item", function()
    local s = troupe({ timeout_ms = 5000 })
    local item = ask(s)
    s:advance(5000)
    assert.equal("timeout", state(s, "ann").err.error)
    assert.equal(0, #s:inbox())
    local _, err = s:decide(item.id, { choice = "bob" })
    assert.equal("item_withdrawn", err.error)
    assert.is_true(scene.law_holds(s))
  end)

  it("is answered by a message where nobody waits", function()
    local s = troupe()
    local item = ask(s, "send")
    s:crash()
    s:recover()
    s:advance(3600000)
    assert(s:decide(item.id, { choice = "bob" }))
    s:run()
    assert.equal("bob", state(s, "ann").response.target_agent.id)
    assert.equal("introduction", s:contacts("ann")[#s:contacts("ann")].source)
  end)

  it("is refused for a contact that has ended meanwhile, and stays open", function()
    local s = troupe()
    local item = ask(s)
    assert(s:send("user", { to = "bob", payload = "leave" }))
    s:advance(10)
    local done, err = s:decide(item.id, { choice = "bob" })
    assert.is_nil(done)
    assert.equal("agent_not_found", err.error)
    assert(s:decide(item.id, { choice = "cal" }))
    s:run()
    assert.equal("cal", state(s, "ann").contact.id)
  end)

  it("is withdrawn with the agent that asked", function()
    local s = troupe()
    local item = ask(s, "send")
    scene.tell(s, "ann", "leave")
    assert.equal(0, #s:inbox())
    local _, err = s:decide(item.id, { choice = "bob" })
    assert.equal("item_withdrawn", err.error)
  end)

  it("is with the person until its time is up, and withdrawn then", function()
    local s = troupe({ timeout_ms = 1000 })
    local item = ask(s)
    assert.same({}, s:activity({ type = "no_reply" }))
    s:crash()
    s:recover()
    s:run()
    local late = state(s, "ann").err
    assert.same({ "timeout", "blocked" }, { late.error, late.receiver })
    local _, err = s:decide(item.id, { choice = "bob" })
    assert.equal("item_withdrawn", err.error)
    assert.matches("its request has ended", err.message, 1, true)
  end)

  it("goes to main if main receives it", function()
    local got
    local s = scene.new({ policies = STRICT, app = function(s)
      s:role({ id = "clerk", behaviour = function() end })
      s:root(function(root, message)
        if message.from == "user" then
          root:spawn_agent("clerk", scene.brief(), { id = "bob" })
          got = root:request_introduction({ to = "user", reason = "r",
            required_capability = "c" })
        end
      end)
      s:main(function(user)
        user:send_message({ to = "root", payload = "go" })
        local request = user:receive({ type = "introduction_request" })
        user:add_contact({ id = "bob" })
        assert(user:introduce(request, { target = "bob" }))
      end)
    end })
    s:run()
    assert.equal("bob", got.id)
    assert.equal(0, #s:inbox())
  end)
end)
