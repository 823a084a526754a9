-- Requests and replies: a handler waits for the reply in the middle of its code.

local scene = require("scene")

describe("request", function()
  after_each(scene.close)

  -- root asks by act(root); the others behave as `acts` says.
  local function ask(act, acts, policies)
    local results
    acts.root = function(root, message)
      if message.from == "user" then
        results = table.pack(act(root, message))
      end
    end
    local s = scene.troupe(acts, { policies = policies })
    scene.tell(s, "root")
    assert(results, "root has not come to its end")
    return results[1], results[2], s
  end

  it("returns the reply as a message", function()
    local answer, _, s = ask(function(root)
      return root:request({ to = "a", payload = { n = 20 } })
    end, {
      a = function(a, message)
        local sent = a:reply(message, { n = message.payload.n + 1 })
        assert(sent.messageId)
      end,
    })
    assert.same({ n = 21 }, answer.payload)
    assert.equal("a", answer.from)
    assert.equal("root", answer.to)
    local asked = scene.message(s, {}, { from = "root", to = "a" })
    assert.equal(asked.id, answer.reply_to)
    assert.equal("processed", scene.message(s, {}, { from = "a" }).status)
  end)

  it("takes the returned value as the reply if none was sent", function()
    local answer = ask(function(root) return root:request({ to = "a", payload = "x" }) end,
      { a = function() return "word" end })
    assert.same({ text = "word" }, answer.payload)
    answer = ask(function(root) return root:request({ to = "a", payload = "x" }) end,
      { a = function() return { deep = { 1 } } end })
    assert.same({ deep = { 1 } }, answer.payload)
    answer = ask(function(root) return root:request({ to = "a", payload = "x" }) end,
      { a = function() return false end })
    assert.is_false(answer.payload)
  end)

  it("prefers a sent reply to the returned value", function()
    local answer, _, s = ask(function(root) return root:request({ to = "a", payload = "x" }) end, {
      a = function(a, message)
        a:reply(message, "sent")
        return "returned"
      end,
    })
    assert.equal("sent", answer.payload.text)
    assert.equal(4, s:stats().sent)
  end)

  it("carries the reply's own type", function()
    local answer = ask(function(root) return root:request({ to = "a", payload = "x" }) end, {
      a = function(a, message) a:reply(message, "x", { type = "collaboration_response" }) end,
    })
    assert.equal("collaboration_response", answer.type)
  end)

  it("can be answered by a later activation, by the message's id", function()
    local answer = ask(function(root)
      root:send_message({ to = "a", payload = "later", delay_ms = 50, type = "later" })
      return root:request({ to = "a", payload = "x", timeout_ms = 100 })
    end, {
      a = function(a, message)
        if message.type == "later" then
          assert(a:reply(a.state.asked, "at last"))
        else
          a.state.asked = message.id
        end
      end,
    })
    assert.equal("at last", answer.payload.text)
  end)

  it("can be answered by its correlation id", function()
    local answer = ask(function(root)
      return root:request({ to = "a", payload = "x", correlation_id = "c-1", timeout_ms = 100 })
    end, {
      a = function(a) assert(a:reply("c-1", "by correlation")) end,
    })
    assert.equal("by correlation", answer and answer.payload.text)
  end)

  it("is answered only by the agent that was asked", function()
    local stranger_err
    local answer = ask(function(root)
      return root:request({ to = "a", payload = "x", timeout_ms = 100 })
    end, {
      a = function(a, message)
        a:send_message({ to = "b", payload = message.id })
        a:sleep(10)
        return "mine"
      end,
      b = function(b, message)
        local _
        _, stranger_err = b:reply(message.payload.text, "stolen")
      end,
    })
    assert.equal("mine", answer.payload.text)
    assert.equal("message_not_found", stranger_err.error)
  end)

  it("is not answered by a plain message from the agent that was asked", function()
    local answer = ask(function(root)
      return root:request({ to = "a", payload = "x", timeout_ms = 100 })
    end, {
      a = function(a, message)
        a:send_message({ to = "root", payload = "no reply", correlation_id = message.id })
        a:sleep(5)
        return "the reply"
      end,
    })
    assert.equal("the reply", answer.payload.text)
  end)

  it("is not answered by a request in the other direction", function()
    local counter
    local answer = ask(function(root)
      return root:request({ to = "a", payload = "x", timeout_ms = 1000 })
    end, {
      a = function(a)
        counter = table.pack(a:request({ to = "root", payload = "you first", timeout_ms = 10 }))
        return "done"
      end,
    }, { contacts = "open", deadlock = "latest" })
    assert.is_nil(counter[1])
    assert.equal("deadlock", counter[2].error)
    assert.equal("done", answer.payload.text)
  end)

  it("times out at the very millisecond", function()
    local took
    local answer, err = ask(function(root)
      local start = root:now()
      local reply, failure = root:request({ to = "a", payload = "x", timeout_ms = 250 })
      took = root:now() - start
      return reply, failure
    end, { a = function() end })
    assert.is_nil(answer)
    assert.equal("timeout", err.error)
    assert.equal("a", err.to)
    assert.equal(250, err.timeout_ms)
    assert.is_string(err.message)
    assert.equal(250, took)
  end)

  it("times out after thirty seconds by default", function()
    local took
    local _, err = ask(function(root)
      local start = root:now()
      local reply, failure = root:request({ to = "a", payload = "x" })
      took = root:now() - start
      return reply, failure
    end, { a = function() end })
    assert.equal(30000, took)
    assert.equal(30000, err.timeout_ms)
  end)

  it("accepts a reply that comes a millisecond before the timeout", function()
    local answer = ask(function(root)
      return root:request({ to = "a", payload = "x", timeout_ms = 100 })
    end, {
      a = function(a)
        a:sleep(99)
        return "just in time"
      end,
    })
    assert.equal("just in time", answer.payload.text)
  end)

  it("drops a late reply and logs it", function()
    local _, err, s = ask(function(root)
      return root:request({ to = "a", payload = "x", timeout_ms = 100 })
    end, {
      a = function(a, message)
        a:sleep(101)
        assert(a:reply(message, "too late"))
      end,
    })
    assert.equal("timeout", err.error)
    assert.equal("dropped", scene.message(s, {}, { from = "a" }).status)
    assert.equal(1, s:stats().dropped)
    assert.matches("late_reply", s:transcript(), 1, true)
  end)

  it("drops a second reply", function()
    local answer, _, s = ask(function(root) return root:request({ to = "a", payload = "x" }) end, {
      a = function(a, message)
        a:reply(message, "first")
        a:reply(message, "second")
      end,
    })
    assert.equal("first", answer.payload.text)
    assert.equal(1, s:stats().dropped)
  end)

  it("to oneself is refused as a deadlock", function()
    local answer, err, s = ask(function(root)
      return root:request({ to = "root", payload = "x" })
    end, {})
    assert.is_nil(answer)
    assert.equal("deadlock", err.error)
    assert.same({ "root" }, err.cycle)
    assert.is_string(err.message)
    assert.equal(2, s:stats().sent)
  end)

  it("to oneself by the alias is refused as a deadlock", function()
    local _, err = ask(function(root)
      return root:request({ to = "orchestrator", payload = "x" })
    end, {})
    assert.equal("deadlock", err.error)
  end)

  it("to an unknown agent is refused immediately", function()
    local answer, err, s = ask(function(root)
      return root:request({ to = "nobody", payload = "x" })
    end, {})
    assert.is_nil(answer)
    assert.equal("agent_not_found", err.error)
    assert.equal("nobody", err.agentId)
    assert.equal(s:now(), 1767225600000)
  end)

  it("without a payload is refused", function()
    local _, err = ask(function(root) return root:request({ to = "a" }) end, { a = function() end })
    assert.equal("missing_payload", err.error)
  end)

  it("to a list raises", function()
    assert.matches("'to'", scene.raised(function(root)
      root:request({ to = { "a", "b" }, payload = "x" })
    end), 1, true)
  end)

  it("to an agent that fails for good returns an error instead of timing out", function()
    local answer, err = ask(function(root)
      return root:request({ to = "a", payload = "x", timeout_ms = 100000 })
    end, { a = function() error("boom") end })
    assert.is_nil(answer)
    assert.is_string(err.error)
    assert.is_string(err.message)
    assert.not_equal("timeout", err.error)
  end)

  it("keeps the asker's other messages waiting", function()
    local order = {}
    local s = scene.troupe({
      root = function(root, message)
        if message.payload.text == "go" then
          root:send_message({ to = "root", payload = "other", priority = "urgent" })
          root:request({ to = "a", payload = "x" })
        end
        order[#order + 1] = message.payload.text
      end,
      a = function(a)
        a:sleep(100)
        return "y"
      end,
    })
    scene.tell(s, "root")
    assert.same({ "go", "other" }, order)
  end)

  it("works three levels deep", function()
    local answer = ask(function(root) return root:request({ to = "a", payload = { n = 1 } }) end, {
      a = function(a, message)
        return a:request({ to = "b", payload = { n = message.payload.n * 2 } }).payload
      end,
      b = function(b, message)
        return b:request({ to = "c", payload = { n = message.payload.n + 5 } }).payload
      end,
      c = function(_, message) return { n = message.payload.n * 10 } end,
    })
    assert.same({ n = 70 }, answer.payload)
  end)
end)
