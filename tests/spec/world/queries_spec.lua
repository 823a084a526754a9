-- What a society shows of itself from outside.

local scene = require("scene")
local json = require("society.json")

describe("agents and agent", function()
  after_each(scene.close)

  it("list all agents, user and root first, in the order of their spawning", function()
    local s = scene.troupe({ b = function() end, a = function() end })
    local ids = {}
    for i, agent in ipairs(s:agents()) do
      ids[i] = agent.id
    end
    assert.same({ "user", "root", "a", "b" }, ids)
    assert.same(s:agents()[3], s:agent("a"))
    assert.is_nil(s:agent("nobody"))
  end)

  it("show role, parent, status, queue, contacts, children and time of spawning", function()
    local s = scene.troupe({ a = function() end })
    s:advance(0)
    local a = s:agent("a")
    assert.same({ id = "actor", name = "演员" }, a.role)
    assert.equal("root", a.parent)
    assert.equal("idle", a.status)
    assert.equal(0, a.queue_length)
    assert.equal(1, a.contacts)
    assert.equal(0, a.children)
    assert.equal("2026-01-01T00:00:00.000Z", a.created_at)
    assert.equal("do it", a.brief.objective)
    assert.equal(1, s:agent("root").children)
  end)

  it("show the status: idle, working, blocked by an agent or by the user", function()
    local s = scene.troupe({
      a = function(a, message)
        if message.payload.text == "sleep" then
          a:sleep(100)
        else
          a:request({ to = message.payload.text, payload = "x", timeout_ms = 100 })
        end
      end,
      b = function() end,
    })
    local function status_while(text)
      assert(s:send("user", { to = "a", payload = text }))
      s:advance(10)
      local status = s:agent("a").status
      s:run()
      return status
    end
    assert.equal("idle", s:agent("a").status)
    assert.equal("working", status_while("sleep"))
    assert.equal("blocked_internal", status_while("b"))
    assert.equal("blocked_user", status_while("user"))
    assert.equal("idle", s:agent("a").status)
  end)
end)

describe("waits", function()
  after_each(scene.close)

  it("show who waits for what, for whom and until when", function()
    local s = scene.troupe({
      a = function(a) a:request({ to = "b", payload = "x", timeout_ms = 500 }) end,
      b = function(b) b:sleep(300) end,
      c = function(c) c:receive({ from = "a", type = "news" }) end,
      d = function() error("boom") end,
    })
    for _, id in ipairs({ "a", "c", "d" }) do
      assert(s:send("user", { to = id, payload = "x" }))
    end
    s:advance(10)
    local waits, before = {}, s:waits()
    for _, wait in ipairs(before) do
      assert.equal(wait.kind ~= "retry", wait.where ~= nil)
      waits[wait.agent], wait.where = wait, nil
    end
    local asked = scene.message(s, {}, { from = "a", to = "b" })
    local told = {}
    for _, message in ipairs(s:messages()) do
      told[message.to] = message.id
    end
    assert.same({ agent = "a", kind = "reply", waits_for = { "b" }, message_id = asked.id,
      since = "2026-01-01T00:00:00.000Z", deadline = "2026-01-01T00:00:00.500Z",
      correlation_id = told.a, receiver = "working" }, waits.a)
    assert.same({ agent = "b", kind = "sleep", waits_for = {}, correlation_id = told.a,
      since = "2026-01-01T00:00:00.000Z", deadline = "2026-01-01T00:00:00.300Z" }, waits.b)
    assert.same({ agent = "c", kind = "receive", waits_for = { "a" }, type = "news",
      since = "2026-01-01T00:00:00.000Z", correlation_id = told.c }, waits.c)
    assert.equal("retry", waits.d.kind)
    assert.equal(4, s:stats().waiting)
    s:crash()
    s:recover()
    assert.equal(3, s:stats().waiting)
    table.remove(before)
    assert.same(before, s:waits())
  end)
end)

describe("stats", function()
  after_each(scene.close)

  it("count messages by outcome", function()
    local s = scene.troupe({
      a = function(a, message)
        if message.payload.text == "fail" then
          error("boom")
        end
        a:sleep(10)
      end,
    })
    scene.tell(s, "a", "fail")
    assert(s:send("user", { to = "a", payload = "x" }))
    assert(s:send("user", { to = "a", payload = "x", ttl_seconds = 0.005, priority = "low" }))
    assert(s:send("user", { to = "a", payload = "x", delay_ms = 1000 }))
    s:advance(100)
    assert.same({ sent = 5, processed = 2, pending = 1, expired = 1, dead = 1, dropped = 0,
      cancelled = 0 }, scene.counts(s))
    assert.equal(3, s:stats().agents)
    assert.equal("2026-01-01T00:00:00.800Z", s:stats().now)
  end)

  it("are the same after a crash", function()
    local s = scene.troupe({ a = function() error("boom") end })
    scene.tell(s, "a")
    local before = scene.counts(s)
    s:crash()
    s:recover()
    assert.same(before, scene.counts(s))
  end)
end)

describe("messages", function()
  after_each(scene.close)

  local function some()
    local s = scene.troupe({
      a = function(a, message)
        a:send_message({ to = "b", type = "passed", payload = message.payload })
      end,
      b = function() end,
    })
    assert(s:send("user", { to = "a", payload = "1", task_id = "T1", correlation_id = "c1" }))
    s:run()
    s:advance(1000)
    assert(s:send("user", { to = "b", payload = "2", task_id = "T2", type = "other" }))
    s:run()
    return s
  end

  local function texts(list)
    local all = {}
    for i, message in ipairs(list) do
      all[i] = message.type .. " " .. (message.payload.text or "-")
    end
    return all
  end

  it("lists all of them, oldest first, complete", function()
    local s = some()
    assert.same({ "enter -", "general 1", "passed 1", "other 2" }, texts(s:messages()))
    assert.same(s:messages(), s:messages({}))
    local passed = s:messages()[3]
    assert.equal("a", passed.from)
    assert.equal("b", passed.to)
    assert.equal("processed", passed.status)
    assert.equal("T1", passed.task_id)
    assert.equal(1, passed.hops)
    assert.is_string(passed.finished_at)
  end)

  it("can be filtered by agent, task, type and correlation, and by several", function()
    local s = some()
    assert.same({ "general 1", "passed 1" }, texts(s:messages({ agent = "a" })))
    assert.same({ "passed 1", "other 2" }, texts(s:messages({ agent = "b" })))
    assert.same({ "other 2" }, texts(s:messages({ task = "T2" })))
    assert.same({ "passed 1" }, texts(s:messages({ type = "passed" })))
    assert.same({ "general 1", "passed 1" }, texts(s:messages({ correlation_id = "c1" })))
    assert.same({ "passed 1" }, texts(s:messages({ agent = "b", task = "T1" })))
    assert.same({}, s:messages({ agent = "nobody" }))
  end)

  it("are kept across a crash", function()
    local s = some()
    local before = s:messages()
    s:crash()
    s:recover()
    assert.same(before, s:messages())
  end)
end)

describe("activity", function()
  after_each(scene.close)

  local function events(list)
    local all = {}
    for i, entry in ipairs(list) do
      all[i] = entry.event
    end
    return all
  end

  local function has(list, event)
    for _, each in ipairs(events(list)) do
      if each == event then
        return true
      end
    end
    return false
  end

  it("records spawns, contacts, sends, terminations and failures", function()
    local s = scene.troupe({
      a = function(a)
        a:log("warn", "noted", { n = 1 })
        a:log("info", "without fields")
        a:sleep(1)
        error("boom")
      end,
    })
    scene.tell(s, "a")
    local activity = s:activity()
    for _, event in ipairs({ "spawned", "contact_added", "sent", "processed", "turn_failed",
      "dead", "log" }) do
      assert.is_true(has(activity, event), event)
    end
    for i = 2, #activity do
      assert.is_true(activity[i - 1].time <= activity[i].time)
    end
  end)

  it("accepts a log entry without fields", function()
    local s = scene.troupe({ a = function(a) a:log("info", "plain") end })
    scene.tell(s, "a")
    assert.is_true(has(s:activity(), "log"))
    assert.is_false(has(s:activity(), "turn_failed"))
  end)

  it("keeps a log entry as it was given, without fields if there were none", function()
    local s = scene.troupe({
      a = function(a)
        a:log("info", "plain")
        a:log("info", "nothing", nil)
        a:log("info", "fields", { n = 1 })
        a:log("info", "text", "more")
      end,
    })
    scene.tell(s, "a")
    local details = {}
    for _, entry in ipairs(s:activity({ type = "log" })) do
      local detail = entry.detail
      details[#details + 1] = type(detail) == "string" and json.decode(detail) or detail
    end
    assert.same({
      { text = "plain" },
      { text = "nothing" },
      { text = "fields", fields = { n = 1 } },
      { text = "text", fields = "more" },
    }, details)
  end)

  it("can be filtered by agent, task, type, correlation, time and number", function()
    local s = scene.troupe({ a = function() end, b = function() end })
    assert(s:send("user", { to = "a", payload = "x", task_id = "T1", correlation_id = "c1" }))
    s:run()
    s:advance(1000)
    assert(s:send("user", { to = "b", payload = "x", type = "other" }))
    s:run()
    assert.is_true(#s:activity({ agent = "a" }) < #s:activity())
    for _, entry in ipairs(s:activity({ task = "T1" })) do
      assert.equal("T1", entry.task_id)
    end
    assert.is_true(#s:activity({ task = "T1" }) >= 2)
    assert.is_true(#s:activity({ correlation_id = "c1" }) >= 2)
    for _, entry in ipairs(s:activity({ type = "other" })) do
      assert.equal("other", entry.type)
    end
    for _, entry in ipairs(s:activity({ since = "2026-01-01T00:00:01Z" })) do
      assert.equal("2026-01-01T00:00:01.000Z", entry.time)
    end
    for _, entry in ipairs(s:activity({ ["until"] = "2026-01-01T00:00:01Z" })) do
      assert.equal("2026-01-01T00:00:00.000Z", entry.time)
    end
    assert.has_error(function() s:activity({ limit = 0 }) end)
    local all, last = s:activity(), s:activity({ limit = 2 })
    assert.same({ all[#all - 1], all[#all] }, last)
  end)

  it("raises on an unknown filter", function()
    local s = scene.troupe({})
    assert.is_false(pcall(s.activity, s, { colour = "red" }))
    assert.is_false(pcall(s.messages, s, { from = "a" }))
    assert.is_false(pcall(s.messages, s, { agent = 7 }))
    assert.is_false(pcall(s.activity, s, { since = "yesterday" }))
  end)
end)
