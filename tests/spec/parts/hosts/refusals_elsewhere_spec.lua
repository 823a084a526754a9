-- What another host refuses, and how its sender hears of it; and the trace that a message belongs
-- to, which goes with it.
--
-- Covers: core/parts/hosts/hosts_in.c

local books = require("society.fleet_books")
local fleets = require("fleets")
local scene = require("scene")

local OPEN = { messages = { "any" }, contacts = "open" }


local function plain(s)
  s.root(function(root, message)
    root.state.seen = (root.state.seen or 0) + 1
    return message.payload
  end)
end

-- What the sender got as `delivery_failed`.
local function notices(f)
  local list = {}
  for _, message in ipairs(f.alpha:messages({ type = "delivery_failed" })) do
    assert.equal("system", message.from)
    assert.equal("root", message.to)
    list[#list + 1] = message.payload
  end
  return list
end

describe("a refusal by another host", function()
  after_each(scene.close)

  it("comes as delivery_failed to a sender that does not wait", function()
    local f, got = fleets.act(function(root)
      local sent = assert(root:send_message { to = "nobody@beta", payload = "x" })
      root:sleep(60000)
      return sent
    end, { beta = plain }, { policies = OPEN })
    local told = f.alpha.agent("root").state.told
    assert.equal(1, #told)
    assert.same({ "agent_not_found", got.messageId, "nobody" },
      { told[1].error, told[1].message_id, told[1].to })
    assert.same(told, notices(f))
    assert.equal("handed_over", fleets.find(f.alpha:messages(), got.messageId).status)
  end)

  it("comes once, though hosts and carrier fail on the way", function()
    for seed = 1, 6 do
      local f = fleets.act(function(root)
        assert(root:send_message { to = "nobody@beta", payload = "x" })
      end, { beta = plain }, { policies = OPEN, seed = seed, before = function(f) f:delay(200) end,
        faults = function(f)
          f:advance(seed * 90)
          f.beta:crash()
          f:flush()
          f:advance(700)
          f.alpha:crash()
          f.beta:recover()
          f:failback(2)
          f.alpha:recover()
        end })
      assert.equal(1, #notices(f))
      scene.close()
    end
  end)

  it("is the error of a sender that waits, for a reply or an ack", function()
    local f, got = fleets.act(function(root)
      local _, asked = root:request { to = "nobody@beta", payload = "x", timeout_ms = 60000 }
      local _, acked = root:send_message { to = "nobody@beta", payload = "x",
        wait_ack = "processed", timeout_ms = 60000 }
      return { asked = asked, acked = acked }
    end, { beta = plain }, { policies = OPEN })
    assert.equal("agent_not_found", got.asked.error)
    assert.same({ "agent_not_found", "nobody" }, { got.acked.error, got.acked.to })
    assert.is_nil(f.alpha.agent("root").state.told) -- no notice beside the error
    assert.is_nil(f.beta.agent("nobody"))
    assert.is_nil(books.check(f, { "alpha", "beta" }))
  end)

  it("says what its vocabulary misses, though that of the sender allows it", function()
    local f, got = fleets.act(function(root)
      local sent = assert(root:send_message { to = "root@beta", type = "introduction_request",
        payload = { reason = "r" } })
      local _, asked = root:request { to = "root@beta", type = "made_up", payload = { n = 1 } }
      assert(root:send_message { to = "root@beta", type = "general", payload = "good" })
      root:sleep(1000)
      return { id = sent.messageId, asked = asked }
    end, { beta = { app = plain, policies = { messages = { "society" }, contacts = "open" } } },
      { policies = OPEN })
    assert.equal(1, f.beta.agent("root").state.seen)
    local told = fleets.find(notices(f), got.id, "message_id")
    assert.equal("invalid_message_format", told.error)
    assert.same({ "required_capability" }, told.missing_fields)
    assert.equal("invalid_message_format", got.asked.error)
  end)
end)

describe("the trace of a message", function()
  after_each(scene.close)

  it("goes with it to another host, and on with what it causes there", function()
    local parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    local f = fleets.act(function() end, { beta = plain }, { policies = OPEN })
    assert(f.alpha:send("user", { to = "root@beta", payload = "x", traceparent = parent }))
    f:run()
    assert.equal(parent, fleets.find(f.beta:messages(), "user@alpha", "from").traceparent)
    assert.equal(parent, fleets.find(f.alpha:messages(), "root@beta", "from").traceparent)
  end)
end)
