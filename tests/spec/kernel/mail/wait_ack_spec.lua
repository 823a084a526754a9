-- send_message{ wait_ack }: a sender waits until its message is received or processed.
-- Covers: core/kernel/mail/acks.c

local acked = require("acked")
local scene = require("scene")

local play, send, sent_by_root = acked.play, acked.send, acked.sent_by_root

describe("wait_ack towards an agent inside", function()
  after_each(scene.close)

  local function sleeper(a) a:sleep(100) end

  it("returns at once when received, whatever the agent is doing", function()
    local s, seen = play(function(root)
      root:send_message({ to = "a", payload = "before" })
      return send(root, { wait_ack = "received" })
    end, { a = sleeper })
    s:run()
    assert.equal("received", seen.sent.ack)
    assert.equal(sent_by_root(s)[2].id, seen.sent.messageId)
    assert.equal(0, seen.took_ms)
  end)

  it("returns when the activation that handled it has committed", function()
    local s, seen = play(function(root)
      return send(root, { wait_ack = "processed" })
    end, { a = function(a)
      a:sleep(100)
      a.state.done = true
    end })
    s:advance(50)
    local wait = s:waits()[1]
    assert.same({ "root", "ack", { "a" }, "processed" },
      { wait.agent, wait.kind, wait.waits_for, wait.ack })
    assert.equal("blocked_internal", s:agent("root").status)
    s:run()
    assert.equal("processed", seen.sent.ack)
    assert.equal(100, seen.took_ms)
    assert.is_true(s:agent("a").state.done)
  end)

  it("waits for the mailbox of a message that is delayed, and for nobody", function()
    local s, seen = play(function(root)
      return send(root, { wait_ack = "received", delay_ms = 500 })
    end, { a = sleeper })
    s:advance(100)
    assert.same({}, s:waits()[1].waits_for)
    s:run()
    assert.same({ "received", 500 }, { seen.sent.ack, seen.took_ms })
  end)

  it("belongs to the activation that took the message by receive", function()
    local s, seen = play(function(root)
      root:send_message({ to = "a", payload = "first" })
      return send(root, { wait_ack = "processed", type = "more" })
    end, { a = function(a, message)
      if message.type ~= "more" then
        assert(a:receive({ type = "more" }))
        a:sleep(70)
      end
    end })
    s:run()
    assert.same({ "processed", 70 }, { seen.sent.ack, seen.took_ms })
  end)

  it("survives the retries of an agent that raises", function()
    local tries = 0
    local s, seen = play(function(root)
      return send(root, { wait_ack = "processed", timeout_ms = 600000 })
    end, { a = function()
      tries = tries + 1
      if tries < 3 then
        error("not yet")
      end
    end })
    s:run()
    assert.equal("processed", seen.sent.ack)
    assert.equal(3, tries)
  end)

  it("times out with how the receiver stands, and the message stays", function()
    local stands = {}
    for name, act in pairs({
      working = function(a) a:sleep(5000) end,
      blocked = function(a) a:receive({ type = "never", timeout_ms = 5000 }) end,
      queued = function(a, message)
        if message.payload.text == "before" then
          a:sleep(5000)
        end
      end,
    }) do
      local s, seen = play(function(root)
        if name == "queued" then
          root:send_message({ to = "a", payload = "before" })
        end
        return send(root, { wait_ack = "processed", timeout_ms = 1000 })
      end, { a = act })
      s:run()
      assert.same({ "timeout", "a", 1000, 1000 },
        { seen.err.error, seen.err.to, seen.err.timeout_ms, seen.took_ms })
      stands[name] = seen.err.receiver
      assert.equal(0, s:stats().pending)
    end
    assert.same({ working = "working", blocked = "blocked", queued = "queued" }, stands)
  end)

  it("says so if the receiver is paused", function()
    local s, seen = play(function(root)
      assert(root:pause("a"))
      return send(root, { wait_ack = "processed", timeout_ms = 1000 })
    end, { a = sleeper })
    s:run()
    assert.same({ "timeout", "paused" }, { seen.err.error, seen.err.receiver })
  end)

  it("waits for 30 s unless told otherwise", function()
    local s, seen = play(function(root)
      return send(root, { wait_ack = "processed" })
    end, { a = function(a) a:sleep(60000) end })
    s:run()
    assert.same({ "timeout", 30000 }, { seen.err.error, seen.took_ms })
  end)

  it("ends with an error when the message does", function()
    local cases = {
      receiver_failed = { {}, function() error("never") end },
      expired = { { ttl_seconds = 1, delay_ms = 2000 }, sleeper },
    }
    for error_name, case in pairs(cases) do
      local s, seen = play(function(root)
        case[1].wait_ack, case[1].timeout_ms = "processed", 1e9
        return send(root, case[1])
      end, { a = case[2] })
      s:run()
      assert.same({ error_name, "a" }, { seen.err.error, seen.err.to })
      assert.equal(sent_by_root(s)[1].id, seen.err.messageId)
      -- Whoever waits is not told a second time by a message.
      assert.same({}, s:messages({ type = "delivery_failed" }))
    end
  end)

  it("ends when the receiver fails for good, and is refused from then on", function()
    local s, seen = play(function(root)
      local _, err = send(root, { wait_ack = "processed", timeout_ms = 1e9 })
      return err.error, select(2, send(root, { wait_ack = "processed" }))
    end, { a = function() error("never") end })
    for _ = 1, 5 do
      assert(s:send("user", { to = "a", payload = "fail" }))
    end
    s:run()
    assert.equal("failed", s:agent("a").status)
    assert.same({ "receiver_failed", "receiver_failed" }, { seen.sent, seen.err.error })
    assert.equal(1, #sent_by_root(s))
    local now = s:now()
    local _, err = s:send("user", { to = "a", payload = "x", wait_ack = "processed" })
    assert.same({ "receiver_failed", "a", 0 }, { err.error, err.to, s:now() - now })
  end)

  it("of `processed` is refused towards oneself", function()
    local s, seen = play(function(root)
      return root:send_message({ to = "root", payload = "x", wait_ack = "processed" })
    end, {})
    s:run()
    assert.same({ "deadlock", { "root" } }, { seen.err.error, seen.err.cycle })
    s, seen = play(function(root)
      return root:send_message({ to = "root", payload = "x", wait_ack = "received" })
    end, {})
    s:run()
    assert.equal("received", seen.sent.ack)
  end)

  it("refuses a message that was sent before", function()
    local s, seen = play(function(root)
      assert(send(root, { wait_ack = "processed", dedupe_key = "k" }))
      return send(root, { wait_ack = "processed", dedupe_key = "k" })
    end, { a = sleeper })
    s:run()
    assert.equal("duplicate", seen.err.error)
    assert.equal(sent_by_root(s)[1].id, seen.err.messageId)
  end)

  it("refuses several receivers, and values that make no sense", function()
    for text, fields in pairs({
      ["needs one receiver"] = { to = { "a", "root" }, wait_ack = "received" },
      ["'wait_ack' needs one receiver"] = { to = "All", wait_ack = "received" },
      ["'wait_ack' must be received or processed"] = { wait_ack = "done" },
      ["'wait_ack' must be received"] = { wait_ack = true },
      ["leave out requires_ack = false"] = { wait_ack = "received", requires_ack = false },
      ["'timeout_ms' needs 'wait_ack'"] = { timeout_ms = 5 },
      ["give delay_ms or deliver_at, not both"] =
        { wait_ack = "received", delay_ms = 1, deliver_at = 1 },
    }) do
      fields.to, fields.payload = fields.to or "a", "x"
      local s, seen = play(function(root)
        return pcall(root.send_message, root, fields)
      end, { a = sleeper })
      s:run()
      assert.is_false(seen.sent)
      assert.matches(text, tostring(seen.err), 1, true)
      assert.equal(2, s:stats().sent) -- from user alone
    end
  end)
end)
