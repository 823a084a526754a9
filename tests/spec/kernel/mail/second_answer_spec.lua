-- A query is answered once, whether by a response, a reply or a returned value.
--
-- Covers: core/parts/queries/queries.c

local scene = require("scene")

local answer = {
  response = function(agent, query)
    return agent:send_message({ to = query.from, type = "response",
      payload = { query_id = query.id, answer = "42" } })
  end,
  reply = function(agent, query) return agent:reply(query, "42") end,
}

-- Root asks b, which does act(b, query); it waits 100 ms if it is to. When b is told
-- anything else, it responds again: said.later is the error of that.
local function ask(act, waits)
  local asked
  local said = {}
  local s = scene.troupe({
    root = function(root, message)
      local query = { to = "b", type = "query", payload = { query = "?" } }
      if message.from ~= "user" then
        return
      elseif waits then
        query.timeout_ms = 100
        said.waited = select(2, root:request(query)).error
      else
        assert(root:send_message(query))
      end
    end,
    b = function(b, message)
      if message.type == "query" then
        asked = message
        return act(b, message, said)
      end
      said.later = select(2, answer.response(b, asked)).error
    end,
  })
  scene.tell(s, "root")
  return s, said
end

-- How many answers from b were sent.
local function count(s)
  local answers = 0
  for _, message in ipairs(s:messages({ agent = "root" })) do
    answers = answers + (message.from == "b" and message.reply_to and 1 or 0)
  end
  return answers
end

describe("a second answer to a query", function()
  after_each(scene.close)

  local orders = { { "reply", "response" }, { "response", "reply" }, { "reply", "reply" } }

  it("is refused, reply or response, also after a crash", function()
    for _, order in ipairs(orders) do
      local s, said = ask(function(b, query, said)
        assert(answer[order[1]](b, query))
        said.second = select(2, answer[order[2]](b, query)).error
      end)
      assert.equal("unknown_query", said.second)
      s:crash()
      s:recover()
      scene.tell(s, "b")
      assert.equal("unknown_query", said.later)
      assert.equal(1, count(s))
      scene.close()
    end
  end)

  it("is refused after a returned value", function()
    local s, said = ask(function() return "mine" end)
    scene.tell(s, "b")
    assert.equal("unknown_query", said.later)
    assert.equal(1, count(s))
  end)

  it("is not sent if it is the returned value", function()
    local s = ask(function(b, query)
      assert(answer.response(b, query))
      return "no second one"
    end)
    assert.equal(1, count(s))
    assert.same({}, s:dead_letters())
  end)

  it("is refused if nobody waits any more, where the first was dropped", function()
    for _, order in ipairs(orders) do
      local s, said = ask(function(b, query, said)
        b:sleep(200)
        assert(answer[order[1]](b, query))
        said.second = select(2, answer[order[2]](b, query)).error
      end, true)
      assert.same({ waited = "timeout", second = "unknown_query" }, said)
      scene.tell(s, "b")
      assert.equal("unknown_query", said.later)
      assert.equal(1, s:stats().dropped)
      scene.close()
    end
  end)
end)
