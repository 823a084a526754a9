-- spawn_agent with wait: spawns an agent for one task and waits for its result.

local scene = require("scene")

after_each(scene.close)

-- Root spawns a worker that acts as `work` says and waits; the outcome is kept.
local function house(work, options)
  local heard = {}
  local s = scene.new({ app = function(s)
    s:role({ id = "worker", name = "工人", behaviour = work })
    s:root(function(root, message)
      if message.from == "user" then
        local given = { id = "w1", message = "do it", wait = true }
        for name, value in pairs(options or {}) do
          given[name] = value
        end
        heard.child, heard.err = root:spawn_agent("worker", scene.brief(), given)
      else
        heard[#heard + 1] = message.type
      end
    end)
  end })
  assert(s:send("user", { to = "root", payload = "go" }))
  return s, heard
end

describe("spawn_agent with wait", function()
  it("returns the result with the child, bypassing the mailbox", function()
    local s, heard = house(function(agent, message)
      agent:sleep(60000)
      agent:complete(message, { n = 1 })
    end)
    s:advance(1000)
    assert.is_nil(heard.child)
    local wait = s:waits()[1]
    assert.same({ "root", "task", { "w1" } }, { wait.agent, wait.kind, wait.waits_for })
    assert.equal(scene.message(s, {}, { from = "root", to = "w1" }).id, wait.message_id)
    assert.equal("blocked_internal", s:agent("root").status)
    s:run()
    local id = heard.child.result.task_id
    assert.same({ id = "w1", roleId = "worker", roleName = "工人", result = {
      task_id = id, status = "done", output = { n = 1 }, duration_minutes = 1 } }, heard.child)
    assert.equal("completed", s:tasks({ task = id })[1].state)
    assert.equal(0, #heard)
    assert.is_true(scene.law_holds(s))
  end)

  it("waits across crashes, and for the last of several tries", function()
    local runs = 0
    local s, heard = house(function(agent, message)
      runs = runs + 1
      if runs < 3 then
        return agent:fail(message, "no", { retryable = true })
      end
      agent:complete(message)
    end)
    for _ = 1, 5 do
      s:advance(700)
      s:crash()
      s:recover()
    end
    s:run()
    assert.equal("done", heard.child.result.status)
    assert.equal(3, runs)
    assert.equal(0, #heard)
  end)

  it("does not return on a reply that is not a result", function()
    local s, heard = house(function(agent, message)
      agent:reply(message, "begun")
      agent:sleep(5000)
      agent:fail(message, { code = 7 })
    end)
    s:advance(1000)
    assert.is_nil(heard.child)
    s:run()
    assert.equal("failed", heard.child.result.status)
    assert.same({ code = 7 }, heard.child.result.error)
    assert.equal("general", table.concat(heard, " "))
  end)

  it("returns when the task ends, however it ends", function()
    local s, heard = house(function() error("broken") end)
    s:run()
    assert.equal("failed", heard.child.result.status)
    assert.equal("script_error", heard.child.result.error)
    s, heard = house(function(agent) agent:sleep(9000) end)
    s:advance(10)
    assert(s:send("user", { to = "w1", type = "abort", payload = {
      task_id = s:tasks()[1].task_id, reason = "no" } }))
    s:run()
    assert.equal("cancelled", heard.child.result.status)
    assert.equal("no", heard.child.result.error)
    assert.equal("w1", heard.child.id)
  end)

  it("can time out; the result then arrives as a message", function()
    local s, heard = house(function(agent, message)
      agent:sleep(9000)
      agent:complete(message)
    end, { timeout_ms = 1000 })
    s:run()
    assert.is_nil(heard.child)
    assert.equal("timeout", heard.err.error)
    assert.equal("w1", heard.err.to)
    assert.equal(1000, heard.err.timeout_ms)
    assert.equal("result", table.concat(heard, " "))
  end)

  it("requires a message, and checks its options", function()
    local function raised(options)
      return scene.raised(function(root)
        root:spawn_agent("actor", scene.brief(), options)
      end)
    end
    assert.matches("'wait' needs 'message'", raised({ wait = true }), 1, true)
    assert.matches("'wait' must be a boolean", raised({ wait = 1, message = "x" }), 1, true)
    assert.matches("needs 'wait'", raised({ timeout_ms = 1, message = "x" }), 1, true)
  end)

  it("passes the checker when the child has written before", function()
    local s = scene.new({ faults = {}, app = function(s)
      s:role({ id = "worker", behaviour = function(agent, message)
        agent:send_message({ to = message.from, payload = "half done" })
        agent:complete(message, "done")
      end })
      s:root(function(root, message)
        if message.from == "user" then
          assert(root:spawn_agent("worker", scene.brief(), { message = "do it", wait = true }))
        end
        root.state.handled = (root.state.handled or 0) + 1
      end)
    end })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:run()
    assert.is_true(s:check())
    assert.equal(2, s:agent("root").state.handled)
  end)
end)
