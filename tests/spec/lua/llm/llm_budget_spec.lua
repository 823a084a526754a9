-- Limits on tokens and cost apply to concurrent calls: what a call may use is reserved
-- while it is in flight.

local budget = require("society.llm.budget")
local scene = require("scene")

describe("a budget", function()
  local function room(of, tokens, tokens_max, cost, cost_max)
    return { of = of, id = of ~= "society" and "x" or nil, tokens = tokens,
      tokens_max = tokens_max, cost_micros = cost or 0, cost_micros_max = cost_max or 0 }
  end
  local wanted = { tokens = 40, cost_micros = 400 }

  it("lets calls go while there is room for all of them, and others wait", function()
    local b = budget.new()
    local rooms = { room("society", 0, 100) }
    assert.equal("go", b:take("c1", rooms, wanted))
    assert.equal("go", b:take("c2", rooms, wanted))
    assert.same({ "wait", "society" }, { b:take("c3", rooms, wanted) })
    assert.is_true(b:release("c1"))
    assert.is_false(b:release("c1"))
    assert.equal("go", b:take("c3", rooms, wanted))
  end)

  it("lets a single call go while anything is left", function()
    local b = budget.new()
    assert.equal("go", b:take("c1", { room("agent", 99, 100) }, wanted))
    b:release("c1")
    local verdict, err = b:take("c2", { room("agent", 100, 100) }, wanted)
    assert.is_nil(verdict)
    assert.same({ "budget_exceeded", "agent", "tokens", 100, 100 },
      { err.error, err.of, err.what, err.used, err.limit })
  end)

  it("counts cost like tokens, and treats 0 as unlimited", function()
    local b = budget.new()
    local rooms = { room("agent", 5, 0, 100, 1000), room("society", 5e9, 0) }
    assert.equal("go", b:take("c1", rooms, wanted))
    assert.equal("go", b:take("c2", rooms, wanted))
    assert.same({ "wait", "agent\0x" }, { b:take("c3", rooms, wanted) })
    local _, err = b:take("c4", { room("agent", 0, 0, 1000, 1000) }, wanted)
    assert.equal("cost_micros", err.what)
  end)

  it("reserves nothing under one limit if another has no room", function()
    local b = budget.new()
    local narrow, wide = room("task", 0, 50), room("society", 0, 100)
    b:take("c1", { narrow }, wanted)
    assert.equal("wait", (b:take("c2", { wide, narrow }, wanted)))
    assert.equal("go", b:take("c3", { wide }, wanted))
    assert.equal("go", b:take("c4", { wide }, wanted))
  end)
end)

describe("many agents that call at once", function()
  after_each(scene.close)

  local TOKENS = { input_tokens = 100, output_tokens = 50 }

  -- Answers that come after a second; counts how many are in flight.
  local function answers(clock, count)
    local ends = {}
    return function()
      local now, at_once = clock(), 1
      for _, at_ms in ipairs(ends) do
        at_once = at_once + (at_ms > now and 1 or 0)
      end
      count.most = math.max(count.most, at_once)
      ends[#ends + 1] = now + 1000
      return { content = "ok", delay_ms = 1000, usage = TOKENS }
    end
  end

  local function name(n)
    return ("a%02d"):format(n)
  end

  -- A society in which 20 agents can ask, each `rounds` times, max_tokens 50.
  local function gather(limits, rounds, seen)
    local acts, count, s = {}, { most = 0 }, nil
    for n = 1, 20 do
      acts[name(n)] = function(a)
        for _ = 1, rounds do
          local answer, err = a:chat({ messages = { { role = "user",
            content = ("word "):rep(80) } } })
          seen[#seen + 1] = answer and "ok" or err
        end
      end
    end
    s = scene.troupe(acts, { config = { llm = { provider = "scripted", model = "m",
      max_tokens = 50, limits = limits, prices = { m = { input = 1, output = 1 } },
      concurrency = 100, answers = answers(function() return s:now() end, count) } } })
    return s, count
  end

  -- How it ended for all who asked at the same time, and how many tokens were used.
  local function crowd(limits, options)
    options = options or {}
    local seen = {}
    local s, count = gather(limits, options.rounds or 1, seen)
    for n = 1, 20 do
      local task = options.tasks and options.tasks[n % #options.tasks + 1] or options.task
      assert(s:send("user", { to = name(n), payload = "go", task_id = task }))
    end
    if options.crash_after then
      s:advance(options.crash_after)
      s:crash() s:recover()
    end
    s:run()
    local result = { tokens = 0, fine = 0, refused = {}, at_once = count.most, s = s }
    for _, row in ipairs(s:usage()) do
      result.tokens = result.tokens + row.input_tokens + row.output_tokens
    end
    for _, each in ipairs(seen) do
      if each == "ok" then
        result.fine = result.fine + 1
      else
        result.refused[#result.refused + 1] = each
      end
    end
    return result
  end

  -- One call takes 150 tokens: 7 of them pass a limit of 1000 by 50.
  for _, case in ipairs({
    { "the society's tokens", { society_tokens = 1000 }, {}, "society", "tokens" },
    { "the society's cost", { society_cost = 0.001 }, {}, "society", "cost_micros" },
    { "a task's tokens", { task_tokens = 1000 }, { task = "T" }, "task", "tokens" },
    { "a task's cost", { task_cost = 0.001 }, { task = "T" }, "task", "cost_micros" },
  }) do
    it("respect " .. case[1], function()
      local result = crowd(case[2], case[3])
      assert.is_true(result.tokens >= 1000 and result.tokens < 1000 + 150,
        result.tokens .. " tokens")
      assert.equal(7, result.fine)
      assert.equal(13, #result.refused)
      for _, err in ipairs(result.refused) do
        assert.same({ "budget_exceeded", case[4], case[5] }, { err.error, err.of, err.what })
        assert.is_true(err.used >= err.limit)
      end
      assert.is_true(result.at_once > 1, "they went one by one")
    end)
  end

  it("are all in flight at once if there is room", function()
    local result = crowd({ society_tokens = 100000 })
    assert.equal(20, result.fine)
    assert.equal(20, result.at_once)
  end)

  it("do not wait for those of another task", function()
    local result = crowd({ task_tokens = 1000 }, { tasks = { "T", "U" } })
    assert.equal(14, result.fine)
    local one = crowd({ task_tokens = 1000 }, { task = "T" })
    assert.equal(2 * one.at_once, result.at_once)
  end)

  it("do not wait for other agents if each has its own limit", function()
    local result = crowd({ agent_tokens = 400 }, { rounds = 5 })
    -- Each has its own limit: three calls of 150 pass 400.
    assert.equal(60, result.fine)
    assert.equal(20, result.at_once)
    assert.equal(20 * 450, result.tokens)
  end)

  it("respect it across a crash, with calls in flight and others waiting", function()
    for after = 100, 2500, 400 do
      local result = crowd({ society_tokens = 1000 }, { crash_after = after })
      assert.is_true(result.tokens >= 1000 and result.tokens < 1000 + 150,
        result.tokens .. " tokens")
      assert.is_true(scene.law_holds(result.s))
      scene.close()
    end
  end)

  it("continue when the calls in the way are cancelled or time out", function()
    local seen = {}
    local s
    local acts = {}
    for n = 1, 6 do
      acts["a" .. n] = function(a)
        local answer, err = a:chat({ messages = { { role = "user", content = "x" } },
          timeout_ms = n <= 2 and 5000 or 60000 })
        seen[a.id] = answer and "ok" or err.error
      end
    end
    s = scene.troupe(acts, { config = { llm = { provider = "scripted", max_tokens = 400,
      limits = { society_tokens = 1000 }, answers = function(request)
        return { content = "ok", delay_ms = (request.agent == "a1" or request.agent == "a2")
          and 50000 or 10, usage = { input_tokens = 1, output_tokens = 1 } }
      end } } })
    for n = 1, 6 do
      assert(s:send("user", { to = "a" .. n, payload = "go" }))
    end
    s:run()
    assert.same({ a1 = "timeout", a2 = "timeout", a3 = "ok", a4 = "ok", a5 = "ok", a6 = "ok" },
      seen)
  end)
end)
