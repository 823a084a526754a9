-- send_message{ wait_ack } in the wait-for graph, across a crash, towards agents outside and
-- from a spec.
-- Covers: core/kernel/mail/acks.c

local acked = require("acked")
local outpost = require("outpost")
local scene = require("scene")

local play, send, sent_by_root = acked.play, acked.send, acked.sent_by_root

describe("wait_ack in the wait-for graph", function()
  after_each(scene.close)

  it("is an edge: a receiver that asks back closes a cycle", function()
    local s, seen = play(function(root)
      return send(root, { wait_ack = "processed" })
    end, { a = function(a)
      a:request({ to = "root", payload = "?", timeout_ms = 100 })
    end })
    s:run()
    assert.equal("deadlock", seen.err.error)
    assert.same({ "root", "a" }, seen.err.cycle)
    assert.equal(1, #s:activity({ type = "deadlock" }))
  end)

  it("is none while a message to come may end the other's wait", function()
    local s, seen = play(function(root)
      assert(root:send_message({ to = "a", payload = "begin" }))
      return send(root, { wait_ack = "processed", delay_ms = 100 })
    end, { a = function(a, message)
      if message.payload.text == "begin" then
        assert(a:receive({ from = "root" }))
      end
    end })
    s:run()
    assert.equal("processed", seen.sent.ack)
    assert.equal(0, #s:activity({ type = "deadlock" }))
  end)

  it("blocks by the person, in no cycle", function()
    local s, seen = play(function(root)
      return root:send_message({ to = "user", payload = "look", wait_ack = "processed" })
    end, {})
    s:run()
    assert.equal("processed", seen.sent.ack)
    assert.equal(0, #s:activity({ type = "deadlock" }))
  end)
end)

describe("wait_ack across a crash", function()
  after_each(scene.close)

  it("goes on waiting, and is not sent again", function()
    local s, seen = play(function(root)
      return send(root, { wait_ack = "processed" })
    end, { a = function(a) a:sleep(100) end })
    s:advance(50)
    s:crash()
    s:recover()
    s:advance(10)
    assert.same({ "ack", { "a" } }, { s:waits()[1].kind, s:waits()[1].waits_for })
    s:run()
    assert.equal("processed", seen.sent.ack)
    assert.equal(1, #sent_by_root(s))
    assert.is_true(scene.law_holds(s))
  end)

  it("answers from the record afterwards", function()
    local acks = {}
    local s = play(function(root)
      local sent = assert(send(root, { wait_ack = "processed" }))
      root:sleep(1000)
      acks[#acks + 1] = sent.ack
    end, { a = function() end })
    s:advance(10)
    s:crash()
    s:recover()
    s:run()
    assert.same({ "processed" }, acks)
    assert.equal(1, #sent_by_root(s))
  end)

  it("has received what fell due while the society was down", function()
    local s, seen = play(function(root)
      assert(root:pause("a"))
      return send(root, { wait_ack = "received", delay_ms = 500, timeout_ms = 10000 })
    end, { a = function() end })
    s:advance(100)
    s:crash()
    s:advance(1000)
    s:recover()
    s:advance(1)
    assert.same({ "received", "paused" }, { seen.sent.ack, s:agent("a").status })
  end)
end)

describe("wait_ack towards an agent outside", function()
  after_each(scene.close)

  local function begin(ack, timeout_ms)
    local seen = {}
    local s = outpost.new({ "w" }, { root = function(root, message)
      if message.from == "user" then
        seen.sent, seen.err = root:send_message({ to = "w", payload = "work", wait_ack = ack,
          timeout_ms = timeout_ms })
      end
    end })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(10)
    return s, seen, s:outside("w")[1]
  end

  it("ends by its ack, which the message asks for", function()
    local s, seen, message = begin("received")
    assert.is_true(message.requires_ack)
    assert.same({ "w" }, s:waits()[1].waits_for)
    assert.is_nil(seen.sent)
    assert(s:ack("w", message.id))
    s:advance(1)
    assert.equal("received", seen.sent.ack)
  end)

  it("waits for `processed` past `received`, also across a crash", function()
    local s, seen, message = begin("processed")
    assert(s:ack("w", message.id))
    s:advance(1)
    assert.is_nil(seen.sent)
    s:crash()
    s:recover()
    s:advance(1)
    assert(s:ack("w", message.id, "processed"))
    s:advance(1)
    assert.equal("processed", seen.sent.ack)
  end)

  it("takes an answer for an ack", function()
    local s, seen, message = begin("processed")
    assert(s:outside_send("w", { reply_to = message.id, payload = "done" }))
    s:advance(1)
    assert.equal("processed", seen.sent.ack)
  end)

  it("times out, in no cycle", function()
    local s, seen = begin("received", 3000)
    s:advance(3000)
    assert.same({ "timeout", "w", 3000, "outside" },
      { seen.err.error, seen.err.to, seen.err.timeout_ms, seen.err.receiver })
    assert.equal(1, scene.counts(s).pending)
  end)

  it("ends with an error if the agent is terminated", function()
    local seen = {}
    local s = scene.new({ app = function(world)
      world:role({ id = "worker", behaviour = "external" })
      world:root(function(root, message)
        if message.payload.text == "hire" then
          assert(root:spawn_agent("worker", scene.brief(), { id = "w" }))
        else
          assert(root:terminate("w", { force = true }))
        end
      end)
      world:main(function(user)
        assert(user:send_message({ to = "root", payload = "hire", wait_ack = "processed" }))
        user:send_message({ to = "root", payload = "fire", delay_ms = 50 })
        seen.sent, seen.err = user:send_message({ to = "w", payload = "work",
          wait_ack = "processed", timeout_ms = 1e9 })
      end)
    end })
    s:run()
    assert.same({ "receiver_failed", "agent_stopped" }, { seen.err.error, seen.err.reason.error })
  end)
end)

describe("s:send with wait_ack", function()
  after_each(scene.close)

  it("runs the society until the ack has come", function()
    local s = scene.troupe({ a = function(a) a:sleep(100) end })
    local start = s:now()
    local sent = assert(s:send("root", { to = "a", payload = "x", wait_ack = "processed" }))
    assert.same({ "processed", 100 }, { sent.ack, s:now() - start })
    assert.equal("received",
      s:send("root", { to = "a", payload = "x", wait_ack = "received" }).ack)
  end)

  it("times out, and fails as a send", function()
    local s = scene.troupe({ a = function(a) a:sleep(5000) end })
    local start = s:now()
    local _, err = s:send("root", { to = "a", payload = "x", wait_ack = "processed",
      timeout_ms = 700 })
    assert.same({ "timeout", "a", 700, "working" },
      { err.error, err.to, err.timeout_ms, err.receiver })
    assert.equal(700, s:now() - start)
    _, err = s:send("root", { to = "nobody", payload = "x", wait_ack = "processed" })
    assert.equal("agent_not_found", err.error)
    s:run()
  end)
end)
