-- The life of a task: opened by a message, started, ended by its owner.
--
-- Covers: core/parts/tasks/tasks_result.c

local json = require("society.json")
local scene = require("scene")

after_each(scene.close)

-- A boss (root) who keeps what it gets; a worker that acts as `work` says.
local function house(work, options)
  local got = {}
  local s = scene.troupe({
    root = function(_, message)
      got[#got + 1] = { type = message.type, payload = message.payload, from = message.from,
        task_id = message.task_id, reply_to = message.reply_to }
    end,
    worker = work,
  }, options)
  return s, got
end

local function give(s, type, payload, more)
  local options = { to = "worker", type = type, payload = payload }
  for name, value in pairs(more or {}) do
    options[name] = value
  end
  return assert(s:send("root", options)).messageId
end

local function task(s, id)
  local rows = s:tasks({ task = id })
  assert.equal(1, #rows)
  return rows[1]
end

describe("a task", function()
  for _, case in ipairs({
    { opens = "task", closes = "result" },
    { opens = "task_assign", closes = "task_complete" },
    { opens = "task_assignment", closes = "result" },
  }) do
    it(("opened by %s is closed by %s"):format(case.opens, case.closes), function()
      local returned
      local s, got = house(function(agent, message)
        agent:sleep(90000)
        returned = agent:complete(message, { lines = 3 })
      end)
      local id = give(s, case.opens, { task_id = "T1" })
      assert.equal("pending", task(s, "T1").state)
      s:advance(1000)
      assert.equal("processing", task(s, "T1").state)
      s:run()
      local row = task(s, "T1")
      assert.equal("completed", row.state)
      assert.equal("worker", row.agent)
      assert.equal("root", row.assigner)
      assert.equal(case.opens, row.type)
      assert.equal("completed", returned.state)
      assert.equal(row.ended_at, returned.ended_at)
      assert.same({ {
        type = case.closes, from = "worker", task_id = "T1", reply_to = id,
        payload = { task_id = "T1", status = "done", output = { lines = 3 },
          duration_minutes = 1.5 },
      } }, got)
    end)
  end

  it("fails with its error, and whether it may be retried", function()
    local s, got = house(function(agent, message)
      agent:fail(message, "API rate limit exceeded", { retryable = false })
    end)
    give(s, "task", { task_id = "T1" })
    s:run()
    assert.equal("failed", task(s, "T1").state)
    assert.equal("API rate limit exceeded", task(s, "T1").reason)
    assert.same({ task_id = "T1", status = "failed", error = "API rate limit exceeded",
      duration_minutes = 0 }, got[1].payload)
  end)

  it("stays processing when its handler returns without completing it", function()
    local s, got = house(function(agent, message)
      if message.type == "later" then
        return assert(agent:complete(message.payload.text))
      end
    end)
    give(s, "task", { task_id = "T1" })
    s:run()
    assert.equal("processing", task(s, "T1").state)
    s:crash()
    s:recover()
    assert.equal("processing", task(s, "T1").state)
    assert(s:send("root", { to = "worker", type = "later", payload = "T1" }))
    s:run()
    assert.equal("completed", task(s, "T1").state)
    assert.equal("done", got[1].payload.status)
  end)

  it("uses the message's id by default, and passes it on", function()
    local s, got = house(function(agent, message)
      agent:send_message({ to = "root", type = "progress_update", payload = "half" })
      agent:complete(message)
    end)
    local id = give(s, "task", { requirement = "x" })
    s:run()
    assert.equal("completed", task(s, id).state)
    assert.equal(id, got[1].task_id)
    assert.equal(id, got[2].payload.task_id)
    assert.is_nil(got[2].payload.output)
  end)

  it("is refused if the receiver has an open task of that id, not if it has ended", function()
    local s = house(function(agent, message)
      agent:sleep(1000)
      agent:complete(message)
    end)
    give(s, "task", { task_id = "T1" })
    local sent, err = s:send("root", { to = "worker", type = "task", payload = { task_id = "T1" } })
    assert.is_nil(sent)
    assert.equal("already_exists", err.error)
    assert.equal("T1", err.task_id)
    assert.equal(2, #s:messages())
    s:run()
    give(s, "task", { task_id = "T1" })
    s:run()
    assert.equal(2, #s:tasks({ task = "T1", state = "completed" }))
  end)

  it("inherits the id of the task it is opened for, unless the receiver has that", function()
    local s = scene.troupe({
      a = function(agent, message)
        for _ = 1, message.type == "task" and 2 or 0 do
          assert(agent:send_message({ to = "b", type = "task", payload = "part" }))
        end
      end,
      b = function(agent, message) agent:complete(message) end,
    })
    assert(s:send("root", { to = "a", type = "task", task_id = "T1", payload = "all" }))
    s:run()
    local parts = s:tasks({ agent = "b" })
    assert.equal("T1", parts[1].task_id)
    assert.equal(parts[2].message_id, parts[2].task_id)
    assert.equal("T1", parts[1].parent)
    assert.equal("T1", parts[2].parent)
  end)

  it("is ended by a plain result from its owner to its assigner, and by no other", function()
    local s = house(function(agent, message)
      if message.type == "task" then
        agent:send_message({ to = "user", type = "result", payload = { status = "done" } })
        agent:send_message({ to = "root", type = "result", payload = { status = "half" } })
      else
        agent:send_message({ to = "root", type = "result",
          payload = { task_id = "T1", status = message.payload.text, error = "why" } })
      end
    end)
    give(s, "task", { task_id = "T1" })
    s:run()
    assert.equal("processing", task(s, "T1").state)
    give(s, "end", "failed")
    s:run()
    assert.equal("failed", task(s, "T1").state)
    assert.equal("why", task(s, "T1").reason)
  end)

  it("is ended by its owner alone, once, and after it has started", function()
    local errors = {}
    local function try(agent, message)
      local _, err = agent:complete(message)
      errors[#errors + 1] = err and err.error
    end
    local s = scene.troupe({
      a = function(agent, message)
        try(agent, "nothing")
        try(agent, "T2")
        try(agent, "T3")
        assert(agent:complete(message))
        try(agent, message)
        agent:sleep(1)
        try(agent, message)
      end,
      b = function() end,
    })
    assert(s:send("root", { to = "b", type = "task", task_id = "T2", payload = "x" }))
    assert(s:send("root", { to = "a", type = "task", task_id = "T1", payload = "x" }))
    assert(s:send("root", { to = "a", type = "task", task_id = "T3", payload = "x" }))
    s:step()
    s:advance(0)
    assert.same({ "task_not_found", "forbidden", "refused", "task_finished" }, errors)
    s:advance(1)
    assert.equal("task_finished", errors[5])
  end)

  it("is not opened by a turn that fails", function()
    local s = house(function() end, { policies = { contacts = "open" } })
    s:policy("supervision", function() end)
    s:root(function(root)
      assert(root:send_message({ to = "worker", type = "task", task_id = "T1", payload = "x" }))
      error("no")
    end)
    scene.tell(s, "root")
    assert.same({}, s:tasks())
    assert.same(json.array({}), s:queue("worker").pending)
  end)

  it("fails with the message that opened it, and is opened again with it", function()
    local broken = true
    local s, got = house(function(agent, message)
      assert(not broken, "broken")
      agent:complete(message)
    end)
    local id = give(s, "task", { task_id = "T1" })
    s:run()
    assert.equal("failed", task(s, "T1").state)
    assert.equal("script_error", got[1].payload.error)
    assert.equal("system", got[1].from)
    broken = false
    assert.is_true(s:redeliver(id))
    assert.equal("pending", task(s, "T1").state)
    s:run()
    assert.equal("completed", task(s, "T1").state)
    assert.equal("done", got[2].payload.status)
    assert.is_true(scene.law_holds(s))
  end)

  it("answers the request that gave it, or is a message if that was answered", function()
    local answers = {}
    local s, got = house(function(agent, message)
      if message.payload.early then
        agent:reply(message, "soon")
      end
      agent:complete(message, "out")
      return "not sent"
    end)
    s:root(function(root, message)
      if message.type == "result" then
        got[#got + 1] = message.payload
        return
      end
      answers[#answers + 1] = assert(root:request({ to = "worker", type = "task",
        payload = { early = message.payload.early } })).payload
    end)
    scene.tell(s, "root", { early = false })
    scene.tell(s, "root", { early = true })
    assert.equal("out", answers[1].output)
    assert.equal("soon", answers[2].text)
    assert.equal(1, #got)
    assert.equal("out", got[1].output)
    assert.is_true(scene.law_holds(s))
  end)
end)
