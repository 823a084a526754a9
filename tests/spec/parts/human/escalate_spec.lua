-- Escalation: an item is put to the person; one decision comes back.

local json = require("society.json")
local scene = require("scene")

-- An agent that escalates what it is told and records the answer, or a decision that comes
-- as a message.
local function clerk(agent, message)
  if message.type == "decision" then
    agent.state.heard = agent.state.heard or json.array({})
    local heard = agent.state.heard
    heard[#heard + 1] = { from = message.from, payload = message.payload,
      correlation_id = message.correlation_id, task_id = message.task_id,
      priority = message.priority }
    return
  end
  local answer, err = agent:escalate(message.payload)
  agent.state.answer = answer
  agent.state.failed = err
end

local function state(s, id)
  return s:agent(id).state or {}
end

local function ask(s, id, item)
  scene.tell(s, id, item)
  local inbox = s:inbox()
  return inbox[#inbox]
end

describe("an escalation", function()
  after_each(scene.close)

  it("blocks the agent until the person has decided", function()
    local s = scene.troupe({ pm = clerk })
    local item = ask(s, "pm", { title = "Ship it?", body = "the 2.0", options = { "now", "later" },
      priority = "high" })
    assert.equal("blocked_user", s:agent("pm").status)
    local wait = s:waits()[1]
    assert.same({ "pm", "human", "user", item.id },
      { wait.agent, wait.kind, wait.waits_for[1], wait.item_id })
    assert.matches("^item_%d+_%d+_%x+$", item.id)
    assert.same({ "pm", "Ship it?", "the 2.0", { "now", "later" }, "high" },
      { item.agent, item.title, item.body, item.options, item.priority })
    assert.truthy(item.created_at)
    assert.is_nil(item.overdue)
    local done = assert(s:decide(item.id, { decision = "approve", comment = "go" }))
    assert.same({ agent = "pm", decision = "approve", delivered = true, item_id = item.id }, done)
    s:run()
    assert.same({ decision = "approve", comment = "go" }, state(s, "pm").answer)
    assert.equal("idle", s:agent("pm").status)
    assert.same({}, s:inbox())
  end)

  it("returns modify with its changes and reject with its reason", function()
    local s = scene.troupe({ a = clerk, b = clerk })
    local first = ask(s, "a", { title = "100?" })
    local second = ask(s, "b", { title = "200?" })
    assert(s:decide(first.id, { decision = "modify", changes = { limit = 10 } }))
    assert(s:decide(second.id, { decision = "reject", comment = "too much" }))
    s:run()
    assert.same({ decision = "modify", changes = { limit = 10 } }, state(s, "a").answer)
    assert.same({ decision = "reject", comment = "too much" }, state(s, "b").answer)
  end)

  it("is decided once; the first decision counts", function()
    local s = scene.troupe({ pm = clerk })
    local item = ask(s, "pm", { title = "?" })
    assert(s:decide(item.id, { decision = "reject" }))
    for _ = 1, 2 do
      local again, err = s:decide(item.id, { decision = "approve" })
      assert.is_nil(again)
      assert.same({ "already_decided", item.id, "reject" },
        { err.error, err.item_id, err.decision })
      s:run()
      assert.same({ decision = "reject" }, state(s, "pm").answer)
      s:crash():recover()
    end
    assert.same({}, s:messages({ type = "decision" }))
  end)

  it("refuses invalid decisions, and stays open", function()
    local s = scene.troupe({ pm = clerk })
    local item = ask(s, "pm", { title = "?" })
    local function refused(id, verdict)
      return select(2, s:decide(id, verdict))
    end
    assert.equal("item_not_found", refused("item_1", { decision = "approve" }).error)
    assert.equal("item_not_found",
      refused(item.id:gsub("%x$", "f"), { decision = "approve" }).error)
    assert.equal("invalid_argument", refused(item.id, { decision = "maybe" }).error)
    assert.equal("invalid_argument", refused(item.id, {}).error)
    local err = refused(item.id, { decision = "modify" })
    assert.same({ "invalid_argument", "changes" }, { err.error, err.member })
    assert.equal("invalid_argument", refused(item.id, { decision = "modify", changes = 5 }).error)
    assert.has_error(function() s:decide(item.id, "approve") end)
    assert.has_error(function() s:decide(item.id, { decision = "approve", why = "x" }) end)
    assert.equal(1, #s:inbox())
    assert.equal("blocked_user", s:agent("pm").status)
  end)

  it("times out, stays open and overdue, and can still be decided by a message", function()
    local s = scene.troupe({ pm = clerk })
    assert(s:send("user", { to = "pm", task_id = "t1",
      payload = { title = "soon?", timeout_ms = 5000, priority = "urgent" } }))
    s:advance(4999)
    local item = s:inbox()[1]
    assert.is_nil(item.overdue)
    assert.truthy(item.deadline)
    s:advance(1)
    local failed = state(s, "pm").failed
    assert.same({ "timeout", item.id, 5000 },
      { failed.error, failed.item_id, failed.timeout_ms })
    assert.is_true(s:inbox()[1].overdue)
    assert.equal("idle", s:agent("pm").status)
    local done = assert(s:decide(item.id, { decision = "approve", comment = "late" }))
    assert.truthy(done.messageId)
    s:run()
    assert.same({ { from = "user", correlation_id = item.correlation_id, task_id = "t1",
      priority = "urgent",
      payload = { item_id = item.id, decision = "approve", comment = "late" } } },
      state(s, "pm").heard)
  end)

  it("does not wait if told so", function()
    local s = scene.troupe({ pm = clerk })
    scene.tell(s, "pm", { title = "?", wait = false })
    local item = s:inbox()[1]
    assert.same({ item_id = item.id }, state(s, "pm").answer)
    assert.equal("idle", s:agent("pm").status)
    assert(s:decide(item.id, { decision = "modify", changes = { "x" } }))
    s:run()
    assert.same({ item_id = item.id, decision = "modify", changes = { "x" } },
      state(s, "pm").heard[1].payload)
    assert.equal(1, #s:messages({ type = "decision" }))
  end)

  it("needs no contact and adds none", function()
    local s = scene.troupe({ pm = clerk, other = clerk }, { policies = { contacts = "strict" } })
    local function known(id)
      local ids = {}
      for _, contact in ipairs(s:contacts(id)) do ids[#ids + 1] = contact.id end
      return ids
    end
    assert(s:send("root", { to = "pm", payload = { title = "a", wait = false } }))
    assert(s:send("root", { to = "other", payload = { title = "b" } }))
    s:run()
    for _, item in ipairs(s:inbox()) do
      assert(s:decide(item.id, { decision = "approve" }))
    end
    s:run()
    assert.same({ "root" }, known("pm"))
    assert.same({ "root" }, known("other"))
    assert.same({ "root" }, known("user"))
    assert.equal(1, #state(s, "pm").heard)
  end)

  it("inherits task and correlation and is in the activity", function()
    local s = scene.troupe({ pm = clerk })
    assert(s:send("user", { to = "pm", task_id = "t7", correlation_id = "c7",
      payload = { title = "seven" } }))
    s:run()
    local item = s:inbox()[1]
    assert.same({ "t7", "c7" }, { item.task_id, item.correlation_id })
    assert(s:decide(item.id, { decision = "approve" }))
    for _, event in ipairs({ "escalation", "decision" }) do
      local rows = s:activity({ type = event, correlation_id = "c7", task = "t7", agent = "pm" })
      assert.equal(1, #rows)
      assert.equal(item.id, json.decode(rows[1].detail).item_id)
    end
  end)

  it("is rolled back with a turn that raises", function()
    local tries = 0
    local s = scene.troupe({ pm = function(agent)
      agent:escalate { title = "try", wait = false }
      tries = tries + 1
      assert(tries > 2, "not yet")
    end })
    scene.tell(s, "pm")
    assert.equal(1, #s:inbox())
    assert.equal(1, scene.count(s:transcript(), "inbox pm: \"try\""))
  end)

  it("raises on misuse and names the option", function()
    local cases = {
      [{}] = "title", [{ title = "" }] = "title", [{ title = 5 }] = "title",
      [{ title = "x", options = "now" }] = "options",
      [{ title = "x", options = { "a", "b", "a" } }] = "the same choice twice",
      [{ title = "x", options = { { n = 1 }, { n = 1 } } }] = "the same choice twice",
      [{ title = "x", priority = "soon" }] = "priority",
      [{ title = "x", timeout_ms = -1 }] = "timeout_ms", [{ title = "x", wait = 1 }] = "wait",
      [{ title = "x", why = "y" }] = "why", [{ title = "x", body = function() end }] = "body",
    }
    for options, name in pairs(cases) do
      assert.matches(name, scene.raised(function(root) root:escalate(options) end), 1, true)
    end
  end)
end)

describe("the inbox", function()
  after_each(scene.close)

  it("lists urgent items first, then the oldest", function()
    local s = scene.troupe({ pm = clerk })
    for number, priority in ipairs({ "low", "normal", "urgent", "normal", "high" }) do
      scene.tell(s, "pm", { title = tostring(number), priority = priority, wait = false })
      s:advance(10)
    end
    local titles = {}
    for _, item in ipairs(s:inbox()) do titles[#titles + 1] = item.title end
    assert.same({ "3", "5", "2", "4", "1" }, titles)
  end)

  it("can be queried inside a turn, where decide raises", function()
    local s
    s = scene.troupe({ pm = clerk, root = function(root)
      root.state.seen = #s:inbox()
      root:sleep(10)
      root.state.raised = not pcall(function()
        s:decide(s:inbox()[1].id, { decision = "approve" })
      end)
    end })
    ask(s, "pm", { title = "?" })
    scene.tell(s, "root")
    assert.same({ seen = 1, raised = true }, state(s, "root"))
    assert.equal(1, #s:inbox())
  end)

  it("accepts several decisions in any order", function()
    for _, order in ipairs({ { 1, 2, 3 }, { 3, 1, 2 }, { 2, 3, 1 } }) do
      local s = scene.troupe({ a = clerk, b = clerk, c = clerk })
      local items = {}
      for i, id in ipairs({ "a", "b", "c" }) do items[i] = ask(s, id, { title = id }) end
      for _, i in ipairs(order) do
        assert(s:decide(items[i].id, { decision = "approve", comment = items[i].title }))
        s:run()
        assert.equal(items[i].agent, state(s, items[i].agent).answer.comment)
      end
      assert.same({}, s:inbox())
      s:close()
    end
  end)
end)

describe("a decision three delegations deep", function()
  after_each(scene.close)

  local function delegate(to)
    return function(agent, message)
      local answer = assert(agent:request { to = to, payload = message.payload,
        timeout_ms = 3600000 })
      return { path = agent.id .. "<" .. answer.payload.path }
    end
  end

  local function firm()
    return scene.troupe({
      ceo = delegate("lead"), lead = delegate("dev"), dev = delegate("clerk"),
      clerk = function(agent)
        return { path = agent.id .. ":" .. assert(agent:escalate { title = "deep" }).decision }
      end,
    })
  end

  it("unblocks only the asker, whose reply unblocks the rest", function()
    local s = firm()
    assert(s:send("root", { to = "ceo", payload = "go" }))
    s:step()
    s:advance(1000)
    assert.same({ "blocked_internal", "blocked_internal", "blocked_internal", "blocked_user" },
      { s:agent("ceo").status, s:agent("lead").status, s:agent("dev").status,
        s:agent("clerk").status })
    assert(s:decide(s:inbox()[1].id, { decision = "modify", changes = { a = 1 } }))
    assert.equal("working", s:agent("clerk").status)
    assert.equal("blocked_internal", s:agent("dev").status)
    s:run()
    assert.equal("ceo<lead<dev<clerk:modify",
      scene.message(s, { agent = "ceo" }, { from = "ceo", to = "root" }).payload.path)
  end)

  it("survives a crash before and after the decision", function()
    for _, cut in ipairs({ "before", "after", "both" }) do
      local s = firm()
      assert(s:send("root", { to = "ceo", payload = "go" }))
      s:advance(1000)
      if cut ~= "after" then s:crash():recover() end
      assert.equal("blocked_user", s:agent("clerk").status)
      assert(s:decide(s:inbox()[1].id, { decision = "approve" }))
      if cut ~= "before" then s:crash():recover() end
      s:run()
      assert.equal("ceo<lead<dev<clerk:approve",
        scene.message(s, { agent = "ceo" }, { from = "ceo", to = "root" }).payload.path)
      assert.same({}, s:waits())
      s:close()
    end
  end)
end)
