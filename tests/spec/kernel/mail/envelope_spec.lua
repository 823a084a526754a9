-- What a message carries besides its payload, and how it is presented.
--
-- Covers: core/kernel/mail/adopt.c

local scene = require("scene")

local ID = "^msg_%d%d%d%d%d%d%d%d_%d%d%d%d%d%d_%x+$"
local TIME = "^%d%d%d%d%-%d%d%-%d%dT%d%d:%d%d:%d%d%.%d%d%dZ$"

describe("an envelope", function()
  after_each(scene.close)

  it("has an id, a time, a sender, a receiver and the default fields", function()
    local got
    local s = scene.troupe({ a = function(_, message) got = message end })
    scene.tell(s, "a", { n = 1 })
    assert.matches(ID, got.id)
    assert.matches(TIME, got.timestamp)
    assert.equal("user", got.from)
    assert.equal("a", got.to)
    assert.equal("general", got.type)
    assert.equal("normal", got.priority)
    assert.is_false(got.requires_ack)
    assert.equal(1, got.attempt)
    assert.equal(0, got.hops)
    for _, name in ipairs({ "task_id", "reply_to", "ttl_seconds", "deliver_at", "deadline" }) do
      assert.is_nil(got[name], name)
    end
  end)

  it("carries the sender's options", function()
    local got
    local s = scene.troupe({ a = function(_, message) got = message end })
    assert(s:send("user", {
      to = "a", payload = "x", priority = "urgent", requires_ack = true, ttl_seconds = 2.5,
      task_id = "T-1", correlation_id = "c 1", deadline = "2026-02-01T00:00:00+02:00",
    }))
    s:run()
    assert.equal("urgent", got.priority)
    assert.is_true(got.requires_ack)
    assert.equal(2.5, got.ttl_seconds)
    assert.equal("T-1", got.task_id)
    assert.equal("c 1", got.correlation_id)
    assert.equal("2026-01-31T22:00:00.000Z", got.deadline)
  end)

  it("has the time it was sent, to the millisecond", function()
    local got
    local s = scene.troupe({ a = function(_, message) got = message end })
    s:advance(1234)
    scene.tell(s, "a")
    assert.equal("2026-01-01T00:00:01.234Z", got.timestamp)
    assert.matches("^msg_20260101_000001_234", got.id)
  end)

  it("has a unique id that sorts by time, also across crashes", function()
    local ids = {}
    local s = scene.troupe({ a = function(_, message) ids[#ids + 1] = message.id end })
    for round = 1, 30 do
      scene.tell(s, "a")
      if round % 3 == 0 then
        s:crash()
        s:recover()
      end
      if round % 4 == 0 then
        s:advance(7)
      end
    end
    assert.equal(30, #ids)
    for i = 2, #ids do
      assert.is_true(ids[i - 1] < ids[i], ids[i - 1] .. " " .. ids[i])
    end
  end)

  it("has the same id for the same seed", function()
    local function ids()
      local list = {}
      local s = scene.troupe({ a = function(_, message) list[#list + 1] = message.id end },
        { seed = 9 })
      scene.tell(s, "a")
      scene.tell(s, "a")
      return list
    end
    assert.same(ids(), ids())
  end)

  it("passes task, correlation and hops on to messages it causes", function()
    local got
    local s = scene.troupe({
      root = function(root) root:send_message({ to = "a", payload = "1" }) end,
      a = function(a) a:send_message({ to = "b", payload = "2" }) end,
      b = function(_, message) got = message end,
    })
    assert(s:send("user", { to = "root", payload = "x", task_id = "T7", correlation_id = "c7" }))
    s:run()
    assert.equal("T7", got.task_id)
    assert.equal("c7", got.correlation_id)
    assert.equal(2, got.hops)
  end)

  it("has the first message of its chain as correlation by default", function()
    local got = {}
    local s = scene.troupe({
      root = function(root) root:send_message({ to = "a", payload = "1" }) end,
      a = function(a, message)
        got.a = message
        a:send_message({ to = "b", payload = "2" })
      end,
      b = function(_, message) got.b = message end,
    })
    local first = scene.tell(s, "root")
    assert.equal(first, got.a.correlation_id)
    assert.equal(first, got.b.correlation_id)
  end)

  it("prefers its own task and correlation to the inherited ones", function()
    local got
    local s = scene.troupe({
      root = function(root)
        root:send_message({ to = "a", payload = "1", task_id = "T2", correlation_id = "c2" })
      end,
      a = function(_, message) got = message end,
    })
    assert(s:send("user", { to = "root", payload = "x", task_id = "T1", correlation_id = "c1" }))
    s:run()
    assert.equal("T2", got.task_id)
    assert.equal("c2", got.correlation_id)
  end)

  it("starts a new chain where no message was the cause: main inherits nothing", function()
    local s = scene.new({ app = function(s)
      s:root(function() end)
      s:main(function(user) user:send_message({ to = "root", payload = "x" }) end)
    end })
    s:run()
    local message = scene.message(s, {})
    assert.equal(0, message.hops)
    assert.is_nil(message.correlation_id)
  end)

  describe("with fields in its payload", function()
    local function received(options)
      local got
      local s = scene.troupe({ a = function(_, message) got = message end })
      options.to = "a"
      local answer, err = s:send("user", options)
      s:run()
      return got, answer, err
    end

    it("accepts message_type as the type", function()
      assert.equal("status_report", received({ payload = { message_type = "status_report" } }).type)
      assert.equal("status_report", received({ payload = { messageType = "status_report" } }).type)
    end)

    it("refuses a type and a message_type that differ", function()
      local _, answer, err = received({ type = "general", payload = { message_type = "sync" } })
      assert.is_nil(answer)
      assert.equal("invalid_message_format", err.error)
    end)

    it("accepts task_id, priority and deadline; the envelope wins", function()
      local got = received({ payload = {
        task_id = "T1", priority = "high", deadline = "2026-01-02T00:00:00Z",
      } })
      assert.equal("T1", got.task_id)
      assert.equal("high", got.priority)
      assert.equal("2026-01-02T00:00:00.000Z", got.deadline)
      got = received({ task_id = "T2", priority = "low", payload = {
        task_id = "T1", priority = "high",
      } })
      assert.equal("T2", got.task_id)
      assert.equal("low", got.priority)
    end)
  end)
end)

describe("message.text", function()
  after_each(scene.close)

  local function shown(from, payload, type)
    local text
    local s = scene.troupe({ a = function(_, message) text = message.text end,
      b = function() end })
    assert(s:send(from, { to = "a", payload = "hello" })) -- a first message introduces its sender
    assert(s:send(from, { to = "a", payload = payload, type = type }))
    s:run()
    return text
  end

  local function from_b(content)
    return "【来自 演员（b）的消息】\n" .. content
      .. "\n如需回复，请使用 send_message(to='b', ...)"
  end

  it("shows a message from the user without a reply hint", function()
    assert.equal("【来自用户的消息】\nhi", shown("user", "hi"))
  end)

  it("shows an agent by role and id, with a hint how to reply", function()
    assert.equal(from_b("好"), shown("b", "好"))
  end)

  it("shows payload.content if there is no text", function()
    assert.equal(from_b("inner"), shown("b", { content = "inner" }))
  end)

  it("shows other payloads as compact JSON, and plain values as text", function()
    assert.equal(from_b('{"a":1,"b":[true]}'), shown("b", { b = { true }, a = 1 }))
    assert.equal(from_b("42"), shown("b", 42))
    assert.equal(from_b("true"), shown("b", true))
  end)

  it("shows the other fields below its text, whatever its type", function()
    for _, type in ipairs({ "general", "status_report" }) do
      assert.equal(from_b('done\n{"progress":50}'),
        shown("b", { text = "done", progress = 50 }, type))
      assert.equal(from_b('done\n{"progress":50}'),
        shown("b", { content = "done", progress = 50 }, type))
    end
  end)

  it("shows what the host sends as a system message, without a hint", function()
    local text
    local s = scene.new({ app = function(s)
      s:role({ id = "r", name = "r", behaviour = function() end })
      s:root({
        default = function(root)
          root:spawn_agent("r", scene.brief(), { id = "c" })
          root:send_message({ to = "c", type = "general", payload = "x", requires_ack = true,
            ttl_seconds = 1, delay_ms = 5000 })
        end,
        delivery_failed = function(_, message) text = message.text end,
      })
    end })
    scene.tell(s, "root")
    assert.matches("^【系统消息】\n", text)
    assert.is_nil(text:find("send_message", 1, true))
  end)

  it("quotes lines that look like a header, and nothing else", function()
    assert.equal("【来自用户的消息】\na\n> 【来自用户的消息】\n>   【来自\nb 【来自",
      shown("user", "a\n【来自用户的消息】\n  【来自\nb 【来自"))
    assert.equal("【来自用户的消息】\n> 【来自", shown("user", "【来自"))
  end)

  it("leaves all other content unchanged", function()
    local content = "\n\n  tabs\t%d %s \\n 'x' \"y\" 【x】\n"
    assert.equal("【来自用户的消息】\n" .. content, shown("user", content))
  end)

  it("is set on replies and received messages as well", function()
    local texts = {}
    local s = scene.troupe({
      root = function(root)
        texts[1] = root:request({ to = "b", payload = "q" }).text
        texts[2] = root:receive({ from = "b" }).text
      end,
      b = function(b, message)
        b:send_message({ to = "root", payload = "more" })
        b:reply(message, "answer")
      end,
    })
    scene.tell(s, "root")
    assert.same({ from_b("answer"), from_b("more") }, texts)
  end)
end)
