-- Replies as such, and requests from the user's end.

local scene = require("scene")

describe("reply", function()
  after_each(scene.close)

  it("reaches whoever wrote, known or not", function()
    local got
    local s = scene.new()
    s:role({ id = "child", name = "child", behaviour = function(agent, message)
      agent:remove_contact("user")
      assert(agent:reply(message, "still possible"))
    end })
    s:root(function(root) root:spawn_agent("child", scene.brief(), { id = "c" }) end)
    scene.tell(s, "root")
    got = s:dispatch("c", "hello")
    assert.equal("still possible", got.payload.text)
  end)

  it("to a message one does not hold is refused; to no message raises", function()
    local _, err = scene.play(function(root) return root:reply("msg_x", "y") end)
    assert.equal("message_not_found", err.error)
    assert.matches("message or a correlation id", scene.raised(function(root)
      root:reply(nil, "y")
    end), 1, true)
  end)

  it("by id means that request, not what came of it", function()
    local s = scene.troupe({
      a = function(a, message)
        if message.from == "user" then
          a.state.asked = message.id
          return a:send_message({ to = "b", payload = "?" }) and nil
        end
        assert.equal(a.state.asked, message.correlation_id)
        assert(a:reply(a.state.asked, "b says " .. message.payload.text))
      end,
      b = function() return "yes" end,
    })
    assert.equal("b says yes", s:dispatch("a", "x").payload.text)
  end)

  it("to a plain message is a message like any other", function()
    local got
    local s = scene.troupe({
      a = function(a, message)
        if message.from == "b" then
          a:reply(message, "answer")
        end
      end,
      b = function(b, message)
        if message.from == "user" then
          b:send_message({ to = "a", payload = "hello" })
        else
          got = message
        end
      end,
    })
    scene.tell(s, "b")
    assert.equal("answer", got.payload.text)
    assert.is_string(got.reply_to)
  end)
end)

describe("dispatch", function()
  after_each(scene.close)

  it("asks from the user's end and returns the reply", function()
    local s = scene.troupe({ a = function(_, message) return "hi " .. message.from end })
    assert.equal("hi user", s:dispatch("a", "x").payload.text)
  end)

  it("returns the time-out as an error", function()
    local s = scene.troupe({ a = function() end })
    local answer, err = s:dispatch("a", "x", { timeout_ms = 40 })
    assert.is_nil(answer)
    assert.equal("timeout", err.error)
    assert.equal(1767225600040, s:now())
  end)

  it("refuses what a send would refuse", function()
    local s = scene.troupe({})
    local _, err = s:dispatch("nobody", "x")
    assert.equal("agent_not_found", err.error)
    _, err = s:dispatch("root", nil)
    assert.equal("missing_payload", err.error)
  end)
end)
