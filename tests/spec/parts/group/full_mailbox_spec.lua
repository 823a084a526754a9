-- A full mailbox among many receivers: its owner is left out and named, the others are not
-- held up.
--
-- Covers: core/script/bindings/bind_group.c

local scene = require("scene")

local function alerts(s)
  local list = {}
  for _, message in ipairs(s:messages({ type = "alert" })) do
    list[#list + 1] = ("%s to %s: %s"):format(message.payload.alert_type, message.to,
      message.payload.agent)
  end
  return list
end

describe("a full mailbox", function()
  after_each(scene.close)

  -- `w` sleeps over its first message; `a` then runs `act`.
  local function stuck(act)
    local s = scene.troupe({
      a = function(a, message)
        if message.type ~= "broadcast" then
          act(a, message)
        end
      end,
      w = function(w) w:sleep(3600000) end,
      x = function() end,
    }, { config = { mailbox_max = 3 }, faults = {} })
    assert(s:send("user", { to = "w", payload = "sleep" }))
    s:advance(0)
    assert(s:send("user", { to = "a", payload = "go" }))
    return s
  end

  it("is left out of a broadcast, and the sender is notified", function()
    local got, errors = {}, nil
    local s = stuck(function(a)
      for i = 1, 6 do
        local sent = assert(a:broadcast({ payload = "m" .. i }))
        got[i] = sent.count
        errors = sent.partialErrors
        a:sleep(1)
      end
    end)
    s:advance(100)
    assert.equal(3, s:agent("w").queue_length)
    assert.same({ 4, 4, 4, 3, 3, 3 }, got)
    assert.equal(1, #errors)
    assert.equal("mailbox_full", errors[1].error)
    assert.equal("w", errors[1].agentId)
    assert.equal(3, errors[1].limit)
    assert.same({ "mailbox_full to root: w" }, alerts(s))
    local _, err = s:send("user", { to = "w", payload = "x" })
    assert.equal("mailbox_full", err.error) -- unread messages count
    s:crash()
    s:recover()
    assert.equal(3, s:agent("w").queue_length)
    assert(s:check())
    s:advance(3600000)
    assert(s:send("user", { to = "w", payload = "x" }))
  end)

  it("also fills by broadcasts of one turn; one without any reader is refused", function()
    local got = {}
    local s = stuck(function(a)
      for i = 1, 5 do
        local sent, err = a:broadcast({ payload = "m" .. i })
        got[i] = sent and sent.count or err
      end
    end)
    s:advance(100)
    assert.same({ 4, 4, 4 }, { got[1], got[2], got[3] })
    assert.equal("mailbox_full", got[4].error)
    assert.is_string(got[4].agentId)
    assert.equal("mailbox_full", got[5].error)
    assert.equal(3, s:agent("w").queue_length)
    assert.equal(3, #s:messages({ type = "broadcast" }))
  end)

  it("is not asked at a checkpoint: its owner is missing immediately", function()
    local got = {}
    local s = stuck(function(a)
      for i = 1, 6 do
        local before = a:now()
        local result = assert(a:checkpoint({ agents = { "w", "x" }, timeout_ms = 10 }))
        got[i] = a:now() - before
        assert.same({ "w" }, { result.missing[1] })
      end
    end)
    s:advance(1000)
    assert.equal(3, s:agent("w").queue_length)
    assert.same({ 10, 10, 10, 10, 10, 10 }, got) -- x never answers
    assert.same({ "mailbox_full to root: w" }, alerts(s))
    got = {}
    s = stuck(function(a)
      for i = 1, 5 do
        local before = a:now()
        a:checkpoint({ agents = { "w" }, timeout_ms = 10 })
        got[i] = a:now() - before
      end
    end)
    s:advance(1000)
    assert.same({ 10, 10, 10, 0, 0 }, got)
  end)
end)
