-- An accepted reply in transit counts as given, whatever happens to its sender before it
-- arrives.

local scene = require("scene")

local function order(s, id, payload)
  assert(s:send("user", { to = id, payload = payload }))
  s:advance(0)
end

-- `a` asks `b`, which answers by a `response` with a delay of `delay_ms`, then does
-- `after`.
local function pair(delay_ms, after, options)
  local got = {}
  local s = scene.troupe({
    a = function(agent, message)
      if message.payload.go then
        local reply, err = agent:request({ to = "b", payload = "q", timeout_ms = 1e8 })
        got[#got + 1] = reply and reply.payload.answer or err.error
      end
    end,
    b = function(agent, message)
      if message.payload.text == "q" then
        assert(agent:send_message({ to = "a", type = "response", delay_ms = delay_ms,
          payload = { query_id = message.id, answer = "42" } }))
        after(agent, message)
      end
    end,
    root = function(root, message)
      if message.payload.kill then
        assert(root:terminate("b", { force = true }))
      end
    end,
  }, options)
  order(s, "a", { go = true })
  return s, got
end

local function assert_answered(s, got)
  s:run()
  assert.same({ "42" }, got)
  assert.equal(0, scene.counts(s).dropped)
  assert.is_true(scene.law_holds(s))
end

describe("a reply in transit", function()
  after_each(scene.close)

  it("arrives although its sender has stopped", function()
    local s, got = pair(1000, function(agent) agent:stop() end)
    assert.equal(1, #s:activity({ type = "stopped", agent = "b" }))
    assert.same({}, got)
    assert_answered(s, got)
  end)

  it("arrives although its sender was terminated by force", function()
    local s, got = pair(1000, function() end)
    order(s, "root", { kill = true })
    assert.equal(1, #s:activity({ type = "stopped", agent = "b" }))
    assert_answered(s, got)
  end)

  it("arrives although its sender terminated and a crash followed", function()
    local s, got = pair(1000, function(agent) agent:stop() end)
    s:crash()
    s:recover()
    assert_answered(s, got)
  end)

  it("arrives although the request became a dead letter", function()
    local s, got = pair(60000, function(agent)
      agent:sleep(1)
      error("boo")
    end)
    s:advance(10000)
    assert.equal(1, #s:dead_letters())
    assert.same({}, got)
    assert_answered(s, got)
  end)

  it("arrives although its sender has failed", function()
    local s, got = pair(60000, function(agent)
      agent:sleep(1)
      error("boo")
    end, { policies = { contacts = "open",
      supervision = { kind = "supervision", version = 1,
        retry_after = function() return 1 end,
        is_failed = function(request) return request.agent.id == "b" end } } })
    s:advance(10000)
    assert.equal("failed", s:agent("b").status)
    assert.same({}, got)
    assert_answered(s, got)
  end)

  it("arrives at a checkpoint although its sender has stopped", function()
    local answer
    local s = scene.troupe({
      a = function(agent, message)
        if message.payload.go then
          answer = agent:checkpoint({ agents = { "b" }, timeout_ms = 60000 })
        end
      end,
      b = function(agent, message)
        if message.type == "checkpoint_request" then
          agent:send_message({ to = "a", type = "checkpoint_response", delay_ms = 1000,
            payload = { checkpoint_id = message.payload.checkpoint_id, v = 1 } })
          agent:stop()
        end
      end,
    })
    order(s, "a", { go = true })
    assert.is_nil(answer)
    s:run()
    assert.same({}, answer.missing)
    assert.same({ v = 1 }, answer.responses.b)
  end)

  it("does not count if it expires before it is due", function()
    local told
    local s = scene.troupe({
      a = function(agent, message)
        if message.payload.go then
          told = select(2, agent:request({ to = "b", payload = "q", timeout_ms = 1e8 }))
        end
      end,
      b = function(agent, message)
        if message.payload.text == "q" then
          agent:send_message({ to = "a", type = "response", delay_ms = 5000, ttl_seconds = 1,
            payload = { query_id = message.id, answer = "42" } })
          agent:stop()
        end
      end,
    })
    order(s, "a", { go = true })
    assert.equal("receiver_failed", told.error)
    s:run()
    assert.is_true(scene.law_holds(s))
  end)

  -- With folded tables the letter is read from there, else from the journal.
  for _, is_folded in ipairs({ false, true }) do
    it("that expires while the society is down leaves nobody waiting for a dead letter"
      .. (is_folded and ", folded" or ""), function()
      local told
      local s = scene.troupe({
        a = function(agent, message)
          if message.payload.go then
            told = select(2, agent:request({ to = "b", payload = "q", timeout_ms = 1e8 }))
          end
        end,
        b = function(agent, message)
          if message.payload.text == "q" then
            agent:send_message({ to = "a", type = "response", delay_ms = 60000, ttl_seconds = 61,
              payload = { query_id = message.id, answer = "42" } })
            agent:sleep(1)
            error("boo")
          end
        end,
      })
      order(s, "a", { go = true })
      s:advance(10000)
      if is_folded then
        assert.equal(1, #s:dead_letters())
      end
      s:crash()
      s:advance(100000)
      s:recover()
      s:advance(0)
      assert.equal("receiver_failed", told.error)
      assert.equal(2, #s:dead_letters())
    end)
  end
end)
