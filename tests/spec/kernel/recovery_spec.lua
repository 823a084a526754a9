-- The core guarantee: a crash after any step does not change the outcome. Nothing is lost,
-- nothing counts twice, nothing is printed twice.
--
-- Covers: core/kernel/recover.c

local property = require("property")
local scene = require("scene")

local SCENARIOS = { "chain", "nested", "mail", "retry", "sleepers" }

-- A file, or a function where the scenario must remember more than a society does.
local function app_of(name)
  if name == "retry" then
    return require("scenarios.retry")()
  end
  return assert(package.searchpath("scenarios." .. name, package.path))
end

local function prints(s)
  local lines = {}
  for line in s:transcript():gmatch(" (print [^\n]*)") do
    lines[#lines + 1] = line
  end
  table.sort(lines)
  return lines
end

local function outcome(s)
  local result = scene.outcome(s)
  result.prints = prints(s)
  return result
end

local MOVES_MAX = 2000

-- One step; if nothing is ready, the next millisecond. False when all is at rest.
local function move(s, count)
  assert((count or 0) < MOVES_MAX, "it does not come to an end")
  if s:step() then
    return true
  end
  if s:stats().pending == 0 and #s:waits() == 0 then
    return false
  end
  s:advance(1)
  return true
end

local function crash(s)
  s:crash()
  s:recover()
end

for _, name in ipairs(SCENARIOS) do
  describe("the scenario " .. name, function()
    local wanted, moves

    setup(function()
      local s = scene.new({ app = app_of(name), seed = 1 })
      moves = 0
      while move(s, moves) do
        moves = moves + 1
      end
      wanted = outcome(s)
      scene.close()
    end)

    after_each(scene.close)

    it("ends by itself", function()
      assert.equal(0, wanted.counts.pending)
      assert.equal(0, wanted.counts.dead)
      assert.equal(wanted.counts.sent, wanted.counts.processed)
      assert.same({}, wanted.waits)
      assert.is_true(moves > 10)
    end)

    it("has the same outcome after a crash at any one step", function()
      for at = 0, moves do
        local s = scene.new({ app = app_of(name), seed = 1 })
        for _ = 1, at do
          move(s)
        end
        crash(s)
        s:run()
        assert.same(wanted, outcome(s), "crash after " .. at)
        scene.close()
      end
    end)

    it("has the same outcome with a crash after every step", function()
      local s = scene.new({ app = app_of(name), seed = 1 })
      local count = 0
      repeat
        count = count + 1
        local moved = move(s, count)
        crash(s)
      until not moved
      s:run()
      assert.same(wanted, outcome(s))
    end)

    it("has the same outcome with two crashes in a row after every step", function()
      local s = scene.new({ app = app_of(name), seed = 2 })
      local count = 0
      repeat
        count = count + 1
        local moved = move(s, count)
        crash(s)
        crash(s)
      until not moved
      assert.same(wanted, outcome(s))
    end)

    it("has the same outcome for every seed, with crashes anywhere (60 seeds)", function()
      property.check({ cases = 60, seed = 7 }, function(random)
        return { seed = random:between(1, 1000000), steps = random:list(0, 6, function()
          return random:between(0, 12)
        end) }
      end, function(case)
        local s = scene.new({ app = app_of(name), seed = case.seed })
        for _, steps in ipairs(case.steps) do
          for _ = 1, steps do
            move(s)
          end
          crash(s)
        end
        s:run()
        local result = outcome(s)
        scene.close()
        assert.same(wanted, result)
        return true
      end)
    end)

    it("has the same outcome on disk, with the directory reopened each time", function()
      local folder, app = scene.folder() .. "/state", app_of(name)
      local s = scene.new({ app = app, seed = 1, store = folder })
      local lines = {}
      local function note()
        for _, line in ipairs(prints(s)) do
          lines[#lines + 1] = line
        end
      end
      repeat
        local moved = true
        for _ = 1, 5 do
          moved = moved and move(s)
        end
        note()
        s:close()
        s = scene.new({ app = app, seed = 1, store = folder })
      until not moved
      s:run()
      note()
      local result = outcome(s)
      table.sort(lines)
      result.prints = lines
      assert.same(wanted, result)
    end)
  end)
end

describe("a random society", function()
  after_each(scene.close)

  -- Agents a1 to a4 run the plans they are sent. An agent asks only those with a higher
  -- number, so no two wait for each other.
  local failures

  local DO = {
    sleep = function(agent, op) agent:sleep(op.n) end,
    send = function(agent, op)
      agent:send_message({ to = op.to, payload = { plan = op.plan } })
    end,
    request = function(agent, op)
      if op.to > agent.id then
        local answer = assert(agent:request({ to = op.to, payload = { plan = op.plan } }))
        agent.state.sum = (agent.state.sum or 0) + answer.payload.count
      end
    end,
    spawn = function(agent, op)
      local id = agent.id .. "." .. op.n
      if not agent:knows(id).inRegistry then
        assert(agent:spawn_agent("actor", scene.brief(), { id = id }))
      end
    end,
    fail = function(_, op, message)
      if not failures[message.id .. op.n] then
        failures[message.id .. op.n] = true
        error("once")
      end
    end,
  }

  local function run_plan(agent, message)
    if not message.payload.plan then
      return nil -- what another returned to a plain send
    end
    agent.state.plans = (agent.state.plans or 0) + 1
    for _, op in ipairs(message.payload.plan) do
      DO[op.kind](agent, op, message)
    end
    return { count = #message.payload.plan }
  end

  local IDS = { "a1", "a2", "a3", "a4" }
  local KINDS = { "sleep", "send", "request", "request", "spawn", "fail" }

  local function make_plan(random, depth)
    return random:list(0, depth, function()
      local kind = random:pick(KINDS)
      local nested = kind == "send" or kind == "request"
      return { kind = kind, n = random:between(1, 4), to = random:pick(IDS),
        plan = nested and depth > 0 and make_plan(random, depth - 1) or {} }
    end)
  end

  local function run(case, crashes)
    failures = {}
    local s = scene.troupe({ a1 = run_plan, a2 = run_plan, a3 = run_plan, a4 = run_plan },
      { seed = case.seed + 1, quiet = true })
    for i, plan in ipairs(case.plans) do
      assert(s:send("user", { to = IDS[i % 4 + 1], payload = { plan = plan } }))
    end
    local moves = 0
    while move(s, moves) do
      moves = moves + 1
      if crashes[moves] then
        crash(s)
      end
    end
    local result = scene.outcome(s)
    scene.close()
    return result, moves
  end

  it("has the same outcome with and without crashes (500 cases)", function()
    property.check({ cases = 500, seed = 21, tries_max = 200 }, function(random)
      return {
        seed = random:between(0, 1000),
        plans = random:list(1, 3, function() return make_plan(random, 3) end),
        crashes = random:list(1, 5, function() return random:between(1, 40) end),
      }
    end, function(case)
      local crashes = {}
      for _, at in ipairs(case.crashes) do
        crashes[at] = true
      end
      local wanted = run(case, {})
      local got = run(case, crashes)
      assert.same(wanted, got)
      return wanted.counts.pending == 0 and wanted.counts.sent == wanted.counts.processed,
        "something is left"
    end)
  end)
end)

describe("mail that falls due while the society is down", function()
  after_each(scene.close)

  it("goes to the agent that waits for it", function()
    local s = scene.troupe({ a = function(a)
      a:send_message({ to = "a", type = "status_report", payload = { status = "due" },
        delay_ms = 1000 })
      a.state.got = a:receive({ type = "status_report" }).payload.status
    end })
    s:send("user", { to = "a", payload = "go" })
    s:step()
    s:crash()
    s:advance(5000)
    s:recover()
    s:run()
    assert.equal("due", (s:agent("a").state or {}).got)
  end)
end)
