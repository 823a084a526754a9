-- Answers to agents on other hosts that come in a later activation, after a restart, or from
-- agents outside: messages keep their ids, and these name them.
--
-- Covers: core/parts/hosts/hosts_asked.c, core/parts/queries/queries.c, core/kernel/mail/asked.c
-- Covers: core/parts/outside/outside_letters.c, core/parts/outside/outside_in.c

local fleets = require("fleets")
local json = require("society.json")
local scene = require("scene")

local POLICIES = { messages = { "workflow", "helix", "any" }, contacts = "open" }
local HOUR_MS = 3600000

-- Root notes what it is asked and answers when the person tells it to, by the way that is named.
local function patient(s)
  local ways = {
    reply = function(root, payload) return root:reply(root.state.id, payload) end,
    chain = function(root, payload) return root:reply(root.state.chain, payload) end,
    response = function(root, payload)
      payload.query_id, payload.answer = root.state.id, payload.text
      return root:send_message { to = "root@alpha", type = "response", payload = payload }
    end,
  }
  local function note(root, message)
    root.state.id, root.state.chain = message.id, message.correlation_id
    if message.payload.query == "now" then
      assert(ways.response(root, { text = "at once" }))
    end
  end
  s.root {
    answer = function(root, message)
      local sent, err = ways[message.payload.way](root, { text = message.payload.text })
      root.state.did = sent and "sent" or err.error
    end,
    general = note, query = note, system = function() end,
    quick = function() return { text = "at once" } end,
  }
end

local function answer(f, way, text)
  assert(f.beta:send("user", { to = "root", type = "answer",
    payload = { way = way, text = text } }))
  f:advance(1000)
  return f.beta.agent("root").state.did
end

local function request(fields)
  return function(root)
    fields.to, fields.timeout_ms = "root@beta", HOUR_MS
    fields.payload = fields.payload or { text = "?" }
    local got, err = root:request(fields)
    return got and { got.payload.text, got.correlation_id, got.from } or { err.error }
  end
end

-- `faults` is called when beta has the question.
local function ask(story, faults)
  return fleets.act(story, { beta = patient }, { policies = POLICIES, faults = function(f)
    f:advance(1000)
    faults(f)
  end })
end

local function restart(f)
  f.beta:crash()
  f.beta:recover()
  f:advance(3000)
end

local function keys_of(s)
  local count = 0
  for _, row in ipairs(json.decode(s:dump())) do
    count = count + (row.table == "sent_keys" and 1 or 0)
  end
  return count
end

describe("an agent that another host has asked", function()
  after_each(scene.close)

  it("may reply in a later activation, once, by the id or the chain of the request", function()
    for _, way in ipairs({ "reply", "chain" }) do
      local chain
      local f, got = ask(request {}, function(f)
        chain = f.beta.agent("root").state.chain
        assert.equal("sent", answer(f, way, "late"))
        assert.equal("message_not_found", answer(f, way, "again"))
      end)
      assert.same({ "late", chain, "root@beta" }, got)
      local sent = fleets.find(f.beta:messages(), "root@alpha", "to")
      assert.equal(f.beta.agent("root").state.id, sent.reply_to)
      local warnings = f.beta:activity({ type = "no_reply" })
      assert.same({ 1, "root@alpha" }, { #warnings, json.decode(warnings[1].detail).from })
      assert.equal(0, f.alpha:stats().dropped)
      scene.close()
    end
  end)

  it("may reply after a restart, and not twice", function()
    local _, got = ask(request {}, function(f)
      restart(f)
      assert.equal("sent", answer(f, "reply", "late"))
      restart(f)
      assert.equal("message_not_found", answer(f, "reply", "again"))
    end)
    assert.equal("late", got[1])
  end)

  it("has its late reply delivered though it waited for the link when the host was killed",
    function()
      local _, got = ask(request {}, function(f)
        f:cut("beta")
        assert.equal("sent", answer(f, "reply", "late"))
        restart(f)
        f:mend("beta")
      end)
      assert.equal("late", got[1])
    end)

  it("stores nothing beside the message if it replies at once", function()
    local f, got = ask(request { type = "quick" }, function() end)
    assert.equal("at once", got[1])
    assert.equal(0, #f.beta:activity({ type = "no_reply" }))
    assert.equal(0, keys_of(f.beta))
    f = ask(request {}, function() end)
    assert.is_true(keys_of(f.beta) > 0)
  end)
end)

describe("a query from another host", function()
  after_each(scene.close)

  it("is answered by a response at once", function()
    local _, got = ask(request { type = "query", payload = { query = "now" } }, function() end)
    assert.equal("at once", got[1])
  end)

  it("is answered by a response later, once, also after a restart", function()
    local _, got = ask(request { type = "query", payload = { query = "?" } }, function(f)
      restart(f)
      assert.equal("sent", answer(f, "response", "late"))
      assert.equal("unknown_query", answer(f, "response", "again"))
      restart(f)
      assert.equal("unknown_query", answer(f, "response", "again"))
    end)
    assert.equal("late", got[1])
  end)

  it("may be one that nobody waits for", function()
    local f, sent = ask(function(root)
      return assert(root:send_message { to = "root@beta", type = "query",
        payload = { query = "?" } })
    end, function(f)
      restart(f)
      assert.equal("sent", answer(f, "response", "late"))
      assert.equal("unknown_query", answer(f, "response", "again"))
    end)
    local came = fleets.find(f.alpha:messages({ type = "response" }), "root@beta", "from")
    assert.same({ sent.messageId, "late" }, { came.reply_to, came.payload.answer })
  end)
end)

describe("an agent outside that another host writes to", function()
  after_each(scene.close)

  local function outpost(s)
    s.role { id = "worker", name = "Worker", behaviour = "external" }
    s.root {
      hire = function(root) assert(root:spawn_agent("worker", scene.brief(), { id = "w" })) end,
      default = function(root, message)
        root.state.seen = root.state.seen or {}
        table.insert(root.state.seen, message.payload)
      end,
      system = function() end,
    }
  end

  -- `work` is called when `w` has its mail, with the fleet and what it got.
  local function play(story, work)
    local f, got = fleets.act(story, { beta = outpost }, {
      policies = POLICIES,
      before = function(f)
        assert(f.beta:send("user", { to = "root", type = "hire", payload = "x" }))
        f:advance(100)
      end,
      faults = function(f)
        f:advance(1000)
        work(f, f.beta:outside("w")[1])
      end,
    })
    return got, f
  end

  it("acks by the id that it sees, which its sender hears", function()
    local got, f = play(function(root)
      local sent, err = root:send_message { to = "w@beta", type = "task_assign", task_id = "t1",
        payload = { task_id = "t1" }, wait_ack = "processed", timeout_ms = HOUR_MS }
      return { sent and sent.ack or err.error, sent and sent.messageId }
    end, function(f, seen)
      assert(f.beta:ack("w", seen.id, "received"))
      f:advance(60000)
      assert.equal(1, #f.beta:outside("w")) -- no ladder was climbed
      assert(f.beta:ack("w", seen.id, "processed"))
      assert(f.beta:ack("w", seen.id, "processed"))
    end)
    assert.equal("processed", got[1])
    assert.equal(got[2], f.beta:outside("w")[1].id)
  end)

  it("answers by that id or the chain, though the letter has ended", function()
    for _, name in ipairs({ "id", "correlation_id" }) do
      local got, f = play(function(root)
        local reply, err = root:request { to = "w@beta", payload = "?", timeout_ms = HOUR_MS }
        return { reply and reply.payload.text or err.error }
      end, function(f, seen)
        assert(f.beta:outside_send("w", { reply_to = seen[name], payload = "yes" }))
        f:advance(1000)
        local _, err = f.beta:outside_send("w", { reply_to = seen.id, payload = "again" })
        assert.equal("message_not_found", err.error)
      end)
      assert.same({ "yes" }, got)
      assert.is_nil((f.beta.agent("root").state or {}).seen)
      scene.close()
    end
  end)

  it("answers a query by its id", function()
    local got = play(function(root)
      local reply, err = root:request { to = "w@beta", type = "query", timeout_ms = HOUR_MS,
        payload = { query = "?" } }
      return { reply and reply.payload.answer or err.error }
    end, function(f, seen)
      assert(f.beta:outside_send("w", { to = seen.from, type = "response",
        payload = { query_id = seen.id, answer = "yes" } }))
    end)
    assert.same({ "yes" }, got)
  end)
end)
