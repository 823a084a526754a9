-- The host acks what outside agents send it, if that requires an ack.
--
-- Covers: core/parts/outside/outside_mail.c, core/parts/outside/outside_in.c

local outpost = require("outpost")
local scene = require("scene")

-- The acks of "w" as texts: what they are for, by whom and the status.
local function acks(s)
  local texts = {}
  for i, ack in ipairs(s:acks("w")) do
    texts[i] = ("%s %s %s"):format(ack.ack_for, ack.from, ack.status)
  end
  return texts
end

describe("an ack for an outside agent", function()
  after_each(scene.close)

  it("says received when its message is durable, and processed when it was handled", function()
    local s = outpost.new({ "w" }, { root = function(root) root:sleep(1000) end })
    outpost.assign(s, "w", "t1")
    assert(s:outside_send("w", { external_id = "a-1", type = "task_complete",
      payload = { task_id = "t1" } }))
    s:advance(10)
    assert.same({ "a-1 root received" }, acks(s))
    s:run()
    assert.same({ "a-1 root received", "a-1 root processed" }, acks(s))
    local ack, second = s:acks("w")[1], s:acks("w")[2]
    assert.matches("^ack_%d+_%d+_%w+$", ack.id)
    assert.matches("^%d%d%d%d%-%d%d%-%d%dT%d%d:%d%d:%d%d%.%d%d%dZ$", ack.timestamp)
    assert.not_equal(ack.id, second.id)
  end)

  it("comes for the types that require one, or if the sender asks, and for no other", function()
    local s = outpost.new({ "w" })
    assert(s:outside_send("w", { external_id = "a-1", payload = "a note" }))
    assert(s:outside_send("w", { external_id = "a-2", type = "progress_update",
      payload = { percent = 5 } }))
    s:run()
    assert.same({}, acks(s))
    assert(s:outside_send("w", { external_id = "a-3", payload = "a note", requires_ack = true }))
    s:run()
    assert.same({ "a-3 root received", "a-3 root processed" }, acks(s))
  end)

  it("names our id if the sender gave none", function()
    local s = outpost.new({ "w" })
    local sent = assert(s:outside_send("w", { payload = "a note", requires_ack = true }))
    s:run()
    assert.equal(sent.messageId .. " root received", acks(s)[1])
  end)

  it("for a checkpoint_response comes at once", function()
    local s = outpost.new({ "w" }, { root = function(root, message)
      if message.from == "user" then
        root:checkpoint({ agents = { "w" }, timeout_ms = 1000 })
      end
    end })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(10)
    assert(s:outside_send("w", { external_id = "a-4", type = "checkpoint_response",
      payload = { checkpoint_id = s:outside("w")[1].payload.checkpoint_id } }))
    s:run()
    assert.same({ "a-4 root received", "a-4 root processed" }, acks(s))
  end)

  it("says processed for an answer that comes too late", function()
    local s = outpost.new({ "w" }, { root = function(root, message)
      if message.from == "user" then
        root:checkpoint({ agents = { "w" }, timeout_ms = 1000 })
      end
    end })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(2000)
    assert(s:outside_send("w", { external_id = "a-8", type = "checkpoint_response",
      payload = { checkpoint_id = s:outside("w")[1].payload.checkpoint_id } }))
    s:run()
    assert.same({ "a-8 root received", "a-8 root processed" }, acks(s))
    assert.equal(1, #s:activity({ type = "late_checkpoint" }))
  end)

  it("says processed for the result of a task that was cancelled", function()
    local s = outpost.new({ "w" }, { root = function(root, message)
      if message.from == "user" then
        root:send_message({ to = "w", type = "task_assign", payload = { task_id = "t1" } })
        root:sleep(100)
        root:cancel("t1")
      end
    end })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(200)
    assert(s:outside_send("w", { external_id = "a-9", type = "task_complete",
      payload = { task_id = "t1", status = "done" } }))
    s:run()
    assert.same({ "a-9 root received", "a-9 root processed" }, acks(s))
    assert.equal("late_result", scene.message(s, { type = "task_complete" }, {}).reason)
  end)

  it("comes again for a message that is sent again, and not for a refused one", function()
    local s = outpost.new({ "w" })
    local note = { external_id = "a-5", payload = "a note", requires_ack = true }
    for _ = 1, 2 do
      assert(s:outside_send("w", note))
      s:run()
    end
    assert.same({ "a-5 root received", "a-5 root processed", "a-5 root received" }, acks(s))
    s:outside_send("w", { external_id = "a-6", to = "nobody", payload = "x", requires_ack = true })
    s:run()
    assert.equal(3, #acks(s))
  end)

  it("says processed also if the message waited across a crash", function()
    local s = outpost.new({ "w" })
    assert(s:outside_send("w", { external_id = "a-7", payload = "a note", requires_ack = true }))
    s:crash()
    s:recover()
    s:run()
    local texts = acks(s)
    assert.equal("a-7 root processed", texts[#texts])
  end)
end)
