-- What stops a thinking agent, by name; who is notified; and what stays.

local scene = require("scene")
local thinkers = require("thinkers")

local think, call, ask, last, memory =
  thinkers.think, thinkers.call, thinkers.ask, thinkers.last, thinkers.memory

-- The status report of ann's that root got.
local function report(s)
  return scene.message(s, { agent = "root", type = "status_report" }, { from = "ann" })
end

describe("a guard", function()
  after_each(scene.close)

  local count = 0
  local function different()
    count = count + 1
    return call("list_contacts", { n = count })
  end

  local PRICES = { scripted = { input = 2, output = 4 } } -- a costly call: 1000 micros

  local function costly()
    local answer = different()
    answer.usage = { input_tokens = 300, output_tokens = 100 }
    return answer
  end

  for _, case in ipairs({
    { guard = "rounds", llm = { guards = { rounds = 6 } }, answers = different, calls = 6,
      entries = 13 },
    { guard = "repeated_call", llm = {}, answers = function() return call("list_contacts") end,
      calls = 4, entries = 9 },
    { guard = "no_progress", llm = {}, answers = function()
      count = count + 1
      return call("nonsense", { n = count })
    end, calls = 5, entries = 11 },
    { guard = "wall_time", llm = { guards = { wall_ms = 5000 } }, answers = function()
      local answer = different()
      answer.delay_ms = 2000
      return answer
    end, calls = 2, entries = 5 },
    { guard = "budget_exceeded", llm = { limits = { agent_tokens = 1000 } }, answers = costly,
      calls = 3, entries = 7, what = "the agent's tokens" },
    { guard = "budget_exceeded", llm = { limits = { society_tokens = 1000 } }, answers = costly,
      calls = 3, entries = 7, what = "the society's tokens" },
    { guard = "budget_exceeded", llm = { limits = { task_tokens = 1000 } }, answers = costly,
      calls = 3, entries = 7, what = "the task's tokens", task = "T" },
    { guard = "budget_exceeded", llm = { limits = { agent_cost = 0.0025 }, prices = PRICES },
      answers = costly, calls = 3, entries = 7, what = "the agent's cost" },
    { guard = "budget_exceeded", llm = { limits = { society_cost = 0.0025 }, prices = PRICES },
      answers = costly, calls = 3, entries = 7, what = "the society's cost" },
    { guard = "budget_exceeded", llm = { limits = { task_cost = 0.0025 }, prices = PRICES },
      answers = costly, calls = 3, entries = 7, what = "the task's cost", task = "T" },
    { guard = "model_unavailable", llm = { retries_max = 2 }, answers = function()
      return { error = "model_unavailable", retryable = true }
    end, calls = 1, entries = 1 },
  }) do
    it(("called %s (%s) stops it, notifies the parent, keeps earlier work"):format(case.guard,
      case.what or case.guard), function()
        local s = think(case.answers, { llm = case.llm })
        local reply = last(ask(s, "hello", { task_id = case.task }))
        assert.equal("stopped", reply.payload.error)
        assert.equal(case.guard, reply.payload.guard)
        assert.matches(("ann was stopped (%s): "):format(case.guard), reply.payload.text, 1, true)
        local told = report(s)
        assert.equal(case.guard, told.payload.guard)
        assert.equal("stopped", told.payload.status)
        assert.equal("ann", told.payload.agent)
        assert.equal(case.calls, s:usage({ agent = "ann" })[1].calls
          + (s:usage({ agent = "ann" })[2] or { calls = 0 }).calls)
        assert.equal(case.entries, #memory(s, "ann"))
        assert.equal(1, #s:messages({ agent = "root", type = "status_report" }))
        assert.equal("idle", s:agent("ann").status)
        assert.same({}, s:dead_letters())
        assert.is_true(#s:transcript() < 200000)
      end)
  end

  it("that is a limit says which, and how much of it is used", function()
    for of, case in pairs({
      agent = { { agent_tokens = 1000 }, "tokens", 1200, 1000,
        "the agent has reached its limit: 1200 tokens of 1000 tokens; raise "
          .. "llm.limits.agent_tokens to continue" },
      society = { { society_cost = 0.0025 }, "cost_micros", 3000, 2500,
        "the society has reached its limit: $0.003000 of $0.002500; raise "
          .. "llm.limits.society_cost to continue" },
    }) do
      local s = think(costly, { llm = { limits = case[1], prices = PRICES } })
      local payload = last(ask(s)).payload
      assert.same({ of, case[2], case[3], case[4], case[5] },
        { payload.of, payload.what, payload.used, payload.limit, payload.message })
      local line = s:transcript():match("the agent was stopped: budget_exceeded[^\n]*")
      assert.matches(('"of":"%s"'):format(of), line, 1, true)
      assert.matches(case[5], line, 1, true)
      scene.close()
    end
  end)

  it("against repeated calls names as many as were made", function()
    local s = think(function() return call("list_contacts") end)
    assert.equal("list_contacts was called 3 times with the same arguments",
      last(ask(s)).payload.message)
  end)

  it("recognises a repeated call however its arguments are written", function()
    local forms = { '{"a":1,"b":[1,2]}', '{ "b": [1, 2], "a": 1 }', '{"b":[1.0,2],\n"a":1.0}',
      '{"a":10e-1,"b":[1,2]}' }
    local number = 0
    local s = think(function()
      number = number + 1
      return { tool_calls = { { name = "own", arguments = forms[(number - 1) % #forms + 1] } } }
    end, { llm = { tools = { { name = "own", run = function() return "ok" end } } } })
    assert.equal("repeated_call", last(ask(s)).payload.guard)
    assert.equal(4, number)
  end)

  it("distinguishes calls with different arguments", function()
    local number = 0
    local forms = { '{"a":1}', '{"a":"1"}', '{"a":true}', '{"a":[1]}', '{"a":{"a":1}}',
      '{"a":null}', "{}", '{"b":1}' }
    local s = think(function()
      number = number + 1
      local form = forms[(number - 1) // 3 + 1]
      return form and { tool_calls = { { name = "own", arguments = form } } } or "enough"
    end, { llm = { tools = { { name = "own", run = function() return "ok" end } } } })
    assert.equal("enough", last(ask(s)).payload.text)
  end)

  it("does not count the time that people take, also across a crash", function()
    local DAY_MS = 86400000
    for _, how in ipairs({ "verb", "tool", "request", "receive" }) do
      local s = think(function(request)
        local entry = last(request.messages)
        if entry.role == "tool" then
          return { content = "heard", delay_ms = 1000 }
        end
        return how == "verb" and call("escalate", { title = "May I?" }) or call("own")
      end, { llm = { guards = { wall_ms = 60000 }, tools = { { name = "own", run = function(agent)
        if how == "tool" then
          return agent:escalate({ title = "May I?" })
        elseif how == "request" then
          return agent:request({ to = "user", payload = "May I?", timeout_ms = 30 * DAY_MS })
        end
        agent:escalate({ title = "May I?", wait = false })
        return agent:receive({ type = "decision", timeout_ms = 30 * DAY_MS })
      end } } }, policies = { contacts = "open" } })
      assert(s:send("user", { to = "ann", payload = { text = "go" } }))
      s:advance(1000)
      s:crash() s:recover()
      s:advance(7 * DAY_MS)
      if how == "request" then
        local asked = scene.message(s, { agent = "user" }, { from = "ann" })
        assert(s:send("user", { to = "ann", type = "response", payload = { query_id = asked.id,
          answer = "yes" } }))
      else
        assert(s:decide(s:inbox()[1].id, { decision = "approve" }))
      end
      s:step()
      s:crash() s:recover()
      s:run()
      assert.equal("heard", last(s:messages({ agent = "ann" })).payload.text, how)
      scene.close()
    end
  end)

  it("counts the time that tools and other agents take", function()
    local s = think(function(request)
      return last(request.messages).role == "tool" and "late" or call("own")
    end, { llm = { guards = { wall_ms = 60000 }, tools = { { name = "own", run = function(agent)
      agent:sleep(61000)
    end } } } })
    assert.equal("wall_time", last(ask(s)).payload.guard)
  end)

  it("leaves a conversation that can continue", function()
    local stuck = true
    local s = think(function() return stuck and call("list_contacts") or "fine" end)
    assert.equal("repeated_call", last(ask(s)).payload.guard)
    stuck = false
    assert.equal("fine", last(ask(s)).payload.text)
  end)

  it("can be turned off, one by one", function()
    local rounds = 0
    local s = think(function()
      rounds = rounds + 1
      return rounds <= 60 and call("list_contacts") or "enough"
    end, { llm = { guards = { rounds = false, repeats = false } } })
    assert.equal("enough", last(ask(s)).payload.text)
  end)

  it("fails the task, and notifies the assigner once", function()
    local s = think(function() return call("list_contacts") end, { root = function(root, message)
      if message.type == "go" then
        root:send_message({ to = "ann", type = "task", payload = { text = "x", task_id = "T" } })
      end
    end })
    scene.tell(s, "root", "go", "go")
    assert.equal("failed", s:tasks({ task = "T" })[1].state)
    local told = 0
    for _, message in ipairs(s:messages({ agent = "root" })) do
      told = told + (message.from == "ann" and 1 or 0)
    end
    assert.equal(1, told)
  end)

  it("notifies the parent once, until the agent has succeeded again", function()
    local is_dead = true
    local s = think(function() return is_dead and { error = "invalid_key" } or "fine" end)
    local function reports()
      return #s:messages({ agent = "root", type = "status_report" })
    end
    ask(s)
    assert.equal("invalid_key", last(ask(s)).payload.guard)
    assert.equal(1, reports())
    is_dead = false
    ask(s)
    is_dead = true
    ask(s)
    assert.equal(2, reports())
  end)
end)

describe("a society whose model is down", function()
  after_each(scene.close)

  -- How often the model was called by root and its child, who both think, after ann was
  -- spawned.
  local function calls_after(message, answers)
    local calls, is_alive = 0, true
    local s = scene.new({
      config = { llm = { provider = "scripted", answers = function(request)
        if is_alive then
          return last(request.messages).role == "user" and call("hire") or ""
        end
        calls = calls + 1
        if calls > 50 then
          return "" -- so that the spec ends
        end
        return answers and answers(request, calls) or { error = "invalid_key" }
      end, tools = { { name = "hire", run = function(agent)
        return agent:spawn_agent("thinker", scene.brief(), { id = "ann" })
      end } } } },
      app = function(s)
        s:role({ id = "thinker", name = "思考者", prompt = "想一想", behaviour = "llm" })
        s:root("llm")
      end,
    })
    assert(s:send("user", { to = "root", payload = { text = "hire" } }))
    s:run()
    assert.equal("root", s:agent("ann").parent)
    is_alive = false
    assert(s:send("user", message))
    s:run()
    return calls, s
  end

  it("falls silent, whoever was written to", function()
    for _, to in ipairs({ "ann", "root" }) do
      local calls, s = calls_after({ to = to, payload = { text = "hello" } })
      assert.is_true(calls > 0 and calls < 10, calls .. " calls")
      assert.equal("idle", s:agent("ann").status)
      assert.equal("idle", s:agent("root").status)
      assert.same({}, s:dead_letters())
      scene.close()
    end
  end)

  it("falls silent when a task fails, and when the model dies during a conversation", function()
    local function first(request, number)
      if number > 1 then
        return nil
      end
      local to = request.agent == "ann" and "root" or "ann"
      return { tool_calls = {
        { name = "send_message", arguments = { to = to, payload = { text = "one" } } },
        { name = "send_message", arguments = { to = to, type = "task",
          payload = { text = "two", task_id = "T" } } },
      } }
    end
    for _, to in ipairs({ "ann", "root" }) do
      local calls = calls_after({ to = to, payload = { text = "hello" } }, first)
      assert.is_true(calls > 1 and calls < 10, calls .. " calls")
      scene.close()
    end
  end)
end)
