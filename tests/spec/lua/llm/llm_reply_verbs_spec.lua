-- How a model answers requests: in their activation, later, and by which id.

local scene = require("scene")
local thinkers = require("thinkers")

describe("the verbs by which a model answers", function()
  after_each(scene.close)

  it("can receive a message, which is then at hand", function()
    local shown, answer
    local s = thinkers.think(function(request)
      local entry = thinkers.last(request.messages)
      if entry.role == "tool" and not shown then
        shown = entry.content
        return thinkers.call("send_message", { to = "root", payload = "yes" })
      end
      return entry.role == "tool" and "done"
        or thinkers.call("receive", { sender = "root", timeout_ms = 60000 })
    end, { llm = { verbs = { "receive", "send_message" } }, root = function(root)
      answer = root:request({ to = "ann", payload = "ready?" })
    end })
    assert(s:send("user", { to = "ann", payload = "wait for root" }))
    s:advance(10)
    assert(s:send("user", { to = "root", payload = "go" }))
    s:run()
    assert.matches("ready?", shown, 1, true)
    assert.equal("yes", answer.payload.text)
  end)

  it("show the id of a request where they include reply, and only there", function()
    for _, chosen in ipairs({ { "reply" }, { "send_message" } }) do
      local seen = {}
      local s = thinkers.think(function(request)
        seen[#seen + 1] = thinkers.last(request.messages).content
        return #seen == 1 and "" or "fine"
      end, { llm = { verbs = chosen }, root = function(root)
        root:request({ to = "ann", payload = "q", timeout_ms = 1000 })
      end })
      thinkers.ask(s)
      assert(s:send("user", { to = "root", payload = "go" }))
      s:run()
      local request = s:messages({ agent = "root", type = "general" })
      local id
      for _, message in ipairs(request) do
        id = message.from == "root" and message.to == "ann" and message.id or id
      end
      local text = thinkers.last(seen)
      assert.equal(chosen[1] == "reply", text:find(id, 1, true) ~= nil)
      assert.is_nil(seen[1]:find("msg_", 1, true)) -- nobody waits for an answer to that
      scene.close()
    end
  end)

  it("can reply in a later activation by the id that was shown, after a crash as well", function()
    local answer
    local s = thinkers.think(function(request)
      local entry = thinkers.last(request.messages)
      if entry.role == "tool" then
        return "" -- it has done something, and says nothing
      elseif not entry.content:find("now answer", 1, true) then
        return thinkers.call("load", {})
      end
      for _, each in ipairs(request.messages) do
        local id = (each.content or ""):match("msg_[%w_]+")
        if id then
          return thinkers.call("reply", { message_id = id, payload = "at last" })
        end
      end
      return "nothing to answer"
    end, { llm = { verbs = { "reply", "load" } }, root = function(root)
      answer = root:request({ to = "ann", payload = "q", timeout_ms = 100000 })
    end })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(1000)
    assert.is_nil(answer)
    s:crash()
    s:recover()
    assert(s:send("user", { to = "ann", payload = "now answer" }))
    s:run()
    assert.equal("at last", answer.payload.text)
  end)

  it("reply to an open request also with priority, TTL or delay", function()
    for name, value in pairs({ priority = "high", ttl_seconds = 60, delay_ms = 5000 }) do
      local answer, at_ms
      local s = thinkers.think(function(request)
        return thinkers.last(request.messages).role == "tool" and "and more"
          or thinkers.call("send_message", { to = "root", payload = "yes", [name] = value })
      end, { root = function(root)
        local sent_ms = root:now()
        answer = root:request({ to = "ann", payload = "q" })
        at_ms = root:now() - sent_ms
      end })
      assert(s:send("user", { to = "root", payload = "go" }))
      s:run()
      assert.equal("yes", answer.payload.text)
      if name == "delay_ms" then
        assert.is_true(at_ms >= value)
      else
        assert.equal(value, answer[name])
      end
      scene.close()
    end
  end)

  it("can reply to a request that came earlier, by its correlation", function()
    local answer
    local first = true
    local s = thinkers.think(function(request)
      if first then
        first = false
        return "" -- nothing yet
      end
      local entry = thinkers.last(request.messages)
      return entry.role == "tool" and "done"
        or thinkers.call("reply", { message_id = "C1", payload = "at last" })
    end, { llm = { verbs = { "reply" } }, root = function(root)
      answer = root:request({ to = "ann", payload = "q", correlation_id = "C1",
        timeout_ms = 100000 })
    end })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(10)
    assert(s:send("user", { to = "ann", payload = "now answer C1" }))
    s:run()
    assert.equal("at last", answer.payload.text)
  end)
end)
