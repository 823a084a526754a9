-- Mailboxes: order, delayed delivery and expiry.

local property = require("property")
local scene = require("scene")

-- A society whose agent `busy` sleeps for a second and then records what it gets.
local function with_busy(acts)
  local seen = {}
  acts = acts or {}
  acts.busy = function(agent, message)
    if message.type == "hold" then
      agent:sleep(1000)
    else
      seen[#seen + 1] = message.payload.n or message.payload.text
    end
  end
  local s = scene.troupe(acts)
  assert(s:send("user", { to = "busy", type = "hold", payload = "x" }))
  s:advance(0)
  return s, seen
end

describe("a mailbox", function()
  after_each(scene.close)

  it("delivers urgent before high, normal and low", function()
    local s, seen = with_busy()
    for _, name in ipairs({ "low", "normal", "urgent", "high" }) do
      assert(s:send("user", { to = "busy", payload = name, priority = name }))
    end
    s:run()
    assert.same({ "urgent", "high", "normal", "low" }, seen)
  end)

  it("accepts P0 to P3 for the same four priorities", function()
    local s, seen = with_busy()
    for _, name in ipairs({ "P3", "P2", "P0", "P1" }) do
      assert(s:send("user", { to = "busy", payload = name, priority = name }))
    end
    s:run()
    assert.same({ "P0", "P1", "P2", "P3" }, seen)
    assert.equal("urgent", scene.message(s, {}, { priority = "urgent" }).priority)
  end)

  it("treats a message without a priority as normal", function()
    local s, seen = with_busy()
    assert(s:send("user", { to = "busy", payload = "none" }))
    assert(s:send("user", { to = "busy", payload = "normal", priority = "normal" }))
    assert(s:send("user", { to = "busy", payload = "high", priority = "high" }))
    s:run()
    assert.same({ "high", "none", "normal" }, seen)
  end)

  it("is handled one message at a time: the next starts when the last has finished", function()
    local seen = {}
    local s = scene.troupe({
      a = function(agent, message)
        seen[#seen + 1] = "begin " .. message.payload.text
        agent:sleep(10)
        seen[#seen + 1] = "end " .. message.payload.text
      end,
    })
    assert(s:send("user", { to = "a", payload = "1" }))
    assert(s:send("user", { to = "a", payload = "2", priority = "urgent" }))
    s:step()
    s:run()
    assert.equal(4, #seen)
    assert.equal(seen[1]:gsub("begin", "end"), seen[2])
    assert.equal(seen[3]:gsub("begin", "end"), seen[4])
  end)

  it("does not interrupt a handler for an urgent message", function()
    local s, seen = with_busy()
    assert(s:send("user", { to = "busy", payload = "now", priority = "urgent" }))
    s:advance(999)
    assert.same({}, seen)
    s:advance(1)
    assert.same({ "now" }, seen)
  end)

  it("is blocked by an activation in back-off", function()
    local seen, fails = {}, true
    local s = scene.troupe({
      a = function(_, message)
        seen[#seen + 1] = message.payload.text
        if message.payload.text == "bad" and fails then
          fails = false
          error("once")
        end
      end,
    })
    assert(s:send("user", { to = "a", payload = "bad" }))
    assert(s:send("user", { to = "a", payload = "good", priority = "urgent" }))
    s:run()
    table.sort(seen)
    assert.same({ "bad", "bad", "good" }, seen)
    local messages = s:messages({ agent = "a", type = "general" })
    assert.is_true(messages[1].finished_at == messages[2].finished_at
      or messages[2].finished_at == "2026-01-01T00:00:00.000Z")
  end)

  local PRIORITIES = { "urgent", "high", "normal", "low" }
  local RANK = { urgent = 1, high = 2, normal = 3, low = 4 }

  local function expected_order(sends)
    local order, at = {}, 0
    for n, send in ipairs(sends) do
      at = at + send.pause
      local due = math.max(at + send.delay, at)
      order[n] = { n = n, rank = RANK[send.priority], due = due }
    end
    table.sort(order, function(a, b)
      if a.rank ~= b.rank then
        return a.rank < b.rank
      elseif a.due ~= b.due then
        return a.due < b.due
      end
      return a.n < b.n
    end)
    local numbers = {}
    for i, each in ipairs(order) do
      numbers[i] = each.n
    end
    return numbers
  end

  it("orders by priority, then by due time, then by arrival (500 cases)", function()
    property.check({ cases = 500, seed = 11 }, function(random)
      return random:list(0, 12, function()
        return {
          from = random:pick({ "user", "root", "x" }), priority = random:pick(PRIORITIES),
          delay = random:chance(30) and random:between(1, 30) or 0,
          pause = random:chance(30) and random:between(1, 20) or 0,
        }
      end)
    end, function(sends)
      local s, seen = with_busy({ x = function() end })
      for n, send in ipairs(sends) do
        s:advance(send.pause)
        assert(s:send(send.from, {
          to = "busy", payload = { n = n }, priority = send.priority,
          delay_ms = send.delay > 0 and send.delay or nil,
        }))
      end
      s:run()
      scene.close()
      local wanted = table.concat(expected_order(sends), " ")
      return wanted == table.concat(seen, " "), wanted .. " / " .. table.concat(seen, " ")
    end)
  end)
end)

describe("a message with a delivery time", function()
  after_each(scene.close)

  local function times(options)
    local at
    local s = scene.troupe({ a = function(agent) at = agent:now() end })
    local start = s:now()
    options.to, options.payload = "a", "x"
    assert(s:send("user", options))
    s:run()
    return at - start
  end

  it("is delivered after delay_ms, to the millisecond", function()
    assert.equal(250, times({ delay_ms = 250 }))
    assert.equal(0, times({ delay_ms = 0 }))
  end)

  it("takes delay_ms or deliver_at, not both", function()
    for _, delay_ms in ipairs({ 0, 1000 }) do
      assert.matches("give delay_ms or deliver_at, not both", scene.raised(function(root)
        root:send_message({ to = "user", payload = "x", delay_ms = delay_ms, deliver_at = 1 })
      end), 1, true)
    end
  end)

  it("is delivered at deliver_at, a time or ms, or immediately if that has passed", function()
    assert.equal(1500, times({ deliver_at = "2026-01-01T00:00:01.500Z" }))
    assert.equal(1500, times({ deliver_at = 1767225601500 }))
    assert.equal(0, times({ deliver_at = "2025-01-01T00:00:00Z" }))
  end)

  it("is pending, and shown as pending, until then", function()
    local s = scene.troupe({ a = function() end })
    assert(s:send("user", { to = "a", payload = "x", delay_ms = 100 }))
    s:advance(99)
    assert.equal(1, s:stats().pending)
    assert.equal("pending", scene.message(s, { type = "general" }).status)
    s:advance(1)
    assert.equal(0, s:stats().pending)
  end)

  it("keeps its delivery time across a crash", function()
    local at
    local s = scene.troupe({ a = function(agent) at = agent:now() end })
    local start = s:now()
    assert(s:send("user", { to = "a", payload = "x", delay_ms = 100 }))
    s:advance(40)
    s:crash()
    s:recover()
    s:run()
    assert.equal(100, at - start)
  end)
end)

describe("a message with a time to live", function()
  after_each(scene.close)

  it("is handled if its turn comes a millisecond before it expires", function()
    local s, seen = with_busy()
    assert(s:send("user", { to = "busy", payload = "x", ttl_seconds = 1.001 }))
    s:run()
    assert.same({ "x" }, seen)
    assert.equal(0, s:stats().expired)
  end)

  it("becomes a dead letter with reason expired at the very millisecond it expires", function()
    local s, seen = with_busy()
    assert(s:send("user", { to = "busy", payload = "x", ttl_seconds = 0.5 }))
    s:advance(499)
    assert.equal(0, s:stats().expired)
    s:advance(1)
    assert.equal(1, s:stats().expired)
    s:run()
    assert.same({}, seen)
    local letters = s:dead_letters()
    assert.equal(1, #letters)
    assert.equal("expired", letters[1].status)
    assert.equal("expired", scene.reason(letters[1]).error)
    assert.equal("2026-01-01T00:00:00.500Z", letters[1].finished_at)
    assert.same({ text = "x" }, letters[1].payload)
  end)

  it("is never delivered if it expires before it is due", function()
    local s, seen = with_busy()
    assert(s:send("user", { to = "busy", payload = "x", ttl_seconds = 2, delay_ms = 3000 }))
    s:run()
    assert.same({}, seen)
    assert.equal(1, s:stats().expired)
  end)

  it("also expires while the society is down", function()
    local s, seen = with_busy()
    assert(s:send("user", { to = "busy", payload = "x", ttl_seconds = 0.5 }))
    s:crash()
    s:recover()
    s:run()
    assert.same({}, seen)
    assert.equal(1, s:stats().expired)
    assert.equal(1, #s:dead_letters())
  end)

  it("does not expire once handling has begun", function()
    local ended
    local s = scene.troupe({
      a = function(agent)
        agent:sleep(5000)
        ended = true
      end,
    })
    assert(s:send("user", { to = "a", payload = "x", ttl_seconds = 1 }))
    s:run()
    assert.is_true(ended)
    assert.equal(0, s:stats().expired)
  end)
end)
