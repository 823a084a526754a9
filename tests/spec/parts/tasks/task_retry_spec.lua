-- A failed task that may be retried: when, how often, and what its assigner is told.

local scene = require("scene")

after_each(scene.close)

-- A worker that fails `failures` times before it completes; it records the ms since the
-- start at which each try began, and the attempt of its message.
local function house(failures, options)
  local begun, results, start = {}, {}, nil
  local s = scene.troupe({
    root = function(_, message) results[#results + 1] = message.payload end,
    worker = function(agent, message)
      begun[#begun + 1] = { agent:now() - start, message.attempt }
      if #begun <= failures then
        return agent:fail(message, "not yet", { retryable = true })
      end
      agent:complete(message, "out")
    end,
  }, options)
  start = s:now()
  return s, begun, results
end

local function give(s)
  assert(s:send("root", { to = "worker", type = "task", task_id = "T1", payload = "x" }))
end

local function state(s)
  return s:tasks({ task = "T1" })[1].state
end

describe("a retryable failure", function()
  it("is retried after 1, 2 and 4 s; only the end is reported", function()
    local s, begun, results = house(3)
    give(s)
    s:run()
    assert.same({ { 0, 1 }, { 1000, 2 }, { 3000, 3 }, { 7000, 4 } }, begun)
    assert.equal("completed", state(s))
    assert.equal(4, s:tasks({ task = "T1" })[1].tries)
    assert.equal(1, #results)
    assert.equal("done", results[1].status)
    assert.is_true(scene.law_holds(s))
    assert.equal(0, s:stats().pending)
  end)

  it("is final after the third retry", function()
    local s, begun, results = house(99)
    give(s)
    s:run()
    assert.equal(4, #begun)
    assert.equal("failed", state(s))
    assert.same({ { status = "failed", error = "not yet", retryable = true, task_id = "T1",
      duration_minutes = 0.117 } }, results)
  end)

  it("leaves the task pending while it waits, and shows until when", function()
    local returned
    local s = scene.troupe({ worker = function(agent, message)
      returned = returned or agent:fail(message, "no", { retryable = true })
    end })
    give(s)
    s:advance(10)
    assert.equal("pending", state(s))
    assert.equal("pending", returned.state)
    assert.equal("2026-01-01T00:00:01.000Z", returned.retry_at)
    assert.equal(returned.retry_at, s:tasks({ task = "T1" })[1].retry_at)
    assert.same({ { task_id = "T1", priority = "P2" } }, s:queue("worker").pending)
    assert.is_nil(s:queue("worker").processing)
    s:crash()
    s:recover()
    assert.equal(returned.retry_at, s:tasks({ task = "T1" })[1].retry_at)
    s:run()
    assert.equal("processing", state(s))
    assert.is_nil(s:tasks({ task = "T1" })[1].retry_at)
  end)

  it("happens at the same times across crashes", function()
    local s, begun, results = house(3)
    give(s)
    for _, ms in ipairs({ 0, 500, 700, 1800, 0, 3999, 1 }) do
      s:advance(ms)
      s:crash()
      s:recover()
    end
    s:run()
    assert.same({ { 0, 1 }, { 1000, 2 }, { 3000, 3 }, { 7000, 4 } }, begun)
    assert.equal(1, #results)
    assert.is_true(scene.law_holds(s))
  end)

  it("is retried immediately after a crash that lasted longer", function()
    local s, begun = house(1)
    give(s)
    s:advance(0)
    s:crash()
    s:advance(60000)
    s:recover()
    s:run()
    assert.same({ { 0, 1 }, { 60000, 2 } }, begun)
  end)

  it("can come in a later activation than the task's own", function()
    local runs = 0
    local s = scene.troupe({ worker = function(agent, message)
      if message.type == "task" then
        runs = runs + 1
      else
        agent:fail("T1", "no", { retryable = true })
      end
    end })
    give(s)
    s:run()
    s:crash()
    s:recover()
    scene.tell(s, "worker")
    assert.equal(2, runs)
    s:dump() -- folds the journal into the tables
    s:crash()
    s:recover()
    scene.tell(s, "worker")
    assert.equal(3, runs)
    assert.equal("processing", state(s))
    assert.is_true(scene.law_holds(s))
  end)

  it("reported by a plain result is retried as well; the result is delivered as sent", function()
    local results, runs = {}, 0
    local s = scene.troupe({
      root = function(_, message) results[#results + 1] = message.payload.status end,
      worker = function(agent)
        runs = runs + 1
        agent:send_message({ to = "root", type = "result", payload = {
          status = runs < 3 and "failed" or "done", error = "no", retryable = true } })
      end,
    })
    give(s)
    s:run()
    assert.equal("completed", state(s))
    assert.same({ "failed", "failed", "done" }, results)
  end)

  it("is rolled back by a turn that raises", function()
    local runs = 0
    local s, _, results = house(0)
    s:role({ id = "actor", behaviour = function(agent, message)
      runs = runs + 1
      agent:fail(message, "no", { retryable = true })
      assert(runs > 1, "first time")
    end })
    give(s)
    s:advance(200)
    assert.equal(2, runs)
    assert.equal(1, s:tasks()[1].tries)
    assert.same({}, results)
  end)
end)

describe("the tasks policy", function()
  it("can be set", function()
    local s, begun = house(2)
    s:policy("tasks", "default", { retries_max = 1, first_ms = 50 })
    give(s)
    s:run()
    assert.same({ { 0, 1 }, { 50, 2 } }, begun)
    assert.equal("failed", state(s))
  end)

  it("is given the task and its error, and may be a function", function()
    local s, begun = house(1)
    local asked
    s:policy("tasks", function(request)
      asked = request
      return 7
    end)
    give(s)
    s:run()
    assert.same({ { 0, 1 }, { 7, 2 } }, begun)
    assert.same({ agent = { id = "worker", role = "actor", parent = "root" },
      assigner = { id = "root", role = "root" }, task_id = "T1", type = "task", priority = "P2",
      tries = 1, error = "not yet" }, asked)
  end)

  it("falls back to the default if it fails", function()
    local s, begun = house(1)
    s:policy("tasks", function() return "soon" end)
    give(s)
    s:run()
    assert.same({ { 0, 1 }, { 1000, 2 } }, begun)
  end)
end)
