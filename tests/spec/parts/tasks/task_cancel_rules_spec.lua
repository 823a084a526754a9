-- Who may cancel a task, in which forms, and who is notified.

local scene = require("scene")

after_each(scene.close)

describe("cancelling a task", function()
  for _, case in ipairs({
    { name = "a task message", type = "task", payload = { action = "cancel" } },
    { name = "an abort", type = "abort", payload = {} },
  }) do
    it("works by " .. case.name .. ", which is delivered unchanged", function()
      local got = {}
      local s = scene.troupe({ a = function(agent, message)
        got[#got + 1] = message.type
        if message.payload.text == "x" then
          agent:sleep(1000)
        end
      end, b = function() end })
      assert(s:send("root", { to = "a", type = "task", task_id = "T1", payload = "x" }))
      s:advance(10)
      case.payload.task_id = "T1"
      local options = { to = "a", type = case.type, payload = case.payload }
      local _, err = s:send("b", options) -- from an agent that may not
      assert.same({ "forbidden", "T1" }, { err.error, err.task_id })
      assert.equal("processing", s:tasks()[1].state)
      assert(s:send("root", options))
      assert.equal("cancelled", s:tasks()[1].state)
      s:run()
      assert.same({ "task", case.type }, got)
      for id, code in pairs({ T1 = "task_finished", T9 = "task_not_found" }) do
        case.payload.task_id = id
        _, err = s:send("root", options)
        assert.same({ code, id }, { err.error, err.task_id })
        assert.equal(id == "T1" and "cancelled" or nil, err.state)
      end
      assert.equal(1, #s:tasks())
      assert.is_true(scene.law_holds(s))
    end)
  end

  it("answers a wait for the result with cancelled", function()
    local answer, err
    local s = scene.troupe({
      boss = function(agent)
        answer, err = agent:request({ to = "a", type = "task", task_id = "T1", payload = "x" })
      end,
      a = function(agent) agent:sleep(9000) end,
    })
    scene.tell(s, "root")
    assert(s:send("root", { to = "boss", payload = "go" }))
    s:advance(10)
    assert(s:send("user", { to = "a", type = "task",
      payload = { task_id = "T1", action = "cancel", reason = "changed" } }))
    s:advance(10)
    assert.is_nil(answer)
    assert.equal("cancelled", err.error)
    assert.equal("T1", err.task_id)
    assert.equal("changed", err.reason)
    assert.is_true(scene.law_holds(s))
  end)

  it("is reserved to the assigner and its ancestors, and to open tasks", function()
    local errors = {}
    local s = scene.troupe({
      boss = function(agent, message)
        if message.type == "go" then
          agent:send_message({ to = "a", type = "task", task_id = "T1", payload = "x" })
        end
      end,
      a = function(agent)
        errors[#errors + 1] = select(2, agent:cancel("T1"))
        errors[#errors + 1] = select(2, agent:cancel("T7"))
        agent:sleep(100)
        agent:complete("T1")
      end,
      b = function(agent, message)
        if message.type == "general" then
          errors[#errors + 1] = select(2, agent:cancel("T1", "not mine"))
        end
      end,
    })
    scene.tell(s, "boss", "x", "go")
    scene.tell(s, "b")
    assert.equal("forbidden", errors[1].error)
    assert.equal("task_not_found", errors[2].error)
    assert.equal("T7", errors[2].task_id)
    assert.equal("task_finished", errors[3].error)
    assert.equal("completed", errors[3].state)
  end)

  it("by an ancestor notifies the assigner", function()
    local told
    local s = scene.troupe({
      root = function(root, message)
        if message.from == "user" then
          assert(root:cancel("T1", "from above"))
        end
      end,
      boss = function(agent, message)
        if message.type == "go" then
          agent:send_message({ to = "a", type = "task", task_id = "T1", payload = "x" })
        elseif message.type == "result" then
          told = message
        end
      end,
      a = function(agent) agent:sleep(1000) end,
    })
    assert(s:send("root", { to = "boss", type = "go", payload = "x" }))
    s:advance(10)
    scene.tell(s, "root")
    assert.equal("system", told.from)
    assert.same({ task_id = "T1", status = "cancelled", error = "from above",
      duration_minutes = 0 }, told.payload)
  end)
end)

describe("a cancelled tree of tasks", function()
  it("counts each task once, even where children inherited its id", function()
    local answers = {}
    local s = scene.new({ policies = { contacts = "open" }, app = function(s)
      s:role({ id = "w", name = "w", behaviour = { task_assignment = function(w, message)
        local depth = message.payload.depth
        for i = 1, depth > 0 and 2 or 0 do
          assert(w:spawn_agent("w", scene.brief(), { id = w.id .. i,
            message = { depth = depth - 1 } }))
        end
        w:sleep(100000)
      end, abort = function() end } })
      s:root(function(root, message)
        if message.payload.cancel then
          answers[1] = root:cancel(message.payload.cancel)
        elseif message.type == "general" then
          assert(root:spawn_agent("w", scene.brief(), { id = "t", message = { depth = 2 } }))
        end
      end)
    end })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(1000)
    assert(s:send("user", { to = "root", payload = { cancel = s:tasks()[1].task_id } }))
    s:advance(1000)
    assert.equal(7, answers[1].cancelled)
    for _, task in ipairs(s:tasks()) do
      assert.equal("cancelled", task.state)
    end
  end)
end)
