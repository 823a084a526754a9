-- Nobody reports, or introduces itself, with an authority that is not its own.
--
-- Covers: core/parts/tasks/tasks_life.c, core/parts/contacts/acquaintance.c

local scene = require("scene")

local function report(s, from, to, id)
  return s:send(from, { to = to, type = "result", payload = { task_id = id, status = "done" } })
end

describe("a result", function()
  after_each(scene.close)

  local function working()
    local s = scene.troupe({ a = function(a, message)
      if message.type == "task" then
        a:sleep(1000)
      end
    end, b = function() end })
    assert(s:send("root", { to = "a", type = "task", task_id = "T1", payload = "x" }))
    s:advance(10)
    return s
  end

  it("for another's task is refused and changes nothing", function()
    local s = working()
    for _, type in ipairs({ "result", "task_complete" }) do
      local sent = s:stats().sent
      local _, err = s:send("b", { to = "root", type = type,
        payload = { task_id = "T1", status = "done" } })
      assert.same({ "unknown_task", "T1" }, { err.error, err.task_id })
      assert.equal(sent, s:stats().sent)
      assert.equal("processing", s:tasks()[1].state)
    end
    assert(report(s, "a", "root", "T1"))
    assert.equal("completed", s:tasks()[1].state)
    local _, err = report(s, "b", "root", "T1")
    assert.equal("unknown_task", err.error)
  end)

  it("for the agent's own task that has ended is logged and dropped", function()
    local s = working()
    assert(report(s, "a", "root", "T1"))
    local late = assert(report(s, "a", "root", "T1"))
    s:run()
    local message = scene.message(s, {}, { id = late.messageId })
    assert.same({ "dropped", "late_result" }, { message.status, message.reason })
    assert.equal("completed", s:tasks()[1].state)
    assert.is_true(scene.law_holds(s))
  end)

  it("for a task that nobody has is an ordinary message", function()
    local s = working()
    assert(report(s, "b", "root", "T9"))
  end)
end)

describe("a self_introduction", function()
  after_each(scene.close)

  it("names the sender's own role, in any message", function()
    local seen = {}
    local s = scene.troupe({ a = function() end, b = function(_, message)
      seen[#seen + 1] = message.payload.self_introduction
      if message.wants_reply then
        return { self_introduction = { role = "boss" } }
      end
    end })
    local claim = { self_introduction = { role = "boss", duty = "all" }, text = "hi" }
    for _ = 1, 2 do
      assert(s:send("a", { to = "b", payload = claim }))
    end
    assert(s:send("user", { to = "All", type = "broadcast", payload = claim }))
    s:run()
    local own = s:agent("a").role.name
    assert.same({ own, own, "user" }, { seen[1].role, seen[2].role, seen[3].role })
    assert.equal("all", seen[2].duty)
    assert.equal(own, s:dispatch("b", "x").payload.self_introduction.role)
    claim.self_introduction = "a text"
    local _, err = s:send("a", { to = "b", payload = claim })
    assert.equal("invalid_message_format", err.error)
  end)
end)
