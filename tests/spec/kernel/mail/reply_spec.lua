-- Replies, and requests from the user.
--
-- Covers: core/kernel/gate.c, core/kernel/mail/requests.c

local scene = require("scene")

describe("reply", function()
  after_each(scene.close)

  it("reaches the sender, whether a contact or not", function()
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

  it("to a message the agent does not hold is refused; to nothing raises", function()
    local _, err = scene.play(function(root) return root:reply("msg_x", "y") end)
    assert.equal("message_not_found", err.error)
    assert.matches("message or a correlation id", scene.raised(function(root)
      root:reply(nil, "y")
    end), 1, true)
  end)

  it("by id answers that request, not one that it caused", function()
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

  -- The user asks `a`, or only tells it something; `a` answers when `b`, which it then told
  -- to work, reports under the same correlation id. Returns what `reply` gave and `b` got.
  local function answer_at_the_report(ask)
    local answer, got = nil, 0
    local s = scene.troupe({
      a = function(a, message)
        if message.from == "user" then
          a.state.asked = message.correlation_id or message.id
          return a:send_message({ to = "b", payload = "work" }) and nil
        end
        assert.equal(a.state.asked, message.correlation_id)
        answer = table.pack(a:reply(a.state.asked, "your answer"))
      end,
      b = function(b, message)
        if message.payload.text ~= "work" then
          got = got + 1
          return
        end
        b:sleep(1000)
        b:send_message({ to = "a", payload = "finished" })
      end,
    })
    ask(s)
    s:run()
    return answer, got
  end

  it("to somebody who no longer waits is refused, not sent to whoever reported", function()
    for name, ask in pairs({
      late = function(s) s:dispatch("a", "x", { timeout_ms = 500 }) end,
      told = function(s) assert(s:send("user", { to = "a", payload = "x" })) end,
      told_with_a_name = function(s)
        assert(s:send("user", { to = "a", payload = "x", correlation_id = "order-7" }))
      end,
    }) do
      local answer, got = answer_at_the_report(ask)
      assert.same({ name, 0, nil, "message_not_found" },
        { name, got, answer[1], answer[2] and answer[2].error })
    end
  end)

  it("by the correlation id of a question in a chain answers the question", function()
    local got
    local s = scene.troupe({
      a = function(a, message)
        got = a:request({ to = "b", payload = message.payload }).payload.text
      end,
      b = function(b, message) assert(b:reply(message.correlation_id, "by its chain")) end,
    })
    scene.tell(s, "a")
    assert.equal("by its chain", got)
  end)

  it("to a plain message is an ordinary message", function()
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

  -- `a` and `b` ask `c` under one correlation id; `c` answers by it as often as it is told
  -- to in one turn: while it handles the second question, or later.
  local function answer_twice(is_later)
    local got = {}
    local function ask(agent)
      local answer, err = agent:request({ to = "c", payload = "?", correlation_id = "K" })
      got[agent.id] = answer and answer.payload.text or err.error
    end
    local s = scene.troupe({
      a = ask, b = ask,
      c = function(c, message)
        local is_second = message.from == "b" and not is_later
        for i = 1, (is_second or message.from == "user") and 2 or 0 do
          assert(c:reply("K", "answer " .. i))
        end
      end,
    })
    for _, id in ipairs({ "a", "b", is_later and "c" or nil }) do
      assert(s:send("user", { to = id, payload = "go" }))
      s:advance(0)
    end
    assert.equal(0, scene.count(s:transcript(), "late_reply"))
    s:run()
    return got
  end

  it("by a correlation id answers the requests under it one after the other", function()
    assert.same({ a = "answer 1", b = "answer 2" }, answer_twice(true))
  end)

  it("by a correlation id answers the request being handled first, then the others", function()
    assert.same({ a = "answer 2", b = "answer 1" }, answer_twice(false))
  end)

  it("twice by a message's own id is late, whoever else has asked under it", function()
    local got = {}
    local s = scene.troupe({
      a = function(a)
        got[#got + 1] = a:request({ to = "c", payload = "?" }).payload.text
      end,
      c = function(c, message)
        c:reply(message, "first")
        assert(c:reply(message.id, "second"))
      end,
    })
    scene.tell(s, "a")
    assert.same({ "first" }, got)
    assert.equal(1, scene.count(s:transcript(), "late_reply"))
  end)
end)

describe("the options of a reply", function()
  after_each(scene.close)

  it("set its type, priority, TTL and delay", function()
    local answer, waited_ms
    local s = scene.troupe({
      root = function(root)
        local began_ms = root:now()
        answer = root:request({ to = "a", payload = "x" })
        waited_ms = root:now() - began_ms
      end,
      a = function(a, message)
        a:reply(message, "y", { type = "status_report", priority = "urgent", ttl_seconds = 60,
          delay_ms = 2000 })
      end,
    })
    scene.tell(s, "root")
    assert.same({ "status_report", "urgent", 60 },
      { answer.type, answer.priority, answer.ttl_seconds })
    assert.is_true(waited_ms >= 2000)
  end)
end)

describe("dispatch", function()
  after_each(scene.close)

  it("asks as the user and returns the reply", function()
    local s = scene.troupe({ a = function(_, message) return "hi " .. message.from end })
    assert.equal("hi user", s:dispatch("a", "x").payload.text)
  end)

  it("returns a timeout as an error", function()
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
