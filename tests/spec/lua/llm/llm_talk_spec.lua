-- Thinking agents that write to each other forever: stopped at a limit, by name.
--
-- Covers: core/script/turns/handle.c

local scene = require("scene")
local thinkers = require("thinkers")

local think, call, ask, last, memory =
  thinkers.think, thinkers.call, thinkers.ask, thinkers.last, thinkers.memory

-- What an agent does with each message: it writes to the other one, again and again.
local function polite(options)
  return function(request)
    if last(request.messages).role == "tool" then
      return options.says or ""
    end
    local other = request.agent == "ann" and "bob" or "ann"
    return call(options.verb or "send_message", { to = other, payload = {
      text = "and you? " .. #request.messages } })
  end
end

-- ann and bob talk; returns how many messages went between them, and the reports to root.
local function talk(options)
  local s = think(options.answers or polite(options), { ids = { "ann", "bob" },
    policies = { contacts = "open" }, llm = { guards = options.guards, tools = options.tools } })
  ask(s)
  local between, reports = 0, {}
  for _, message in ipairs(s:messages()) do
    if message.from ~= "user" and (message.to == "ann" or message.to == "bob")
      and (message.from == "ann" or message.from == "bob") then
      between = between + 1
    elseif message.type == "status_report" then
      reports[#reports + 1] = message
    end
  end
  return s, between, reports
end

describe("two agents that answer each other forever", function()
  after_each(scene.close)

  for _, case in ipairs({
    { name = "at 100 messages", limit = 100 },
    { name = "at the number that is set", limit = 12, guards = { talk = 12 } },
  }) do
    it("are stopped by endless_talk " .. case.name, function()
      local s, between, reports = talk({ guards = case.guards })
      -- The person's message is the first; the limit-th between the two is not thought
      -- about.
      assert.equal(case.limit, between)
      assert.equal(1, #reports)
      assert.equal("root", reports[1].to)
      assert.same({ "stopped", "endless_talk" }, { reports[1].payload.status,
        reports[1].payload.guard })
      assert.matches(("%d messages in a row, and nobody has made progress"):format(case.limit),
        reports[1].payload.text, 1, true)
      local calls = 0
      for _, row in ipairs(s:usage()) do
        calls = calls + row.calls
      end
      assert.equal(2 * case.limit, calls) -- each message: a call of the tool, and a last word
      -- What was said is kept, including the message that was not thought about.
      assert.equal(case.limit + 1, (#memory(s, "ann") + #memory(s, "bob") - 1) // 4 + 1)
      assert.same({ "idle", "idle" }, { s:agent("ann").status, s:agent("bob").status })
      assert.same({}, s:dead_letters())
      assert.is_true(scene.law_holds(s))
    end)
  end

  it("are stopped where each answers in plain text as well", function()
    local _, between, reports = talk({ says = "yours, as ever", guards = { talk = 20 } })
    assert.is_true(between >= 20 and between <= 60, between .. " messages")
    assert.equal("endless_talk", reports[1].payload.guard)
  end)

  it("continue while there is progress, and when the guard is off", function()
    local count = 0
    local function some(request)
      count = count + 1
      return count < 120 and polite({})(request) or ""
    end
    local _, between, reports = talk({ answers = some, guards = { talk = false } })
    assert.same({ 60, 0 }, { between, #reports })
    scene.close()

    count = 0
    _, between, reports = talk({ guards = { talk = 10 }, answers = function(request)
      count = count + 1
      if last(request.messages).role == "tool" or count > 150 then
        return ""
      end
      local other = request.agent == "ann" and "bob" or "ann"
      return { tool_calls = { { name = "work", arguments = {} },
        { name = "send_message", arguments = { to = other, payload = { text = "next" } } } } }
    end, tools = { { name = "work", run = function(agent)
      agent.state.done = (agent.state.done or 0) + 1
    end } } })
    assert.is_true(between > 60, between .. " messages")
    assert.equal(0, #reports)
  end)

  it("may talk again when the person writes", function()
    local s = talk({ guards = { talk = 6 } })
    local before = #s:messages()
    ask(s)
    assert.is_true(#s:messages() > before + 4)
  end)
end)

describe("a thinking parent that is notified", function()
  after_each(scene.close)

  it("can act on it", function()
    local heard
    local s = scene.new({
      policies = { contacts = "open" },
      config = { llm = { provider = "scripted", guards = { talk = 6 }, answers = function(request)
        local entry = last(request.messages)
        if request.agent == "root" then
          heard = heard or (entry.content:find("endless_talk", 1, true) and entry.content)
          return entry.content:find("hire", 1, true) and call("hire") or "I see"
        end
        return polite({})(request)
      end, tools = { { name = "hire", roles = { "root" }, run = function(agent)
        assert(agent:spawn_agent("thinker", scene.brief(), { id = "ann" }))
        assert(agent:spawn_agent("thinker", scene.brief(), { id = "bob" }))
      end } } } },
      app = function(s)
        s:role({ id = "thinker", name = "思考者", prompt = "想一想", behaviour = "llm" })
        s:root("llm")
      end,
    })
    assert(s:send("user", { to = "root", payload = { text = "hire" } }))
    s:run()
    ask(s)
    assert.matches("was stopped (endless_talk)", heard, 1, true)
    assert.equal("idle", s:agent("root").status)
  end)
end)
