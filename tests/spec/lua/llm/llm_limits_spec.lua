-- Who may call a model, when and how much: the limiter, the brake, the limits.
--
-- Covers: core/parts/models/usage.c

local limiter = require("society.llm.limiter")
local scene = require("scene")

local function drain(l, now_ms)
  local ids = {}
  while true do
    local id, first, at_ms = l:next(now_ms)
    if not id then
      return ids, first, at_ms
    end
    ids[#ids + 1] = id
  end
end

describe("the limiter", function()
  it("bounds concurrent calls, and releases the next when one has ended", function()
    local l = limiter.new({ concurrency = 2 }, 0)
    for n = 1, 4 do
      l:ask("c" .. n, "a", 1)
    end
    local ids, first, at_ms = drain(l, 0)
    assert.same({ "c1", "c2" }, ids)
    assert.equal("c3", first)
    assert.is_nil(at_ms)
    l:ended("c1")
    assert.same({ "c3" }, (drain(l, 0)))
  end)

  it("lets agents take turns", function()
    local l = limiter.new({}, 0)
    for n = 1, 3 do
      l:ask("a" .. n, "a", 1)
    end
    l:ask("b1", "b", 1)
    l:ask("c1", "c", 1)
    assert.same({ "a1", "b1", "c1", "a2", "a3" }, (drain(l, 0)))
  end)

  it("counts requests and tokens per minute", function()
    local l = limiter.new({ requests_per_minute = 2 }, 0)
    for n = 1, 3 do
      l:ask("c" .. n, "a", 1)
    end
    local ids, first, at_ms = drain(l, 0)
    assert.same({ "c1", "c2" }, ids)
    assert.equal("c3", first)
    assert.equal(30000, at_ms)
    assert.same({}, (drain(l, 29999)))
    assert.same({ "c3" }, (drain(l, 30000)))

    local t = limiter.new({ tokens_per_minute = 1000 }, 0)
    t:ask("x", "a", 600)
    t:ask("y", "a", 600)
    local went, _, when_ms = drain(t, 0)
    assert.same({ "x" }, went)
    assert.equal(12000, when_ms)
    t:ended("x", 100) -- it took less than estimated
    assert.same({ "y" }, (drain(t, 0)))
  end)

  it("lets a call larger than a minute's tokens go when all of them are free", function()
    local l = limiter.new({ tokens_per_minute = 100 }, 0)
    l:ask("huge", "a", 100000)
    assert.same({ "huge" }, (drain(l, 0)))
  end)

  it("slows down all calls after several refusals in a row, longer each time", function()
    local l = limiter.new({ brake_after = 3, brake_ms = 1000, brake_max_ms = 3000 }, 0)
    assert.is_nil(l:refused(0))
    assert.is_nil(l:refused(0))
    assert.equal(1000, l:refused(0))
    l:ask("c", "a", 1)
    local _, first, at_ms = drain(l, 500)
    assert.equal("c", first)
    assert.equal(1000, at_ms)
    for _ = 1, 2 do
      l:refused(1000)
    end
    assert.equal(3000, l:refused(1000))
    l:praise()
    assert.is_nil(l:refused(3000))
  end)

  it("forgets a call that nobody waits for", function()
    local l = limiter.new({ concurrency = 1 }, 0)
    l:ask("a1", "a", 1)
    l:ask("b1", "b", 1)
    l:ask("c1", "c", 1)
    drain(l, 0)
    l:drop("b1")
    l:drop("a1")
    assert.same({ "c1" }, (drain(l, 0)))
    l:drop("nobody")
  end)
end)

-- So many agents that each ask `count` times; returns when each call began.
local function crowd(agents, count, llm, extra)
  local acts, starts = {}, {}
  for n = 1, agents do
    acts["a" .. n] = function(a)
      for _ = 1, count do
        local ok, err = a:chat({ messages = { { role = "user", content = "x" } } })
        a.state.last = ok and ok.content or err.error
      end
    end
  end
  local s
  llm.provider = "scripted"
  llm.answers = llm.answers or function(request)
    starts[#starts + 1] = { agent = request.agent, at_ms = s:now() }
    return { content = "ok", delay_ms = 1000, usage = { input_tokens = 100, output_tokens = 20 } }
  end
  s = scene.troupe(acts, { config = { llm = llm }, quiet = extra })
  for n = 1, agents do
    assert(s:send("user", { to = "a" .. n, payload = "go" }))
  end
  s:run()
  return s, starts
end

describe("all agents together", function()
  after_each(scene.close)

  it("respect the limit of concurrent calls", function()
    local s, starts = crowd(6, 2, { concurrency = 2 })
    assert.equal(12, #starts)
    assert.is_true(s:now() - starts[1].at_ms >= 6000)
    for _, start in ipairs(starts) do
      local at_once = 0
      for _, other in ipairs(starts) do
        if other.at_ms <= start.at_ms and other.at_ms + 1000 > start.at_ms then
          at_once = at_once + 1
        end
      end
      assert.is_true(at_once <= 2)
    end
    local first_round = {}
    for n = 1, 6 do
      first_round[starts[n].agent] = true
    end
    for n = 1, 6 do
      assert.is_true(first_round["a" .. n], "a" .. n .. " had to wait for a second call of another")
    end
  end)

  it("respect the requests per minute", function()
    local _, starts = crowd(5, 1, { requests_per_minute = 2 })
    assert.equal(5, #starts)
    assert.is_true(starts[5].at_ms - starts[1].at_ms >= 90000)
  end)

  it("wait together when the server has had enough", function()
    local tries = 0
    local s = crowd(4, 1, { concurrency = 8, brake_after = 3, brake_ms = 60000,
      answers = function()
        tries = tries + 1
        if tries <= 4 then
          return { error = "rate_limited", retryable = true }
        end
        return { content = "ok" }
      end })
    assert.equal(8, tries)
    assert.is_true(s:now() >= 1767225600000 + 60000)
    for _, agent in ipairs(s:agents()) do
      if agent.id:match("^a%d") then
        assert.equal("idle", agent.status)
      end
    end
  end)
end)

describe("pauses between retries", function()
  after_each(scene.close)

  -- When each try was made, in ms from the first, and what the log says of it.
  local function tries(seed, settings)
    local at, s = {}, nil
    settings = settings or {}
    settings.provider, settings.retries_max = "scripted", 4
    local after = settings.after
    settings.after = nil
    settings.answers = function()
      at[#at + 1] = s:now()
      return { error = "model_unavailable", retryable = true, retry_after_ms = after }
    end
    s = scene.troupe({ root = function(root)
      root:chat({ messages = { { role = "user", content = "x" } } })
    end }, { seed = seed, config = { llm = settings } })
    scene.tell(s, "root")
    local gaps = {}
    for n = 2, #at do
      gaps[n - 1] = at[n] - at[n - 1]
    end
    return gaps, s:transcript()
  end

  it("grow, with jitter from the seed, and are the same for the same seed", function()
    local gaps, log = tries(1)
    assert.equal(4, #gaps)
    for n, gap in ipairs(gaps) do
      local most = 500 * 2 ^ (n - 1)
      assert.is_true(gap > most / 2 and gap <= most + 1, gap .. " ms")
    end
    assert.same(gaps, (tries(1)))
    assert.is_not.same(gaps, (tries(2)))
    assert.matches("retry root: model_unavailable; try 2 after %d+ ms", log)
    assert.is_nil(log:find("try 6", 1, true))
  end)

  it("are no shorter than the server wants", function()
    for _, gap in ipairs((tries(1, { after = 7000 }))) do
      assert.is_true(gap >= 7000)
    end
  end)
end)

describe("limits on tokens and cost", function()
  after_each(scene.close)

  local function asked(limits, prices, tasks)
    local results = {}
    local s = scene.troupe({
      root = function(root)
        local answer, err = root:chat({ messages = { { role = "user", content = "x" } } })
        results[#results + 1] = answer and "ok" or err
      end,
      a = function(a)
        local answer, err = a:chat({ messages = { { role = "user", content = "x" } } })
        results[#results + 1] = answer and "ok" or err
      end,
    }, { config = { llm = { provider = "scripted", model = "m", limits = limits, prices = prices,
      answers = function()
        return { content = "ok", usage = { input_tokens = 80, output_tokens = 20 } }
      end } } })
    for n, id in ipairs({ "root", "root", "root", "a" }) do
      assert(s:send("user", { to = id, payload = "go", task_id = tasks and tasks[n] }))
      s:run()
    end
    return results, s
  end

  it("apply to an agent", function()
    local results = asked({ agent_tokens = 150 })
    assert.same({ "ok", "ok" }, { results[1], results[2] })
    assert.equal("budget_exceeded", results[3].error)
    assert.equal("agent", results[3].of)
    assert.equal("tokens", results[3].what)
    assert.equal(200, results[3].used)
    assert.equal("ok", results[4])
  end)

  it("apply to a task", function()
    local results = asked({ task_tokens = 100 }, nil, { "T1", "T1", "T2", "T1" })
    assert.equal("ok", results[1])
    assert.equal("task", results[2].of)
    assert.equal("ok", results[3])
    assert.equal("task", results[4].of)
  end)

  it("apply to the society, in dollars", function()
    -- 80 in and 20 out cost 180 micros.
    local results, s = asked({ society_cost = 0.00035 }, { m = { input = 1, output = 5 } })
    assert.same({ "ok", "ok" }, { results[1], results[2] })
    assert.equal("society", results[3].of)
    assert.equal("cost_micros", results[3].what)
    assert.equal("society", results[4].of)
    assert.near(0.00036, s:usage({ agent = "root" })[1].cost, 1e-9)
  end)

  it("survive a crash", function()
    local _, s = asked({ agent_tokens = 150 })
    s:crash() s:recover()
    assert.equal(200, s:usage({ agent = "root" })[1].input_tokens
      + s:usage({ agent = "root" })[1].output_tokens)
  end)

  it("exist by default", function()
    local results = asked(nil, { m = { input = 1e6, output = 1e6 } })
    assert.equal("ok", results[1])
    assert.equal("budget_exceeded", results[2].error)
  end)
end)
