-- A `response` with a query_id answers the request or the query it names, as a reply would.
--
-- Covers: core/parts/queries/queries.c

local scene = require("scene")

-- root asks a; a runs act(a, message, root's request); returns answer, err, society.
local function ask(act, acts, timeout_ms)
  local result
  acts = acts or {}
  acts.a = act
  acts.root = function(root, message)
    if message.from == "user" then
      result = table.pack(root:request({ to = "a", type = "query", payload = { query = "x" },
        timeout_ms = timeout_ms or 1000 }))
    end
  end
  local s = scene.troupe(acts)
  scene.tell(s, "root")
  return result[1], result[2], s
end

local function respond(agent, message, id, more)
  local options = { to = message.from, type = "response",
    payload = { query_id = id or message.id, answer = "42" } }
  for name, value in pairs(more or {}) do
    options[name] = value
  end
  return agent:send_message(options)
end

describe("a response", function()
  after_each(scene.close)

  it("that names the request by its message id is the reply", function()
    local answer, _, s = ask(function(a, message) assert(respond(a, message)) end)
    assert.equal("response", answer.type)
    assert.equal("42", answer.payload.answer)
    assert.equal(scene.message(s, {}, { to = "a", type = "query" }).id, answer.reply_to)
    assert.same({}, s:waits())
  end)

  it("is the reply even if its type is in the payload", function()
    for _, name in ipairs({ "message_type", "messageType" }) do
      local answer = ask(function(a, message)
        assert(a:send_message({ to = message.from,
          payload = { [name] = "response", query_id = message.id, answer = "42" } }))
        return "no second one"
      end)
      assert.equal("42", answer.payload.answer)
    end
  end)

  it("counts as the reply: the handler's return value is not sent as well", function()
    local _, _, s = ask(function(a, message)
      assert(respond(a, message))
      return "no second one"
    end)
    assert.equal(1, #s:messages({ type = "response" }))
    assert.equal(0, s:stats().dropped)
  end)

  it("counts as the reply after a crash", function()
    local s = scene.troupe({
      a = function(a, message)
        assert(respond(a, message))
        a:sleep(100)
        return "no second one"
      end,
      root = function(root, message)
        if message.from == "user" then
          root:request({ to = "a", payload = "x" })
        end
      end,
    })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(50)
    s:crash()
    s:recover()
    s:run()
    assert.equal(0, s:stats().dropped)
    assert.equal(4, s:stats().sent)
  end)

  it("may come from a later activation", function()
    local answer = ask(function(a, message)
      if message.type == "query" then
        a:send_message({ to = "a", type = "note", payload = { from = message.from,
          id = message.id }, delay_ms = 20 })
      else
        assert(respond(a, { from = message.payload.from }, message.payload.id))
      end
    end)
    assert.equal("42", answer.payload.answer)
  end)

  it("is held back until it is due, and still answers", function()
    local answer, _, s = ask(function(a, message)
      assert(respond(a, message, nil, { delay_ms = 200 }))
    end)
    assert.equal("42", answer.payload.answer)
    assert.equal(200, s:now() - 1767225600000)
  end)

  it("that falls due while the society is down answers after the start", function()
    local got
    local s = scene.troupe({
      a = function(a, message) assert(respond(a, message, nil, { delay_ms = 200 })) end,
      root = function(root, message)
        if message.from == "user" then
          got = root:request({ to = "a", payload = "x", timeout_ms = 1000 })
        end
      end,
    })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(100)
    s:crash()
    s:recover()
    s:advance(500)
    assert.equal("42", got.payload.answer)
    assert.is_true(scene.law_holds(s))
  end)

  it("that names no query of the receiver is refused", function()
    local refused = {}
    local answer, err = ask(function(a, message)
      for i, id in ipairs({ "msg_x", "q-7" }) do
        refused[i] = select(2, respond(a, message, id))
      end
      a:send_message({ to = message.from, type = "response", payload = "no object" })
    end, nil, 100)
    assert.is_nil(answer)
    assert.equal("timeout", err.error)
    for i, id in ipairs({ "msg_x", "q-7" }) do
      assert.same({ "unknown_query", id, "root" },
        { refused[i].error, refused[i].query_id, refused[i].to })
    end
  end)

  it("from an agent that was not asked is refused", function()
    local refused
    local answer = ask(function(a, message)
      a:send_message({ to = "b", payload = { id = message.id } })
      a:sleep(10)
      return { answer = "mine" }
    end, {
      b = function(b, message)
        refused = select(2, respond(b, { from = "root" }, message.payload.id))
      end,
    })
    assert.equal("mine", answer.payload.answer)
    assert.equal("unknown_query", refused.error)
  end)

  it("that is the second to a request is refused, in the same turn and later", function()
    local refused = {}
    ask(function(a, message)
      assert(respond(a, message))
      refused[1] = select(2, respond(a, message))
      a:sleep(10)
      refused[2] = select(2, respond(a, message))
    end)
    assert.same({ "unknown_query", "unknown_query" }, { refused[1].error, refused[2].error })
  end)

  -- root tells a to ask b a query that nobody waits for; b does act(b, query).
  local function query(act)
    local got = {}
    local s = scene.troupe({
      a = function(a, message)
        if message.type == "response" then
          got[#got + 1] = message
        else
          a:send_message({ to = "b", type = "query", payload = { query = "?" } })
        end
      end,
      b = act,
    })
    scene.tell(s, "a")
    return s, got
  end

  it("to a query that nobody waits for reaches the asker, once, also after a crash", function()
    local asked, refused
    local s, got = query(function(b, message)
      if message.type == "query" then
        asked = message
      else
        local _, err = respond(b, asked)
        refused = err and err.error
      end
    end)
    s:crash()
    s:recover()
    scene.tell(s, "b")
    assert.is_nil(refused)
    assert.same({ asked.id, "42" }, { got[1].reply_to, got[1].payload.answer })
    scene.tell(s, "b")
    assert.equal("unknown_query", refused)
    s:crash()
    s:recover()
    refused = nil
    scene.tell(s, "b")
    assert.equal("unknown_query", refused)
    assert.equal(1, #got)
    assert.is_true(scene.law_holds(s))
  end)

  it("in a turn that raises does not count", function()
    local tries = 0
    local _, got = query(function(b, message)
      tries = tries + 1
      assert(respond(b, message))
      assert(tries > 1)
    end)
    assert.same({ 2, 1 }, { tries, #got })
  end)

  it("to a broadcast query may come from each reader, once", function()
    local refused = {}
    local s = scene.troupe({ a = function(a, message)
      assert(respond(a, message))
      refused[#refused + 1] = select(2, respond(a, message)).error
    end, b = function(b, message) assert(respond(b, message)) end })
    assert(s:send("user", { to = "All", type = "query", payload = { query = "?" } }))
    s:run()
    assert.equal(2, #s:messages({ type = "response" }))
    assert.same({ "unknown_query" }, refused)
  end)

  it("from another activation, to a request that timed out, is dropped and logged", function()
    local asked
    local _, err, s = ask(function(a, message)
      if message.type == "query" then
        asked = message
      else
        assert(respond(a, asked))
      end
    end, nil, 100)
    assert.equal("timeout", err.error)
    s:crash()
    s:recover()
    scene.tell(s, "a")
    local late = scene.message(s, { type = "response" }, {})
    assert.same({ "dropped", "late_reply" }, { late.status, late.reason })
  end)

  it("reaches an asker who is not a contact of the responder", function()
    local refused
    local s = scene.new()
    s:role({ id = "child", name = "child", behaviour = function(agent, message)
      local _
      agent:remove_contact("user")
      _, refused = agent:send_message({ to = message.from, payload = "x" })
      assert(respond(agent, message))
    end })
    s:root(function(root) root:spawn_agent("child", scene.brief(), { id = "c" }) end)
    scene.tell(s, "root")
    assert.equal("42", s:dispatch("c", "x").payload.answer)
    assert.equal("unknown_contact", refused.error)
  end)

  it("that comes late is dropped and logged", function()
    local _, err, s = ask(function(a, message)
      assert(respond(a, message, nil, { delay_ms = 200 }))
    end, nil, 100)
    assert.equal("timeout", err.error)
    local late = scene.message(s, { type = "response" }, {})
    assert.equal("dropped", late.status)
    assert.equal("late_reply", late.reason)
  end)

  it("in transit counts as an answer: no deadlock is reported", function()
    local said = {}
    local s = scene.troupe({
      a = function(a, message)
        if message.type == "go" then
          said.a = a:request({ to = "b", type = "query", payload = { query = "x" } }).payload.answer
        else
          return { text = "fine" }
        end
      end,
      b = function(b, message)
        assert(respond(b, message, nil, { delay_ms = 100 }))
        said.b = b:request({ to = "a", payload = "how are you?" }).payload.text
      end,
    })
    assert(s:send("user", { to = "a", type = "go", payload = "go" }))
    s:run()
    assert.same({ a = "42", b = "fine" }, said)
  end)
end)
