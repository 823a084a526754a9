-- Messages in transit, that is sent but not yet due: waiting for one is no deadlock until
-- it is removed from transit. Its time to live runs there as well.
--
-- Covers: core/kernel/mail/notice.c, core/parts/expiry/expiry.c

local scene = require("scene")

local function order(s, id, payload)
  assert(s:send("user", { to = id, payload = payload }))
  s:advance(0)
end

local function deadlocks(s)
  return #s:activity({ type = "deadlock" })
end

-- `a` owes `b` a task, `b` waits for it, `a` waits for `b`, and root may cancel it.
local function debtors(send)
  local ends = {}
  local s = scene.troupe({
    a = function(agent, message)
      if message.payload.go then
        send(agent)
        local got, err = agent:receive({ from = "b", type = "thanks" })
        ends.a = got or err
      end
    end,
    b = function(agent, message)
      if message.type == "task" then
        agent:fail(message, "not today", { retryable = true })
      elseif message.payload.go then
        local got, err = agent:receive({ from = "a", type = "task" })
        ends.b = got or err
      end
    end,
    root = function(root, message)
      assert(root:cancel(message.payload.cancel))
    end,
  })
  return s, ends
end

describe("a deadlock that a message in transit kept from forming", function()
  after_each(scene.close)

  it("is detected when a task that is not due yet is cancelled", function()
    local s, ends = debtors(function(agent)
      assert(agent:send_message({ to = "b", type = "task", payload = { task_id = "T" },
        delay_ms = 10000 }))
    end)
    order(s, "a", { go = true })
    order(s, "b", { go = true })
    assert.equal(0, deadlocks(s))
    order(s, "root", { cancel = "T" })
    assert.equal(1, deadlocks(s))
    assert.same({ "a", "b" }, ends.a.cycle)
    assert.is_true(scene.law_holds(s))
  end)

  it("is detected when a task that waits for a retry is cancelled", function()
    local s, ends = debtors(function() end)
    assert(s:send("a", { to = "b", type = "task", payload = { task_id = "T" } }))
    s:advance(0)
    order(s, "a", { go = true })
    order(s, "b", { go = true })
    assert.equal(0, deadlocks(s))
    order(s, "root", { cancel = "T" })
    assert.equal(1, deadlocks(s))
    assert.same({ "a", "b" }, ends.a.cycle)
  end)

  it("is detected at the start when the message in transit is gone", function()
    local s, ends = debtors(function(agent)
      assert(agent:send_message({ to = "b", type = "task", payload = { task_id = "T" },
        delay_ms = 10000 }))
    end)
    order(s, "a", { go = true })
    order(s, "b", { go = true })
    s:crash()
    s:recover()
    s:advance(0)
    assert.equal(0, deadlocks(s))
    order(s, "root", { cancel = "T" })
    assert.equal(1, deadlocks(s))
    assert.equal("deadlock", ends.a.error)
  end)

  it("is detected when the message arrives and another receive takes it", function()
    local ends = {}
    local s = scene.troupe({
      a = function(agent, message)
        if message.payload.go then
          agent:send_message({ to = "b", type = "introduction_request", delay_ms = 1000,
            payload = { reason = "?", required_capability = "x" } })
          local got, err = agent:receive({ from = "b", type = "thanks" })
          ends.a = got or err
        end
      end,
      b = function(agent, message)
        if message.payload.go then
          agent:receive({ from = "a", type = "introduction_request" })
        end
      end,
    })
    order(s, "a", { go = true })
    order(s, "b", { go = true })
    assert.equal(0, deadlocks(s))
    s:advance(1000)
    assert.equal(1, deadlocks(s)) -- the host has answered for `b`, who never sees it
    assert.same({ "a", "b" }, ends.a.cycle)
  end)
end)

-- `a` asks the others at a barrier; each of them answers after `delays[id]`, or never, and
-- then asks `a`.
local function meeting(delays, timeout_ms)
  local seen, acts = {}, {}
  local agents = {}
  for id in pairs(delays) do
    agents[#agents + 1] = id
    acts[id] = function(agent, message)
      if message.type ~= "checkpoint_request" then
        return
      end
      if delays[id] then
        assert(agent:send_message({ to = "a", type = "checkpoint_response", delay_ms = delays[id],
          payload = { checkpoint_id = message.payload.checkpoint_id, v = id } }))
      end
      local answer, err = agent:request({ to = "a", payload = "now?", timeout_ms = 60000 })
      seen[id] = answer and answer.payload.text or err.error
    end
  end
  table.sort(agents)
  acts.a = function(agent, message)
    if type(message.payload) == "table" and message.payload.go then
      local got, err = agent:checkpoint({ agents = agents, timeout_ms = timeout_ms or 60000 })
      seen.got, seen.err, seen.at = got, err, agent:now()
      return nil
    end
    return "yes"
  end
  local s = scene.troupe(acts)
  local start = s:now()
  order(s, "a", { go = true })
  return s, seen, start
end

describe("a checkpoint whose answer is in transit", function()
  after_each(scene.close)

  it("is no deadlock with an agent that answers and then asks back", function()
    local s, seen, start = meeting({ b = 1000 })
    assert.equal(0, deadlocks(s))
    s:run()
    assert.equal(0, deadlocks(s))
    assert.same({ b = { v = "b" } }, seen.got.responses)
    assert.equal(start + 1000, seen.at)
    assert.equal("yes", seen.b)
  end)

  it("is no deadlock after a crash", function()
    local s, seen = meeting({ b = 1000 })
    s:crash()
    s:recover()
    s:run()
    assert.equal(0, deadlocks(s))
    assert.same({ b = { v = "b" } }, seen.got.responses)
  end)

  it("is still a deadlock with an agent whose answer is not in transit", function()
    local s, seen = meeting({ b = 1000, c = false })
    assert.equal(1, deadlocks(s))
    assert.same({ "a", "c" }, seen.err.cycle)
    s:run()
    assert.equal("yes", seen.b)
    assert.equal("yes", seen.c)
  end)

  it("is no deadlock whichever of two comes first", function()
    local s, seen, start = meeting({ b = 2000, c = 1000 })
    s:run()
    assert.equal(0, deadlocks(s))
    assert.same({}, seen.got.missing)
    assert.equal(start + 2000, seen.at)
  end)
end)

describe("a time to live that ends before the delay", function()
  after_each(scene.close)

  local function send(options)
    local told = {}
    local s = scene.troupe({
      a = function(agent, message)
        if message.type == "delivery_failed" then
          told[#told + 1] = { at = agent:now(), error = message.payload.error }
          return
        end
        local mail = { to = "b", payload = "x", delay_ms = 3600000, ttl_seconds = 1,
          requires_ack = true }
        for name, value in pairs(options or {}) do
          mail[name] = value
        end
        assert(agent:send_message(mail))
      end,
      b = function() error("nothing is to come") end,
    })
    local start = s:now()
    order(s, "a", {})
    return s, told, start
  end

  it("makes a dead letter when it ends, and the sender is notified then", function()
    local s, told, start = send()
    s:advance(999)
    assert.equal(1, s:stats().pending)
    s:advance(1)
    assert.equal("expired", s:dead_letters()[1].reason)
    assert.same({ { at = start + 1000, error = "expired" } }, told)
    assert.equal(1, #s:activity({ type = "expired" }))
    s:run()
    assert.equal(start + 1000, s:now())
    assert.is_true(scene.law_holds(s))
  end)

  it("does so after a restart, at the start if it ended while down", function()
    local s, told, start = send()
    s:crash()
    s:recover()
    s:advance(1000)
    assert.same({ { at = start + 1000, error = "expired" } }, told)
    assert.equal(1, #s:dead_letters())
    s, told, start = send()
    s:crash()
    s:advance(5000)
    s:recover()
    s:advance(0)
    assert.same({ { at = start + 5000, error = "expired" } }, told)
    assert.equal(0, s:stats().pending)
  end)

  it("fails the task that the message opened, and the request", function()
    local s = send({ type = "task", payload = { task_id = "T" } })
    s:advance(1000)
    assert.equal("failed", s:tasks({ task = "T" })[1].state)
    local got, at
    s = scene.troupe({
      a = function(agent)
        local _, err = agent:request({ to = "b", payload = "x", delay_ms = 3600000,
          ttl_seconds = 1, timeout_ms = 7200000 })
        got, at = err.error, agent:now()
      end,
      b = function() error("nothing is to come") end,
    })
    local start = s:now()
    order(s, "a", {})
    s:run()
    assert.equal("receiver_failed", got)
    assert.equal(start + 1000, at)
  end)

  it("applies to replies: an expired reply is not delivered", function()
    local got
    local s = scene.troupe({
      a = function(agent)
        local answer, err = agent:request({ to = "b", payload = "x", timeout_ms = 60000 })
        got = answer and "answer" or err.error
      end,
      b = function(agent, message)
        agent:send_message({ to = "a", type = "response", delay_ms = 5000, ttl_seconds = 1,
          payload = { query_id = message.id, answer = "late" } })
      end,
    })
    order(s, "a", {})
    s:advance(1000)
    assert.equal("expired", s:dead_letters()[1].reason)
    s:run()
    assert.equal("timeout", got)
  end)
end)
