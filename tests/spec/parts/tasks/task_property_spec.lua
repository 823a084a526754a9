-- Tasks given, completed, retried, cancelled and cut by crashes: each follows its life
-- cycle in one state at a time, its end is reported once, and no message is lost.
--
-- Covers: core/parts/tasks/tasks_life.c, core/parts/tasks/tasks_store.c

local json = require("society.json")
local property = require("property")
local scene = require("scene")

after_each(scene.close)

local WORKERS = { "w1", "w2", "w3" }
local WAYS = { "done", "done", "fail", "retry", "leave", "raise", "split", "ask" }

-- A plan says for each task who gets it, how it goes, and how long it takes.
local function make_plan(random)
  local tasks = random:list(1, 6, function()
    return { to = random:between(1, 3), way = random:between(1, #WAYS), ms = random:between(0, 40),
      priority = random:between(0, 3) }
  end)
  local acts = random:list(0, 12, function()
    return { at = random:between(0, 60), kind = random:between(0, 2),
      task = random:between(1, #tasks) }
  end)
  return { tasks = tasks, acts = acts, seed = random:between(1, 9) }
end

local function split(agent, message, plan)
  for index, id in ipairs(WORKERS) do
    if id ~= agent.id then
      agent:send_message({ to = id, type = "task_assign", task_id = message.task_id .. "." .. index,
        payload = { way = "done", ms = plan.ms } })
    end
  end
end

local function work(agent, message)
  if message.type == "abort" or message.type == "task_complete" then
    return
  end
  local plan = message.payload
  if plan.way == "split" then
    split(agent, message, plan)
  elseif plan.way == "ask" then
    agent:request({ to = "root", payload = "?", timeout_ms = 30 })
  end
  agent:sleep(plan.ms)
  if plan.way == "raise" then
    error("as planned")
  elseif plan.way == "fail" or plan.way == "retry" then
    agent:fail(message, "as planned", { retryable = plan.way == "retry" })
  elseif plan.way ~= "leave" then
    agent:complete(message, plan.ms)
  end
end

-- Root hands out the tasks and counts what it is told about each.
local function boss(results)
  return function(root, message)
    local id = message.payload.task_id
    if message.type == "give" then
      local plan = message.payload
      local options = { to = plan.to, type = "task", task_id = plan.task_id,
        priority = "P" .. plan.priority, payload = { way = plan.way, ms = plan.ms } }
      root:send_message(options)
    elseif message.type == "cancel" then
      root:cancel(id, "as planned")
    elseif message.type == "result" then
      results[id .. " " .. message.id] = message.payload.status
    end
  end
end

local function open(plan)
  local results = {}
  local s = scene.troupe({ root = boss(results), w1 = work, w2 = work, w3 = work },
    { seed = plan.seed, quiet = true })
  s:policy("tasks", "default", { retries_max = 2, first_ms = 5 })
  for index, task in ipairs(plan.tasks) do
    assert(s:send("user", { to = "root", type = "give", payload = {
      task_id = "T" .. index, to = WORKERS[task.to], way = WAYS[task.way], ms = task.ms,
      priority = task.priority } }))
  end
  return s, results
end

local function play(plan)
  local s, results = open(plan)
  table.sort(plan.acts, function(a, b) return a.at < b.at end)
  local start = s:now()
  for _, act in ipairs(plan.acts) do
    s:advance(math.max(0, start + act.at - s:now()))
    if act.kind == 0 then
      assert(s:send("user", { to = "root", type = "cancel",
        payload = { task_id = "T" .. act.task } }))
      s:step()
    else
      s:crash()
      s:recover()
    end
  end
  s:run()
  return s, results
end

local ORDER = { task_opened = 1, task_start = 2, task_retried = 3, task_end = 4 }

-- The events of each task must lead along its life cycle to its state.
local function life_holds(s, row)
  local last, at = nil, 0
  for _, entry in ipairs(s:activity({ task = row.task_id, agent = row.agent })) do
    local place = ORDER[entry.event]
    if place then
      if at == 4 or (place == 1 and at ~= 0) or (place == 2 and at ~= 1 and at ~= 3) then
        return false, row.task_id .. ": " .. entry.event .. " after " .. tostring(last)
      end
      last, at = entry.event == "task_end" and json.decode(entry.detail).state or entry.event, place
    end
  end
  local states = { task_opened = "pending", task_start = "processing", task_retried = "pending" }
  return (states[last] or last) == row.state,
    ("%s is %s after %s"):format(row.task_id, row.state, last)
end

local function results_hold(results, row)
  local told = {}
  for key, status in pairs(results) do
    if key:match("^(%S+) ") == row.task_id then
      told[#told + 1] = status
    end
  end
  local expected = { completed = "done", failed = "failed" }
  local is_right = #told == (expected[row.state] and 1 or 0) and told[1] == expected[row.state]
  return is_right, row.task_id .. " " .. row.state .. " was told as " .. json.encode(told)
end

local function holds(plan)
  local s, results = play(plan)
  local ok, why = scene.law_holds(s)
  for _, row in ipairs(ok and s:tasks() or {}) do
    ok, why = life_holds(s, row)
    if ok and row.assigner == "root" then
      ok, why = results_hold(results, row)
    end
    if not ok then
      break
    end
  end
  if ok and s:stats().pending ~= 0 then
    ok, why = false, "messages are left"
  end
  s:crash()
  s:recover()
  local again = json.encode(s:tasks())
  s:run()
  if ok and json.encode(s:tasks()) ~= again then
    ok, why = false, "something happened after the end"
  end
  return ok, why
end

describe("tasks", function()
  it("keep their promises in random histories with cancels and crashes", function()
    property.check({ cases = 100, seed = 11 }, make_plan, function(plan)
      local ok, why = holds(plan)
      scene.close()
      return ok, why
    end)
  end)

  it("have the same outcome wherever the society is cut", function()
    local plan = { seed = 3, acts = {}, tasks = {} }
    for way = 2, #WAYS do
      plan.tasks[way - 1] = { to = way % 3 + 1, way = way, ms = 5, priority = way % 4 }
    end
    local function finish(cut)
      local s, results = open(plan)
      local steps = 0
      while s:step() or (s:waits()[1] and s:advance(5)) do
        steps = steps + 1
        if steps == cut then
          s:crash()
          s:recover()
        end
      end
      s:run()
      local ends = {}
      for _, row in ipairs(s:tasks()) do
        local ok, why = life_holds(s, row)
        assert.is_true(ok, why)
        ends[row.task_id .. " " .. row.agent] = row.state
      end
      assert.is_true(scene.law_holds(s))
      local told = {}
      for key, status in pairs(results) do
        told[#told + 1] = key:match("^%S+") .. " " .. status
      end
      table.sort(told)
      scene.close()
      return { ends = ends, told = told }, steps
    end
    local expected, steps = finish(nil)
    assert.is_true(steps > 50)
    for cut = 1, steps do
      assert.same(expected, (finish(cut)))
    end
  end)
end)
