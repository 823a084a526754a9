-- Numbers start again in every state directory: an id from another directory is unknown
-- here, even if its number is in use.

local outpost = require("outpost")
local scene = require("scene")

-- The id with the same number from an earlier life.
local function stale(id)
  local old, count = id:gsub("_%d%d%d%d%d%d%d%d_", "_19990101_")
  assert(count == 1 and old ~= id)
  return old
end

local function assert_unknown(name, done, err)
  assert.is_nil(done)
  assert.equal(name, err.error)
end

describe("a stale id", function()
  after_each(scene.close)

  it("decides nothing", function()
    local got
    local s = scene.troupe({ a = function(agent)
      got = agent:escalate({ title = "delete it?" })
    end })
    scene.tell(s, "a")
    local id = s:inbox()[1].id
    assert_unknown("item_not_found", s:decide(stale(id), { decision = "approve" }))
    s:run()
    assert.is_nil(got)
    assert.equal(1, #s:inbox())
    assert(s:decide(id, { decision = "reject" }))
    s:run()
    assert.equal("reject", got.decision)
  end)

  it("neither drops nor redelivers a dead letter", function()
    local s = scene.troupe({ a = function() error("boom") end })
    local id = scene.tell(s, "a")
    assert_unknown("message_not_found", s:drop(stale(id)))
    assert_unknown("message_not_found", s:redeliver(stale(id)))
    s:run()
    assert.equal(id, s:dead_letters()[1].id)
    assert.equal(1, s:dead_letters()[1].attempt)
    assert.is_true(s:drop(id))
  end)

  it("replies neither to the current message nor to an open request", function()
    local errors = {}
    local s = scene.troupe({ a = function(a, message)
      if message.type == "later" then
        errors[2] = select(2, a:reply(stale(a.state.asked), "wrong"))
        return a:reply(a.state.asked, "right") and nil
      end
      a.state.asked = message.id
      errors[1] = select(2, a:reply(stale(message.id), "wrong"))
      a:send_message({ to = "a", type = "later", payload = "x" })
    end })
    assert.equal("right", s:dispatch("a", "?").payload.text)
    assert_unknown("message_not_found", nil, errors[1])
    assert_unknown("message_not_found", nil, errors[2])
  end)

  it("as query_id answers no request", function()
    local s = scene.troupe({ a = function(a, message)
      a:send_message({ to = "user", type = "response",
        payload = { query_id = stale(message.id), answer = "wrong" } })
      a:send_message({ to = "user", type = "response",
        payload = { query_id = message.id, answer = "right" } })
    end })
    assert.equal("right", s:dispatch("a", "?").payload.answer)
  end)

  it("completes no task", function()
    local err
    local s = scene.troupe({
      a = function(a, message)
        if message.type == "task" then
          err = select(2, a:complete(stale(message.id), "wrong"))
          assert(a:complete(message.id, "right"))
        end
      end,
      root = function(root, message)
        if message.from == "user" then
          root:send_message({ to = "a", type = "task", payload = { task_id = "T" } })
        end
      end,
    })
    scene.tell(s, "root")
    assert_unknown("task_not_found", nil, err)
    assert.equal("completed", s:tasks()[1].state)
  end)

  it("of a checkpoint answers none", function()
    local got
    local s = scene.troupe({
      a = function(a, message)
        if message.type == "checkpoint_request" then
          a:send_message({ to = "root", type = "checkpoint_response",
            payload = { checkpoint_id = stale(message.payload.checkpoint_id), text = "wrong" } })
          a:send_message({ to = "root", type = "checkpoint_response",
            payload = { checkpoint_id = message.payload.checkpoint_id, text = "right" } })
        end
      end,
      root = function(root, message)
        if message.from == "user" then
          got = root:checkpoint({ agents = { "a" }, timeout_ms = 1000 })
        end
      end,
    })
    scene.tell(s, "root")
    assert.equal("right", got.responses.a.text)
  end)

  it("from outside acks and answers nothing", function()
    local s, heard = outpost.new({ "w" })
    local id = outpost.assign(s, "w", "T")
    local before = #heard
    assert_unknown("message_not_found", s:ack("w", stale(id), "processed"))
    assert_unknown("message_not_found",
      s:outside_send("w", { reply_to = stale(id), payload = { text = "wrong" } }))
    assert.equal(1, scene.counts(s).pending)
    assert(s:ack("w", id, "processed"))
    assert_unknown("message_not_found",
      s:outside_send("w", { reply_to = stale(id), payload = { text = "wrong" } }))
    assert(s:ack("w", id, "processed")) -- a second time, from memory
    s:run()
    assert.equal(before, #heard)
    assert.is_true(scene.law_holds(s))
  end)

  it("finds no chain", function()
    local s = scene.troupe({ a = function() end })
    local id = scene.tell(s, "a")
    assert.equal(id, s:messages({ correlation_id = id })[1].id)
    assert.is_true(#s:activity({ correlation_id = id }) > 0)
    assert.same({}, s:messages({ correlation_id = stale(id) }))
    assert.same({}, s:activity({ correlation_id = stale(id) }))
  end)
end)
