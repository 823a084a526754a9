-- Where introductions end: after too many hops, after the fact, and with their target.

local scene = require("scene")

local BY_AGENTS = { contacts = "open", introductions = "agent" }

-- The introduction requests sent in a society.
local function requests(s)
  local list = {}
  for _, message in ipairs(s:messages({ type = "introduction_request" })) do
    list[#list + 1] = message
  end
  return list
end

describe("a request that two agents pass to each other", function()
  after_each(scene.close)

  -- What the last of them got, and the society.
  local function ping_pong(config, pass)
    local refusal
    local function on(other)
      return function(agent, message)
        if message.type ~= "introduction_request" then
          return
        end
        local _, err = pass(agent, other, message)
        if err then
          refusal = refusal or err
          agent:decline(message, err.reason or err.error)
        end
      end
    end
    local s = scene.troupe({
      a = on("b"), b = on("a"),
      x = function(x)
        x.state.err = select(2, x:request_introduction({ to = "a", reason = "r",
          required_capability = "c" }))
      end,
    }, { policies = BY_AGENTS, config = config })
    scene.tell(s, "x")
    return refusal, s
  end

  local function by_request(agent, other, message)
    return agent:request_introduction({ to = other, reason = message.payload.reason,
      required_capability = message.payload.required_capability })
  end

  local function by_send(agent, other, message)
    return agent:send_message({ to = other, type = "introduction_request",
      payload = message.payload })
  end

  it("ends by a hop limit, with a refusal that names who was asked", function()
    local refusal, s = ping_pong(nil, by_send)
    assert.equal("no_introduction", refusal.error)
    assert.is_string(refusal.reason)
    assert.equal(18, #refusal.via)
    assert.same({ "x", "a", "b", "a" }, table.move(refusal.via, 1, 4, 1, {}))
    assert.equal(17, #requests(s))
  end)

  it("is a bounded amount of work, also in bytes", function()
    local _, s = ping_pong(nil, by_send)
    local list = requests(s)
    for number, message in ipairs(list) do
      assert.equal(number == 1 and 0 or number, #(message.payload.via or {}))
    end
    assert.is_true(s:stats().sent < 100)
  end)

  it("ends by the limit that is set", function()
    local refusal, s = ping_pong({ introduction_hops_max = 3 }, by_send)
    assert.equal(5, #refusal.via)
    assert.equal(4, #requests(s))
  end)

  it("ends where they wait for each other, and whoever asked is told", function()
    local refusal, s = ping_pong(nil, by_request)
    assert.equal("deadlock", refusal.error)
    assert.is_true(#requests(s) <= 17)
    assert.equal("no_introduction", s:agent("x").state.err.error)
  end)
end)

describe("an introduction after the fact", function()
  after_each(scene.close)

  -- b answers x's request by act; returns what it returned, and the society.
  local function answer(act, timeout_ms)
    local results
    local s = scene.troupe({
      b = function(b, message)
        if message.type == "introduction_request" then
          results = act(b, message)
        end
      end,
      x = function(x)
        x.state.err = select(2, x:request_introduction({ to = "b", reason = "r",
          required_capability = "c", timeout_ms = timeout_ms }))
      end,
      t = function() end,
    }, { policies = BY_AGENTS })
    assert(s:send("t", { to = "b", payload = "hello" }))
    scene.tell(s, "x")
    return results, s
  end

  for name, call in pairs({
    introduce = function(b, message) return b:introduce(message, { target = "t" }) end,
    decline = function(b, message) return b:decline(message, "nobody") end,
  }) do
    it("is refused after the time-out: " .. name, function()
      local err, s = answer(function(b, message)
        b:sleep(5000)
        return select(2, call(b, message))
      end, 1000)
      assert.equal("unsolicited_introduction", err.error)
      assert.equal("timeout", s:agent("x").state.err.error)
      assert.same({}, s:messages({ type = "introduction_response" }))
    end)

    it("is refused a second time, in the same turn or later: " .. name, function()
      for _, ms in ipairs({ 0, 10 }) do
        local err, s = answer(function(b, message)
          assert(call(b, message))
          if ms > 0 then
            b:sleep(ms)
          end
          return select(2, b:introduce(message, { target = "t" }))
        end)
        assert.equal("unsolicited_introduction", err.error)
        assert.equal(1, #s:messages({ type = "introduction_response" }))
        scene.close()
      end
    end)
  end
end)

describe("somebody who ends", function()
  after_each(scene.close)

  local function introduced(act)
    local err, seen
    local s = scene.troupe({
      root = function(root, message)
        if message.type == "introduction_request" then
          err = act(root, message)
        end
      end,
      x = function(x)
        seen = select(2, x:request_introduction({ to = "root", reason = "r",
          required_capability = "c", timeout_ms = 1000 }))
      end,
      t = function() end,
    }, { policies = BY_AGENTS })
    scene.tell(s, "x")
    return err, seen, s
  end

  it("in the same turn cannot be introduced", function()
    for _, force in ipairs({ true, false }) do
      local err, _, s = introduced(function(root, message)
        assert(root:terminate("t", { force = force }))
        local refusal = select(2, root:introduce(message, { target = "t" }))
        assert(root:decline(message, "gone"))
        return refusal
      end)
      assert.equal("agent_not_found", err.error)
      assert.is_nil(s:agent("t"))
      scene.close()
    end
  end)

  it("right after the introduction is named as the reason", function()
    local _, seen = introduced(function(root, message)
      assert(root:introduce(message, { target = "t" }))
      assert(root:terminate("t", { force = true }))
    end)
    assert.equal("no_introduction", seen.error)
    assert.matches("has ended", seen.reason, 1, true)
  end)
end)
