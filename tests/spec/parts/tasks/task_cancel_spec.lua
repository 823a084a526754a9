-- Cancelling a task: queued, running, waiting, with all tasks below it.
--
-- Covers: core/parts/tasks/tasks_cancel.c, core/script/bindings/bind_tasks.c

local scene = require("scene")

after_each(scene.close)

local function state(s, id)
  return s:tasks({ task = id })[1].state
end

-- Root does what `acts.root` says to messages from user; others as said. The returned list
-- collects the notes.
local function house(acts)
  local notes = {}
  local function note(text)
    notes[#notes + 1] = text
  end
  local parts = {}
  for id, act in pairs(acts) do
    parts[id] = function(agent, message)
      if message.type == "abort" then
        return note(("%s: abort %s by %s (%s)"):format(agent.id, message.payload.task_id,
          message.from, tostring(message.payload.reason)))
      end
      return act(agent, message, note)
    end
  end
  return scene.troupe(parts), notes
end

local function give(s, id, to, from)
  return assert(s:send(from or "root", { to = to or "a", type = "task", task_id = id,
    payload = "x" })).messageId
end

local function cancel(s, id, reason)
  return scene.tell(s, "root", { cancel = id, reason = reason })
end

-- A root that cancels what it is told to and keeps the answer.
local function canceller(answers)
  return function(root, message)
    if type(message.payload) == "table" and message.payload.cancel then
      local task, err = root:cancel(message.payload.cancel, message.payload.reason)
      answers[#answers + 1] = task or err
    end
  end
end

describe("cancel", function()
  it("removes a task from the queue; its owner never sees it", function()
    local answers, begun = {}, {}
    local s, notes = house({
      root = canceller(answers),
      a = function(agent, message)
        begun[message.task_id] = true -- once more after the crash
        agent:sleep(1000)
        agent:complete(message)
      end,
    })
    give(s, "T1")
    local id = give(s, "T2")
    s:advance(0)
    s:crash()
    s:recover()
    cancel(s, "T2", "优先级调整")
    assert.same({ T1 = true }, begun)
    assert.equal("cancelled", state(s, "T2"))
    assert.equal("优先级调整", s:tasks({ task = "T2" })[1].reason)
    assert.equal("cancelled", answers[1].state)
    assert.equal(1, answers[1].cancelled)
    local message = scene.message(s, {}, { id = id })
    assert.equal("cancelled", message.status)
    assert.equal("cancelled", message.reason)
    assert.equal("T2", message.error.task_id)
    assert.equal(1, s:stats().cancelled)
    assert.is_true(scene.law_holds(s))
    assert.same({}, notes)
  end)

  it("removes a task that is not due yet, and one that waits for a retry", function()
    local answers, runs = {}, 0
    local s = house({
      root = canceller(answers),
      a = function(agent, message)
        runs = runs + 1
        agent:fail(message, "no", { retryable = true })
      end,
    })
    assert(s:send("root", { to = "a", type = "task", task_id = "T1", payload = "x",
      delay_ms = 5000 }))
    give(s, "T2")
    s:advance(0)
    for _, id in ipairs({ "T1", "T2" }) do
      assert(s:send("user", { to = "root", payload = { cancel = id } }))
    end
    s:run()
    assert.equal(1, runs)
    assert.equal("cancelled", state(s, "T1"))
    assert.equal("cancelled", state(s, "T2"))
    assert.is_true(scene.law_holds(s))
    assert.equal(0, s:stats().pending)
    assert.equal(0, s:stats().waiting)
  end)

  for _, wait in ipairs({
    { name = "a request", act = function(agent) agent:request({ to = "b", payload = "?" }) end },
    { name = "a sleep", act = function(agent) agent:sleep(60000) end },
    { name = "a receive", act = function(agent) agent:receive({ type = "never" }) end },
    { name = "a back-off", act = function() end, raises = true },
  }) do
    it("ends an activation in the middle of " .. wait.name .. ", past every pcall", function()
      local answers = {}
      local s, notes = house({
        root = canceller(answers),
        a = function(agent, message, note)
          if message.payload.text == "other" then
            return note("other")
          elseif wait.raises then
            note("closed")
            error("once more")
          end
          pcall(function()
            local _ <close> = setmetatable({}, { __close = function() note("closed") end })
            wait.act(agent)
            agent:sleep(60000)
          end)
          note("went on")
          agent:complete(message)
        end,
        b = function(agent) agent:sleep(50000) end,
      })
      local id = give(s, "T1")
      s:advance(10)
      assert(s:send("root", { to = "a", payload = "other" }))
      cancel(s, "T1", "stop")
      assert.equal("cancelled", state(s, "T1"))
      assert.equal("cancelled", scene.message(s, {}, { id = id }).status)
      assert.same({ "closed", "other", "a: abort T1 by root (stop)" }, notes)
      assert.same({}, s:waits())
      assert.is_true(scene.law_holds(s))
    end)
  end

  it("survives a crash right after it", function()
    local answers = {}
    local s, notes = house({ root = canceller(answers), a = function(agent, message, note)
      agent:sleep(5000)
      note("went on")
      agent:complete(message)
    end })
    give(s, "T1")
    s:advance(10)
    assert(s:send("user", { to = "root", payload = { cancel = "T1" } }))
    s:step()
    s:crash()
    s:recover()
    s:run()
    assert.equal("cancelled", state(s, "T1"))
    assert.same({ "a: abort T1 by root (nil)" }, notes)
    assert.is_true(scene.law_holds(s))
  end)

  it("reaches children three levels deep, whatever they wait for", function()
    local answers, done = {}, {}
    local function pass(next_id, wait)
      return function(agent, message)
        if message.type ~= "task" then
          return
        end
        assert(agent:send_message({ to = next_id, type = "task", task_id = "T" .. next_id,
          payload = "x" }))
        wait(agent)
        done[#done + 1] = agent.id
      end
    end
    local s, notes = house({
      root = canceller(answers),
      a = pass("b", function(agent) agent:receive({ type = "result" }) end),
      b = pass("c", function(agent) agent:sleep(100000) end),
      c = function(agent, message)
        if message.type == "task" then
          agent:send_message({ to = "d", type = "note", payload = "of the same task" })
          agent:request({ to = "d", type = "task", task_id = "Td", payload = "x" })
          done[#done + 1] = "c"
        end
      end,
      d = function(agent) agent:sleep(100000) end,
    })
    give(s, "Ta")
    s:advance(10)
    cancel(s, "Ta", "no")
    assert.equal(4, answers[1].cancelled)
    for _, id in ipairs({ "Ta", "Tb", "Tc", "Td" }) do
      assert.equal("cancelled", state(s, id))
    end
    assert.same({}, done)
    table.sort(notes)
    assert.same({ "a: abort Ta by root (no)", "b: abort Tb by root (no)",
      "c: abort Tc by root (no)" }, notes)
    assert.same({}, s:waits())
    assert.is_true(scene.law_holds(s))
  end)

  it("reaches tasks whose parent has terminated, also after a restart", function()
    local answers = {}
    local s = house({
      root = canceller(answers),
      a = function(agent)
        agent:send_message({ to = "b", type = "task", task_id = "Tb", payload = "x" })
        agent:receive({ type = "result" })
      end,
      b = function(agent, message)
        agent:send_message({ to = "c", type = "task", task_id = "Tc", payload = "x" })
        agent:sleep(1)
        agent:complete(message)
      end,
      c = function() end,
    })
    give(s, "Ta")
    s:run()
    assert.equal("completed", state(s, "Tb"))
    assert.equal("processing", state(s, "Tc"))
    s:crash()
    s:recover()
    cancel(s, "Ta")
    assert.equal("cancelled", state(s, "Ta"))
    assert.equal("cancelled", state(s, "Tc"))
    assert.equal(2, answers[1].cancelled)
  end)

  it("rolls back what the same turn has sent, and can end the turn's own task", function()
    local runs = {}
    local s = scene.troupe({ a = function(agent, message)
      runs[#runs + 1] = message.task_id
      if message.task_id == "T1" then
        agent:send_message({ to = "a", type = "task", task_id = "T2", payload = "x" })
        agent:send_message({ to = "a", type = "task", task_id = "T3", payload = "x" })
        assert.equal("cancelled", agent:cancel("T2").state)
        assert.equal("task_finished", select(2, agent:cancel("T2")).error)
      elseif message.type == "task" then
        assert(agent:cancel("T3"))
        agent:sleep(1000)
        runs[#runs + 1] = "went on"
      end
    end })
    give(s, "T1")
    s:run()
    assert.same({ "T1", "T3" }, runs)
    assert.equal("cancelled", state(s, "T2"))
    assert.equal("cancelled", state(s, "T3"))
    assert.equal(2, s:stats().cancelled)
    assert.is_true(scene.law_holds(s))
  end)

  it("in the last turn of the task itself lets that turn commit", function()
    local s = scene.troupe({ a = function(agent, message)
      if message.task_id == "T1" then
        agent:send_message({ to = "a", type = "task", task_id = "T2", payload = "x" })
      elseif message.type == "task" then
        assert(agent:cancel("T2"))
        agent.state.last = "kept"
      end
    end })
    give(s, "T1")
    s:run()
    assert.equal("cancelled", state(s, "T2"))
    assert.equal("kept", s:agent("a").state.last)
    assert.equal(0, s:stats().cancelled)
    assert.is_true(scene.law_holds(s))
  end)

  it("is rolled back by a turn that raises", function()
    local runs, done = 0, false
    local s = scene.troupe({
      root = function(root, message)
        if message.from == "user" then
          runs = runs + 1
          assert(root:cancel("T1"))
          assert(runs > 3, "not yet")
        end
      end,
      a = function(agent, message)
        agent:sleep(150)
        done = agent:complete(message)
      end,
    })
    give(s, "T1")
    s:advance(10)
    scene.tell(s, "root")
    assert.equal("completed", done.state)
    assert.equal(1, #s:dead_letters())
  end)
end)
