-- Workload: an agent's queue, its load, and when it will be free.
--
-- Covers: core/parts/tasks/tasks_look.c

local json = require("society.json")
local scene = require("scene")

after_each(scene.close)

local MINUTE = 60000

-- Workers that take as many minutes for a task as it says.
local function house(acts)
  acts = acts or {}
  local function work(agent, message)
    if message.type == "task" then
      agent:sleep(message.payload.minutes * MINUTE)
      agent:complete(message)
    end
  end
  return scene.troupe({ root = acts.root or function() end, ann = work, bob = work })
end

local function give(s, id, minutes, priority, to)
  assert(s:send("root", { to = to or "ann", type = "task", task_id = id, priority = priority,
    payload = { minutes = minutes } }))
end

describe("society.queue", function()
  it("shows the queue by priority, the current task and completed tasks", function()
    local s = house()
    assert.same({ queue_name = "ann_tasks", pending = {}, completed = {} }, s:queue("ann"))
    give(s, "T0", 1)
    s:run()
    give(s, "T1", 5)
    s:advance(0)
    give(s, "T2", 5, "P3")
    give(s, "T3", 5)
    give(s, "T4", 5, "P0")
    give(s, "T5", 5, "high")
    give(s, "T6", 5)
    assert.same({
      queue_name = "ann_tasks",
      pending = {
        { task_id = "T4", priority = "P0" }, { task_id = "T5", priority = "P1" },
        { task_id = "T3", priority = "P2" }, { task_id = "T6", priority = "P2" },
        { task_id = "T2", priority = "P3" },
      },
      processing = { task_id = "T1" },
      completed = { "T0" },
    }, s:queue("ann"))
    s:run()
    assert.same({ "T0", "T1", "T4", "T5", "T3", "T6", "T2" }, s:queue("ann").completed)
    assert.is_nil(s:queue("nobody"))
  end)

  it("remembers the last sixteen tasks, also after a restart", function()
    local s = house()
    for i = 1, 20 do
      give(s, "T" .. i, 0)
    end
    s:run()
    local before = s:queue("ann")
    assert.equal(16, #before.completed)
    assert.equal("T20", before.completed[16])
    assert.equal("T5", before.completed[1])
    s:dump() -- folds the journal into the tables
    s:crash()
    s:recover()
    assert.same(before, s:queue("ann"))
  end)
end)

describe("load", function()
  it("is computed from history: current, queued, share of ten minutes, when free", function()
    local s = house()
    s:advance(10 * MINUTE)
    give(s, "T1", 4)
    s:run()
    assert.same({ agent = "ann", status = "idle", queue_length = 0, active_tasks = 0,
      load = "40%", estimated_free = "2026-01-01T00:14:00.000Z" }, s:load("ann"))
    give(s, "T2", 2)
    give(s, "T3", 2)
    s:advance(MINUTE)
    -- T1 took 4 minutes: 3 are left of T2, 4 for T3.
    local expected = { agent = "ann", status = "busy", current_task = "T2", queue_length = 1,
      active_tasks = 1, load = "50%", estimated_free = "2026-01-01T00:22:00.000Z" }
    assert.same(expected, s:load("ann"))
    s:crash()
    s:recover()
    assert.same(expected, s:load("ann"))
    s:run()
    -- 4, 2 and 2 minutes: 160 s on the average.
    give(s, "T4", 1)
    assert.equal("2026-01-01T00:20:40.000Z", s:load("ann").estimated_free)
    assert.equal("80%", s:load("ann").load)
  end)

  it("uses the role's average if the agent has no history, then the limit", function()
    local s = house()
    give(s, "T1", 7)
    assert.equal("2026-01-01T00:30:00.000Z", s:load("ann").estimated_free)
    s:run()
    give(s, "T2", 1, nil, "bob")
    assert.equal("2026-01-01T00:14:00.000Z", s:load("bob").estimated_free)
    assert.is_nil(s:load("nobody"))
  end)

  it("counts a delayed task from when it is due", function()
    local s = house()
    give(s, "T1", 4)
    s:run()
    assert(s:send("root", { to = "ann", type = "task", task_id = "T2", delay_ms = 60 * MINUTE,
      payload = { minutes = 4 } }))
    assert.equal("2026-01-01T01:08:00.000Z", s:load("ann").estimated_free)
    s:crash()
    s:recover()
    give(s, "T3", 4) -- it fits in between
    assert.equal("2026-01-01T01:08:00.000Z", s:load("ann").estimated_free)
    s:advance(60 * MINUTE)
    assert.equal("2026-01-01T01:08:00.000Z", s:load("ann").estimated_free)
  end)

  it("ignores what the current turn has ended", function()
    local own
    local s = scene.troupe({ ann = function(agent, message)
      agent:sleep(4 * MINUTE)
      agent:complete(message)
      own = agent:load()
    end })
    give(s, "T1", 4)
    s:run()
    assert.equal(0, own.active_tasks)
    assert.equal("2026-01-01T00:04:00.000Z", own.estimated_free)
  end)

  it("is an effect of an agent, about itself by default", function()
    local own, other, err
    local s = house({ root = function(root, message)
      if message.from == "user" then
        own, other = root:load(), root:load("ann")
        err = select(2, root:load("nobody"))
      end
    end })
    scene.tell(s, "root")
    assert.equal("root", own.agent)
    assert.equal("busy", own.status)
    assert.equal("ann", other.agent)
    assert.equal("idle", other.status)
    assert.equal("agent_not_found", err.error)
  end)

  it("sees inside a turn what the turn has done", function()
    local before, after
    local s = scene.troupe({ ann = function(agent, message)
      before = agent:load().active_tasks
      agent:complete(message)
      after = agent:load().active_tasks
    end })
    give(s, "T1", 0)
    s:run()
    assert.equal(1, before)
    assert.equal(0, after)
  end)
end)

describe("society.tasks", function()
  it("can be filtered by agent, task, state, type, correlation and time", function()
    local s = house()
    give(s, "T1", 0)
    s:run()
    give(s, "T2", 9, "P1")
    give(s, "T3", 9, nil, "bob")
    s:advance(MINUTE)
    local function ids(filter)
      local list = {}
      for _, row in ipairs(s:tasks(filter)) do
        list[#list + 1] = row.task_id
      end
      return table.concat(list, " ")
    end
    assert.equal("T1 T2 T3", ids())
    assert.equal("T1 T2", ids({ agent = "ann" }))
    assert.equal("T1 T2 T3", ids({ agent = "root" }))
    assert.equal("T2 T3", ids({ state = "processing" }))
    assert.equal("T2", ids({ state = "processing", agent = "ann" }))
    assert.equal("T1", ids({ state = "completed" }))
    assert.equal("T1 T2 T3", ids({ type = "task" }))
    assert.equal("T3", ids({ task = "T3" }))
    assert.equal("T3", ids({ limit = 1 }))
    assert.equal("T2", ids({ correlation_id = s:tasks({ task = "T2" })[1].correlation_id }))
    assert.has_error(function() s:messages({ state = "processing" }) end)
  end)

  it("can be queried inside a turn, with or without a filter", function()
    local all, some
    local s
    s = house({ root = function(_, message)
      if message.from == "user" then
        all, some = s:tasks(), s:tasks({ agent = "bob" })
      end
    end })
    give(s, "T1", 0)
    scene.tell(s, "root")
    assert.equal(1, #all)
    assert.equal(0, #some)
  end)

  it("is logged in the activity, with task and correlation", function()
    local s = house()
    assert(s:send("root", { to = "ann", type = "task", task_id = "T1", correlation_id = "c1",
      payload = { minutes = 40 } }))
    s:run()
    local events = json.array({})
    for _, entry in ipairs(s:activity({ task = "T1", correlation_id = "c1" })) do
      if entry.event:find("^task_") then
        assert.equal("ann", entry.agent)
        events[#events + 1] = entry.event
      end
    end
    assert.same({ "task_opened", "task_start", "task_alert", "task_end" }, events)
  end)
end)
