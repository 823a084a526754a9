-- The activity log: one id finds everything that followed from an order, and queries filter
-- by agent, task, type, chain and time.

local scene = require("scene")

-- user -> root -> clerk, who asks the person and reports back.
local function office(options)
  options = options or {}
  options.app = function(s)
    s:role({ id = "clerk", name = "clerk", behaviour = { task = function(clerk, message)
      local verdict = clerk:escalate({ title = "may I?" })
      clerk:complete(message, { decision = verdict.decision })
    end } })
    s:root(function(root, message)
      if message.type == "result" then
        root:send_message({ to = "user", type = "status_report", payload = "all done" })
      elseif message.type == "order" then
        root:spawn_agent("clerk", scene.brief(), { id = "clerk" })
        root:send_message({ to = "clerk", type = "task", payload = { task_id = "t1" } })
      end
    end)
  end
  return scene.new(options)
end

local function order(s, fields)
  local send = { to = "root", type = "order", payload = "x" }
  for name, value in pairs(fields or {}) do
    send[name] = value
  end
  return assert(s:send("user", send)).messageId
end

local function decide(s)
  s:run()
  assert(s:decide(s:inbox()[1].id, { decision = "approve" }))
  s:run()
end

local function lines(rows)
  local list = {}
  for _, row in ipairs(rows) do
    list[#list + 1] = ("%s %s%s"):format(row.agent, row.event, row.type and " " .. row.type or "")
  end
  return list
end

-- All in one millisecond except the decision, each cause before its effects.
local CHAIN = {
  "user sent order", "root sent task", "clerk task_opened", "root processed order",
  "clerk task_start", "clerk escalation", "clerk blocked", "clerk decision", "clerk unblocked",
  "clerk sent result", "clerk task_end", "clerk processed task", "root sent status_report",
  "root processed result", "user processed status_report",
}

describe("the activity of a chain", function()
  after_each(scene.close)

  it("is found by the id of its first message: from order to decision to result", function()
    local s = office()
    local id = order(s)
    decide(s)
    assert.same(CHAIN, lines(s:activity({ correlation_id = id })))
  end)

  it("is found by the id that was given, and by no other", function()
    local s = office()
    local id = order(s, { correlation_id = "order-7" })
    decide(s)
    assert.same(CHAIN, lines(s:activity({ correlation_id = "order-7" })))
    assert.same({}, s:activity({ correlation_id = id }))
  end)

  it("is the same whatever crashes come between", function()
    local s = office()
    local id = order(s)
    for _ = 1, 4 do
      s:step()
      s:crash()
      s:recover()
    end
    s:run()
    s:crash()
    s:recover()
    decide(s)
    s:crash()
    s:recover()
    assert.same(CHAIN, lines(s:activity({ correlation_id = id })))
  end)

  it("does not mix with another chain", function()
    local s = office()
    local first = order(s)
    s:run()
    local second = order(s)
    s:run()
    decide(s)
    local seen = {}
    for _, id in ipairs({ first, second }) do
      for _, row in ipairs(s:activity({ correlation_id = id })) do
        local key = row.event .. row.time .. (row.message_id or row.detail or "")
        assert.is_nil(seen[key], key)
        seen[key] = true
      end
    end
  end)

  it("has the messages under the same id", function()
    local s = office()
    local id = order(s)
    decide(s)
    local types = {}
    for _, message in ipairs(s:messages({ correlation_id = id })) do
      types[#types + 1] = message.type
    end
    assert.same({ "order", "task", "result", "status_report" }, types)
  end)

  it("continues in a reply given while another message is handled", function()
    local answer
    local s = scene.troupe({
      a = function(a) answer = a:request({ to = "b", payload = "?" }) end,
      b = function(b, message)
        if message.type == "now" then
          assert(b:reply(b.state.asked, "late but well"))
        else
          b.state.asked = message.id
        end
      end,
    })
    local id = assert(s:send("user", { to = "a", payload = "go" })).messageId
    s:advance(10)
    local other = assert(s:send("user", { to = "b", type = "now", payload = "go" })).messageId
    s:run()
    assert.equal("late but well", answer.payload.text)
    assert.equal(id, answer.correlation_id)
    assert.equal(3, #s:messages({ correlation_id = id }))
    assert.equal(1, #s:messages({ correlation_id = other }))
  end)

  it("includes failures, logs, timeouts and holds", function()
    local s = scene.troupe({
      a = function(a)
        a:log("info", "here")
        a:receive({ from = "root", timeout_ms = 5 })
        a:pause("c")
        a:sleep(1)
        error("boom")
      end,
      root = function(root, message)
        if message.type == "x" then
          root:pause("b")
        end
      end,
      b = function() end,
    }, { quiet = true })
    local id = scene.tell(s, "a")
    local seen = table.concat(lines(s:activity({ correlation_id = id })), "\n")
    for _, event in ipairs({ "a log", "a blocked", "a unblocked", "a turn_failed", "a dead" }) do
      assert.matches(event, seen, 1, true)
    end
    id = scene.tell(s, "root", "go", "x")
    assert.same({ "user sent x", "b paused", "root processed x" },
      lines(s:activity({ correlation_id = id })))
  end)
end)

describe("the activity", function()
  after_each(scene.close)

  local s, id

  before_each(function()
    s = office()
    id = order(s)
    s:advance(1000)
    decide(s)
  end)

  it("can be filtered by agent", function()
    for _, row in ipairs(s:activity({ agent = "clerk" })) do
      assert.is_string(row.event)
    end
    assert.is_true(#s:activity({ agent = "clerk" }) < #s:activity())
    assert.same({}, s:activity({ agent = "nobody" }))
  end)

  it("can be filtered by task", function()
    local rows = lines(s:activity({ task = "t1" }))
    for _, line in ipairs({ "clerk task_opened", "clerk task_start", "clerk escalation",
      "clerk decision", "clerk task_end", "clerk sent result", "clerk blocked" }) do
      assert.matches(line, table.concat(rows, "\n"), 1, true)
    end
  end)

  it("can be filtered by type of message or event", function()
    assert.same({ "clerk sent result", "root processed result" },
      lines(s:activity({ type = "result" })))
    assert.same({ "clerk decision" }, lines(s:activity({ type = "decision" })))
  end)

  it("can be filtered by time, and limited to the latest", function()
    local all = s:activity({ correlation_id = id })
    local later = s:activity({ correlation_id = id, since = "2026-01-01T00:00:01Z" })
    local before = s:activity({ correlation_id = id, ["until"] = "2026-01-01T00:00:01Z" })
    assert.equal(#all, #later + #before)
    assert.matches("clerk decision", table.concat(lines(later), "\n"), 1, true)
    assert.is_nil(table.concat(lines(before), "\n"):find("clerk decision", 1, true))
    assert.same({ all[#all - 1], all[#all] }, s:activity({ correlation_id = id, limit = 2 }))
    assert.same({ "clerk blocked" }, lines(s:activity({ correlation_id = id, agent = "clerk",
      type = "blocked" })))
  end)
end)
