-- Dead letters keep the whole message, can be redelivered or dropped, and every message is
-- accounted for.
--
-- Covers: core/kernel/mail/dead.c, core/kernel/turns/waiting.c

local property = require("property")
local scene = require("scene")

describe("a dead letter", function()
  after_each(scene.close)

  local function with_failing()
    local state = { fails = true, seen = {} }
    local s = scene.troupe({
      a = function(_, message)
        if state.fails then
          error("boom")
        end
        state.seen[#state.seen + 1] = message
      end,
    })
    state.id = scene.tell(s, "a", { text = "x", n = 1 })
    return s, state
  end

  it("keeps the whole message, the reason and the time", function()
    local s, state = with_failing()
    local letter = s:dead_letters()[1]
    assert.equal(state.id, letter.id)
    assert.same({ text = "x", n = 1 }, letter.payload)
    assert.equal("user", letter.from)
    assert.equal("a", letter.to)
    assert.equal("dead", letter.status)
    assert.equal("2026-01-01T00:00:00.700Z", letter.finished_at)
    local reason = scene.reason(letter)
    assert.equal("script_error", reason.error)
    assert.matches("boom", reason.message, 1, true)
    assert.matches("stack traceback", reason.traceback, 1, true)
  end)

  it("is redelivered with the same id and a higher attempt", function()
    local s, state = with_failing()
    state.fails = false
    assert.is_true(s:redeliver(state.id))
    s:run()
    assert.equal(1, #state.seen)
    assert.equal(state.id, state.seen[1].id)
    assert.equal(2, state.seen[1].attempt)
    assert.same({}, s:dead_letters())
    assert.same({ sent = 2, processed = 2, pending = 0, expired = 0, dead = 0, dropped = 0,
      cancelled = 0 }, scene.counts(s))
  end)

  it("may die again, and is counted once", function()
    local s, state = with_failing()
    s:advance(60001) -- otherwise the agent would have failed for good
    s:redeliver(state.id)
    s:run()
    assert.equal(1, #s:dead_letters())
    assert.equal(2, s:dead_letters()[1].attempt)
    assert.equal(1, s:stats().dead)
    assert.equal(2, s:stats().sent)
  end)

  it("goes last within its priority when redelivered", function()
    local order = {}
    local s = scene.troupe({
      a = function(agent, message)
        if message.payload.text == "bad" and message.attempt == 1 then
          error("boom")
        elseif message.type == "hold" then
          agent:sleep(10)
        else
          order[#order + 1] = message.payload.text
        end
      end,
    })
    local bad = scene.tell(s, "a", "bad")
    assert(s:send("user", { to = "a", type = "hold", payload = "x" }))
    s:advance(0)
    assert(s:send("user", { to = "a", payload = "1" }))
    s:redeliver(bad)
    assert(s:send("user", { to = "a", payload = "2" }))
    s:run()
    assert.same({ "1", "bad", "2" }, order)
  end)

  it("that had expired is handled when redelivered", function()
    local seen = 0
    local s = scene.troupe({
      a = function(agent, message)
        if message.type == "hold" then
          agent:sleep(100)
        else
          seen = seen + 1
        end
      end,
    })
    assert(s:send("user", { to = "a", type = "hold", payload = "x" }))
    s:advance(0)
    local sent = assert(s:send("user", { to = "a", payload = "x", ttl_seconds = 0.01 }))
    s:run()
    assert.equal(1, s:stats().expired)
    assert.is_true(s:redeliver(sent.messageId))
    s:run()
    assert.equal(1, seen)
    assert.equal(0, s:stats().expired)
  end)

  it("can be dropped for good", function()
    local s, state = with_failing()
    assert.is_true(s:drop(state.id))
    assert.same({}, s:dead_letters())
    assert.equal(1, s:stats().dropped)
    assert.equal(0, s:stats().dead)
    assert.equal("dropped", scene.message(s, { type = "general" }).status)
    local again, err = s:redeliver(state.id)
    assert.is_nil(again)
    assert.equal("message_not_found", err.error)
    assert.is_string(err.message)
  end)

  it("can be dropped under the checker", function()
    local s = scene.new({ faults = {}, app = function(s)
      s:root(function(root)
        root:sleep(1000)
      end)
    end })
    assert(s:send("user", { to = "root", payload = "x" }))
    local id = assert(s:send("user", { to = "root", payload = "y", ttl_seconds = 0.5 })).messageId
    s:run()
    assert.is_true(s:drop(id))
    s:run()
    assert(s:check())
    assert.equal(1, s:stats().dropped)
  end)

  it("is kept, and redelivery refused, when its receiver has terminated", function()
    local s = scene.troupe({
      a = function(agent, message)
        if message.type == "end" then
          return agent:stop()
        end
        error("boom")
      end,
    })
    local id = scene.tell(s, "a", "x")
    s:advance(60001) -- otherwise the agent would have failed for good
    assert(s:send("user", { to = "a", type = "end", payload = "x" }))
    s:run()
    local again, err = s:redeliver(id)
    assert.same({ nil, "agent_stopped", "a" }, { again, err.error, err.agentId })
    assert.equal(1, s:dead_letters()[1].attempt)
    assert.is_true(s:drop(id))
  end)

  it("must exist to be redelivered or dropped", function()
    local s = scene.troupe({})
    for _, id in ipairs({ "nonsense", "msg_20260101_000000_000000000000009" }) do
      local _, err = s:redeliver(id)
      assert.equal("message_not_found", err.error)
      _, err = s:drop(id)
      assert.equal("message_not_found", err.error)
    end
  end)

  it("survives a crash, as do redelivery and dropping", function()
    local s, state = with_failing()
    s:crash()
    s:recover()
    assert.equal(state.id, s:dead_letters()[1].id)
    state.fails = false
    assert.is_true(s:redeliver(state.id))
    s:crash()
    s:recover()
    s:run()
    assert.equal(1, #state.seen)
    assert.equal(2, state.seen[1].attempt)
    assert.same({}, s:dead_letters())
    state.fails = true
    local other = scene.tell(s, "a", "y")
    assert.is_true(s:drop(other))
    s:crash()
    s:recover()
    assert.same({}, s:dead_letters())
    assert.equal(1, s:stats().dropped)
  end)
end)

describe("the message totals", function()
  after_each(scene.close)

  local ACTS = {
    a = function(agent, message)
      local kind = message.payload.kind
      if kind == "fail" then
        error("boom")
      elseif kind == "sleep" then
        agent:sleep(40)
      elseif kind == "request" then
        agent:request({ to = "b", payload = { kind = "sleep" }, timeout_ms = message.payload.n })
      elseif kind == "receive" then
        agent:receive({ from = "user", timeout_ms = message.payload.n })
      elseif kind == "send" then
        agent:send_message({ to = { "b", "a", "nobody" }, payload = { kind = "plain" },
          ttl_seconds = 0.001 * (message.payload.n + 1), delay_ms = message.payload.n })
      end
    end,
    b = function(agent, message)
      if message.payload.kind == "sleep" then
        agent:sleep(20)
        return "slept"
      end
    end,
  }

  local function handle_letter(s, op)
    local letters = s:dead_letters()
    if #letters > 0 then
      s[op.kind](s, letters[op.n % #letters + 1].id)
    end
  end

  local DO = {
    step = function(s) s:step() end,
    run = function(s) s:run() end,
    advance = function(s, op) s:advance(op.n) end,
    redeliver = handle_letter,
    drop = handle_letter,
    crash = function(s)
      s:crash()
      s:recover()
    end,
    send = function(s, op)
      assert(s:send("user", {
        to = op.to, payload = { kind = op.what, n = op.n },
        ttl_seconds = op.ttl > 0 and op.ttl / 1000 or nil,
        delay_ms = op.delay > 0 and op.delay or nil,
      }))
    end,
  }

  local KINDS = { "send", "send", "send", "step", "step", "run", "advance", "redeliver", "drop",
    "crash" }
  local WHAT = { "plain", "fail", "sleep", "request", "receive", "send" }

  local function make_history(random)
    return random:list(1, 25, function()
      return {
        kind = random:pick(KINDS), to = random:pick({ "a", "b" }), what = random:pick(WHAT),
        n = random:between(0, 60), ttl = random:chance(30) and random:between(1, 50) or 0,
        delay = random:chance(20) and random:between(1, 50) or 0,
      }
    end)
  end

  it("balance after every step of every history (500 cases)", function()
    property.check({ cases = 500, seed = 5 }, make_history, function(history)
      local s = scene.troupe(ACTS, { quiet = true })
      for i, op in ipairs(history) do
        DO[op.kind](s, op)
        local holds, why = scene.law_holds(s)
        if not holds then
          return false, ("after %d: %s"):format(i, why)
        end
      end
      repeat -- an agent that has failed retries what it kept when it is resumed
        s:run()
        s:resume("All")
      until not s:step()
      local counts = scene.counts(s)
      local letters = #s:dead_letters()
      scene.close()
      return counts.pending == 0 and letters == counts.dead + counts.expired,
        "at rest: " .. letters .. " letters, " .. counts.pending .. " pending"
    end)
  end)
end)
