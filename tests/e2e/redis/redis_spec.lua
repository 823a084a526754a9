-- The door for plain Redis clients, key by key, with a Redis of its own.
--
-- Covers: core/bridge/redis/door.c, core/bridge/redis/poll.c, core/bridge/redis/intake.c
-- Covers: core/bridge/redis/outlet.c, core/bridge/redis/status.c

local json = require("society.json")
local program = require("program")
local switchboard = require("switchboard")

describe("the Redis door", function()
  local s

  setup(function()
    s = switchboard.open({ guest = "visitor" })
  end)

  teardown(function()
    s:close()
  end)

  it("answers requests from a list, a stream and a channel", function()
    s.redis:push("clerk", { from = "Codex", correlation_id = "list-1", content = "one" })
    s.redis:add("agent:clerk:inbox", { from = "Gemini", correlation_id = "stream.1",
      payload = "two" })
    local reply = s.redis:reply("list-1")
    assert.same({ "Codex", "one" }, { reply.from, reply.heard.text })
    assert.equal("Gemini", s.redis:reply("stream.1").from)
    program.wait_for("the channel", function()
      return s.redis:call("PUBSUB NUMPAT"):find("2", 1, true)
    end)
    s.redis:call(("PUBLISH agent:clerk:inbox %s"):format(require("redis_server").word({
      correlation_id = "channel_1", payload = "three" })))
    assert.equal("visitor", s.redis:reply("channel_1").from)
    local seconds = tonumber(s.redis:call("TTL reply:channel_1"):match("%d+"))
    assert.is_true(seconds > 0 and seconds <= 3600)
  end)

  it("answers a request that fails with the error", function()
    local cases = {
      { id = "e1", message = { from = "Codex" }, error = "missing_payload" },
      { id = "e2", message = { from = "Codex", payload = "x", type = "nonsense" },
        error = "invalid_message_format" },
      { id = "e3", message = { from = "Codex", payload = "fail" }, error = "receiver_failed" },
      { id = "e4", message = { from = "Codex", payload = "x", priority = 7 },
        error = "invalid_argument" },
    }
    for _, case in ipairs(cases) do
      case.message.correlation_id = case.id
      s.redis:push("clerk", case.message)
    end
    for _, case in ipairs(cases) do
      assert.equal(case.error, s.redis:reply(case.id).error)
    end
  end)

  it("takes the sender from the key, or from a name behind the door, else it is the guest",
    function()
      s.redis:add("agent:Codex:outbox", { from = "root", to = "clerk", correlation_id = "f1",
        payload = "x" })
      s.redis:push("clerk", { from = "root", correlation_id = "f2", payload = "x" })
      s.redis:push("clerk", { from = "user", correlation_id = "f3", payload = "x" })
      assert.equal("Codex", s.redis:reply("f1").from)
      assert.equal("visitor", s.redis:reply("f2").from)
      assert.equal("visitor", s.redis:reply("f3").from)
    end)

  it("fills the list, the stream and the channel of an agent outside, once", function()
    local sent = s:tell({ command = "send", message = { to = "Codex", payload = "hello" } })
    local mail = s.redis:await("agent:Codex:inbox", 1)
    mail = mail[#mail]
    assert.equal(sent.messageId, mail.id)
    assert.same({ text = "hello" }, mail.payload)
    assert.equal("root", mail.from)
    local queue = s.redis:queue("Codex")
    assert.equal(sent.messageId, queue[#queue].id)
    assert.same({ text = "hello" }, queue[#queue].content)
    local before = #queue
    s:tell({ command = "burst", to = "Codex", count = 300 })
    program.wait_for("300 messages", function()
      return #s.redis:queue("Codex") == before + 300
    end)
    for i, message in ipairs(s.redis:queue("Codex")) do
      assert.equal(i > before and i - before or nil, message.content.number)
    end
  end)

  it("delivers a request to an agent outside, and its reply by either way", function()
    local pipe = io.popen(("cd %s && %s send --state st --to root --wait --timeout 300000 "
      .. "--json-payload %s"):format(program.quote(s.place.path), program.quote(s.place.program),
      program.quote(json.encode({ command = "ask",
        request = { to = "Gemini", payload = "how many?" } }))))
    local asked = s.redis:find("agent:Gemini:inbox", function(message)
      return message.reply_channel
    end)
    assert.equal("reply:" .. asked.correlation_id, asked.reply_channel)
    s.redis:call(("PUBLISH %s '{\"many\":3}'"):format(asked.reply_channel))
    assert.same({ many = 3 }, json.decode(pipe:read("a")))
    pipe:close()
  end)

  it("takes acks and tasks' results from an outbox", function()
    s:tell({ command = "send", message = { to = "Gemini", type = "task_assign",
      payload = { task_id = "t1" } } })
    local task = s.redis:find("agent:Gemini:inbox", function(message)
      return message.type == "task_assign"
    end)
    assert.is_true(task.requires_ack)
    s.redis:add("agent:Gemini:outbox", { msg_id = task.id, status = "received" })
    s.redis:add("agent:Gemini:outbox", { id = "r1", type = "task_complete",
      payload = { task_id = "t1", status = "done", output = "all" } })
    local heard = s:await_heard(1)
    assert.equal("task_complete", heard[#heard].type)
    -- It is acked as what requires an ack.
    s.redis:find("agent:Gemini:inbox", function(message)
      return message.ack_for == "r1" and message.status == "processed"
    end)
  end)

  it("puts a broadcast into broadcast:all once", function()
    s:tell({ command = "shout", text = "to all" })
    assert.same({ text = "to all" }, s.redis:await("broadcast:all", 1)[1].payload)
    s:tell({ command = "send", message = { to = "Gemini", payload = "after" } })
    s.redis:find("agent:Gemini:inbox", function(message)
      return message.payload and message.payload.text == "after"
    end)
    assert.equal(1, #s.redis:stream("broadcast:all"))
  end)

  it("shows how the agents are", function()
    local status = program.wait_for("the status", function()
      local all = s.redis:json("HGETALL helix:agent:status")
      return all and all.clerk and all.root and json.decode(all.clerk)
    end)
    assert.equal("clerk", status.agent)
    assert.matches("%d+%%", status.load)
    assert.is_truthy(status.queue_length)
  end)

  it("skips what is malformed, and reads on beside a key of the wrong type", function()
    s.redis:call("SET helix:queue:root text")
    s.redis:call("SADD agent:clerk:outbox text") -- of an agent inside: nobody reads it
    s.redis:call("LPUSH helix:queue:clerk '{' '[1]' '\"x\"'")
    s.redis:call("XADD agent:clerk:inbox * a 1 b 2")
    s.redis:call("XADD agent:Codex:outbox * message '{\"ack_for\":\"msg_1\"}'")
    s.redis:push("clerk", { from = "Codex", correlation_id = "m1", payload = "still here" })
    s.redis:add("agent:clerk:inbox", { from = "Codex", correlation_id = "m2", payload = "x" })
    assert.equal("still here", s.redis:reply("m1").heard.text)
    assert.equal("Codex", s.redis:reply("m2").from)
    s:await_log("helix:queue:root holds a string")
    s:await_log("skipped: it is no JSON")
    s:await_log("skipped: an entry needs a field called message")
    assert.equal(1, s:count_log("holds a string"))
    s.redis:call("DEL helix:queue:root")
  end)

  it("takes what has the same id once", function()
    for _ = 1, 3 do
      s.redis:push("clerk", { from = "Codex", id = "same", payload = { number = 777 } })
      s.redis:add("agent:clerk:inbox", { from = "Codex", id = "same", payload = { number = 777 } })
    end
    s.redis:push("clerk", { from = "Codex", correlation_id = "d1", payload = "counts" })
    s.redis:add("agent:clerk:inbox", { from = "Codex", correlation_id = "d2", payload = "counts" })
    assert.equal(1, s.redis:reply("d1").counts["777"])
    assert.equal(1, s.redis:reply("d2").counts["777"])
  end)

  it("removes what it has taken", function()
    s.redis:push("clerk", { from = "Codex", payload = { number = 1 } })
    program.wait_for("empty streams", function()
      return s.redis:call("XLEN society:switchboard:door:taken:clerk") == "(integer) 0\n"
        and s.redis:call("XLEN agent:clerk:inbox") == "(integer) 0\n"
        and s.redis:call("XLEN agent:Codex:outbox") == "(integer) 0\n"
    end)
  end)
end)
