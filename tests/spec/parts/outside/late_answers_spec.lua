-- An answer is an ack, whenever it comes: it ends the ladder of what it answers.
--
-- Covers: core/parts/outside/outside_in.c

local outpost = require("outpost")
local scene = require("scene")

-- How often "w" was handed a message of that type, and whether it counts as lost.
local function handed(s, kind)
  local count = 0
  for _, message in ipairs(s:outside("w")) do
    count = count + (message.type == kind and 1 or 0)
  end
  return count, s:agent("w").status
end

describe("an answer from outside", function()
  after_each(scene.close)

  it("to a checkpoint that has timed out stops the ladder", function()
    local result
    local s = outpost.new({ "w" }, {
      root = function(root, message)
        if message.from == "user" then
          result = root:checkpoint({ agents = { "w" }, timeout_ms = 1000 })
        end
      end,
    })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(2000)
    assert.same({ "w" }, result.missing)
    local asked = s:outside("w")[1]
    assert(s:outside_send("w", { type = "checkpoint_response",
      payload = { checkpoint_id = asked.payload.checkpoint_id, done = 1 } }))
    s:advance(25000)
    local count, status = handed(s, "checkpoint_request")
    assert.same({ 1, "idle" }, { count, status })
    assert.equal(0, scene.counts(s).pending)
    assert.equal(1, #s:activity({ type = "late_checkpoint" }))
    assert.is_true(scene.law_holds(s))
  end)

  it("to a query that required an ack stops the ladder and reaches the asker", function()
    local s, heard = outpost.new({ "w" }, {
      root = function(root, message)
        if message.from == "user" then
          root:send_message({ to = "w", type = "query", payload = { query = "safe?" },
            requires_ack = true })
        end
      end,
    })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(100)
    local query = s:outside("w")[1]
    assert(s:outside_send("w", { to = "root", type = "response",
      payload = { query_id = query.id, answer = "yes" } }))
    s:advance(25000)
    local count, status = handed(s, "query")
    assert.same({ 1, "idle" }, { count, status })
    assert.equal(0, scene.counts(s).pending)
    assert.equal("yes", heard[#heard].payload.answer)
    assert.equal(query.id, heard[#heard].reply_to)
  end)

  it("to a query nobody waits for any more is an ack, logged and dropped", function()
    local s, heard = outpost.new({ "w" }, {
      root = function(root, message)
        if message.from == "user" then
          root:request({ to = "w", type = "query", payload = { query = "safe?" },
            requires_ack = true, timeout_ms = 1000 })
        end
      end,
    })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(2000)
    local before = #heard
    assert(s:outside_send("w", { to = "root", type = "response",
      payload = { query_id = s:outside("w")[1].id, answer = "yes" } }))
    s:advance(25000)
    local count, status = handed(s, "query")
    assert.same({ 1, "idle" }, { count, status })
    assert.equal(before, #heard)
    assert.equal("late_reply", scene.message(s, { type = "response" }, {}).reason)
    assert.is_true(scene.law_holds(s))
  end)
end)
