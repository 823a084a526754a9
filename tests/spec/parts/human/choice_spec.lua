-- Choosing one of the options of an escalation.

local scene = require("scene")

local function clerk(agent, message)
  agent.state.answer = agent:escalate(message.payload)
end

local function state(s, id)
  return s:agent(id).state or {}
end

-- Has the agent escalate the item; returns it as the inbox shows it.
local function ask(s, id, item)
  scene.tell(s, id, item)
  local inbox = s:inbox()
  return inbox[#inbox]
end

describe("a choice among options", function()
  after_each(scene.close)

  it("returns the option that was chosen, which approves", function()
    local s = scene.troupe({ a = clerk, b = clerk, c = clerk })
    local function options(...) return { title = "When?", options = { ... } } end
    local first = ask(s, "a", options("now", "later"))
    local second = ask(s, "b", options(1, { days = 2 }))
    local third = ask(s, "c", options("now"))
    local done = assert(s:decide(first.id, { choice = "later", comment = "calmly" }))
    assert.same({ "approve", "later" }, { done.decision, done.choice })
    assert(s:decide(second.id, { decision = "approve", choice = { days = 2 } }))
    assert(s:decide(third.id,
      { decision = "modify", choice = "now", changes = { limit = 1 } }))
    s:crash()
    s:recover()
    s:run()
    assert.same({ decision = "approve", choice = "later", comment = "calmly" },
      state(s, "a").answer)
    assert.same({ days = 2 }, state(s, "b").answer.choice)
    assert.same({ decision = "modify", choice = "now", changes = { limit = 1 } },
      state(s, "c").answer)
  end)

  it("takes an option's text for the option, as a command line gives it", function()
    local s = scene.troupe({ a = clerk })
    local item = ask(s, "a", { title = "How many?", options = { 1, 2 } })
    assert.equal(2, assert(s:decide(item.id, { choice = "2" })).choice)
  end)

  it("refuses a choice that is none of the options, and decides nothing", function()
    local s = scene.troupe({ a = clerk, b = clerk })
    local item = ask(s, "a", { title = "When?", options = { "now", "later" } })
    local bare = ask(s, "b", { title = "Ship it?" })
    for _, case in ipairs({
      { item, { choice = "never" }, "one of the item's options" },
      { item, { decision = "reject", choice = "now" }, "cannot be used with reject" },
      { bare, { choice = "now" }, "no options" },
      { item, {}, "approve, modify or reject" },
    }) do
      local done, err = s:decide(case[1].id, case[2])
      assert.is_nil(done)
      assert.equal("invalid_argument", err.error)
      assert.matches(case[3], err.message, 1, true)
    end
    local _, err = s:decide(item.id, { choice = "never" })
    assert.same({ "now", "later" }, err.options)
    assert.equal(2, #s:inbox())
  end)

  it("sends the choice with a decision that nobody waits for", function()
    local s = scene.troupe({ a = function(agent, message)
      if message.type == "decision" then
        agent.state.answer = message.payload
      else
        agent:escalate(message.payload)
      end
    end })
    local item = ask(s, "a", { title = "When?", options = { "now", "later" }, wait = false })
    assert(s:decide(item.id, { choice = "now" }))
    s:run()
    assert.same({ item_id = item.id, decision = "approve", choice = "now" }, state(s, "a").answer)
  end)
end)
