-- What stops an agent that thinks, by name; who is told; and what stays.

local json = require("society.json")
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

  for _, case in ipairs({
    { guard = "rounds", llm = { guards = { rounds = 6 } }, answers = different, calls = 6 },
    { guard = "repeated_call", llm = {}, answers = function() return call("list_contacts") end,
      calls = 4 },
    { guard = "no_progress", llm = {}, answers = function()
      count = count + 1
      return call("nonsense", { n = count })
    end, calls = 5 },
    { guard = "wall_time", llm = { guards = { wall_ms = 5000 } }, answers = function()
      local answer = different()
      answer.delay_ms = 2000
      return answer
    end, calls = 3 },
    { guard = "budget_exceeded", llm = { limits = { agent_tokens = 1000 } }, answers = function()
      local answer = different()
      answer.usage = { input_tokens = 300, output_tokens = 100 }
      return answer
    end, calls = 3 },
    { guard = "model_unavailable", llm = { retries_max = 2 }, answers = function()
      return { error = "model_unavailable", retryable = true }
    end, calls = 1 },
  }) do
    it(("called %s stops it, tells the parent, and keeps what was done"):format(case.guard),
      function()
        local s = think(case.answers, { llm = case.llm })
        local reply = last(ask(s))
        assert.equal("stopped", reply.payload.error)
        assert.equal(case.guard, reply.payload.guard)
        local told = report(s)
        assert.equal(case.guard, told.payload.guard)
        assert.equal("stopped", told.payload.status)
        assert.equal("ann", told.payload.agent)
        assert.equal(case.calls, s:usage({ agent = "ann" })[1].calls
          + (s:usage({ agent = "ann" })[2] or { calls = 0 }).calls)
        assert.is_true(#memory(s, "ann") >= 1)
        assert.equal("idle", s:agent("ann").status)
        assert.same({}, s:dead_letters())
        assert.is_true(#s:transcript() < 200000)
      end)
  end

  it("leaves a conversation that can go on", function()
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

  it("fails the task, and who gave it is told once", function()
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

  it("tells the parent once, until the agent has succeeded again", function()
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

  it("is not in the way of two agents that talk to each other for ever", function()
    local s = think(function(request)
      local other = request.agent == "ann" and "bob" or "ann"
      if last(request.messages).role == "tool" then
        return ""
      end
      return call("send_message", { to = other, type = "general",
        payload = { text = "and you? " .. #request.messages } })
    end, { ids = { "ann", "bob" }, policies = { contacts = "open" },
      llm = { limits = { society_tokens = 30000 } } })
    ask(s)
    assert.is_true(#s:messages() < 1000)
    assert.equal("idle", s:agent("ann").status)
  end)
end)

describe("a society whose model is dead", function()
  after_each(scene.close)

  -- How often the model was asked by root and its child, who both think, after ann was born.
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

  it("falls silent when a task fails, and when it dies in the midst of a talk", function()
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

describe("a message that comes while the model thinks", function()
  after_each(scene.close)

  local function run(on_message)
    local seen = {}
    local s = think(function(request)
      seen[#seen + 1] = #request.messages
      return { content = "answer to " .. last(request.messages).content:match("[^\n]+$"),
        delay_ms = 5000 }
    end, { llm = { on_message = on_message } })
    assert(s:send("user", { to = "ann", payload = { text = "first" } }))
    s:advance(1000)
    assert(s:send("user", { to = "ann", payload = { text = "second" } }))
    s:run()
    local replies = {}
    for _, message in ipairs(s:messages({ agent = "ann" })) do
      if message.from == "ann" then
        replies[#replies + 1] = message.payload.text
      end
    end
    return seen, replies, s
  end

  it("waits", function()
    local seen, replies = run("wait")
    assert.same({ 1, 3 }, seen)
    assert.same({ "answer to first", "answer to second" }, replies)
  end)

  it("interrupts, if it is set so, and both are answered together", function()
    local seen, replies, s = run("interrupt")
    assert.same({ 1, 2 }, seen)
    assert.same({ "answer to second" }, replies)
    assert.is_true(scene.law_holds(s))
    assert.equal(1, s:usage({ agent = "ann" })[1].calls)
  end)
end)

describe("an agent that thinks, and crashes", function()
  after_each(scene.close)

  local function answers()
    return {
      ann = {
        call("send_message", { to = "root", payload = { text = "begin" } }),
        { tool_calls = { { name = "list_contacts", arguments = {} },
          { name = "send_message", arguments = { to = "root", payload = { text = "again" } } } } },
        { content = "done", delay_ms = 500 },
      },
    }
  end

  local function story(s)
    local lines = {}
    for _, message in ipairs(s:messages()) do
      lines[#lines + 1] = ("%s>%s %s"):format(message.from, message.to,
        json.encode(message.payload))
    end
    for _, entry in ipairs(memory(s, "ann")) do
      lines[#lines + 1] = entry.role .. ":" .. (entry.content or "")
    end
    -- Ids hold the time and a counter; the story is the same without them.
    return (table.concat(lines, "\n"):gsub("msg_%w+_%w+_%w+", "ID"):gsub('"addedAt":"[^"]*"', ""))
  end

  it("comes to the same as one that does not, wherever it crashes", function()
    local plain = think(answers())
    ask(plain)
    local expected = story(plain)
    assert.matches("assistant:done", expected, 1, true)
    for steps = 1, 30 do
      local s = think(answers())
      assert(s:send("user", { to = "ann", payload = { text = "hello" } }))
      for _ = 1, steps do
        s:step()
      end
      s:crash() s:recover() s:run()
      assert.equal(expected, story(s))
      assert.equal(3, s:usage({ agent = "ann" })[1].calls)
      scene.close()
    end
  end)

  it("comes to the same when models are busy, by the seed of a simulation", function()
    local tried = 0
    for seed = 1, 20 do
      local s = think(answers(), { seed = seed, faults = { "model", "crash", "evict" } })
      ask(s)
      assert.equal("assistant:done", story(s):match("[^\n]+$"))
      assert.equal(3, s:usage({ agent = "ann" })[1].calls)
      tried = tried + (s:now() - 1767225600000 > 1000 and 1 or 0)
      scene.close()
    end
    assert.is_true(tried > 3) -- some had to wait
  end)
end)
