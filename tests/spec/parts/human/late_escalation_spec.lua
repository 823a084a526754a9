-- Escalations about a task that has already been cancelled.

local scene = require("scene")

after_each(scene.close)

-- `w` has a task T and asks `g` for help, who takes a second and then asks the person.
local function house(waits)
  local told = {}
  local s = scene.troupe({
    w = function(agent, message)
      if message.type == "task" then
        agent:request({ to = "g", payload = "help", timeout_ms = 100000 })
      elseif message.type == "abort" and message.payload.reason == "ask" then
        agent:escalate({ title = "clean-up", wait = false })
      end
    end,
    g = function(agent)
      agent:sleep(1000)
      told.done, told.err = agent:escalate({ title = "may-I", wait = waits })
    end,
    root = function(root, message)
      if message.payload.give then
        assert(root:send_message({ to = "w", type = "task", payload = { task_id = "T" } }))
      elseif message.payload.cancel then
        assert(root:cancel("T", message.payload.cancel))
      end
    end,
  })
  assert(s:send("user", { to = "root", payload = { give = true } }))
  s:advance(500)
  return s, told
end

local function cancel(s, reason)
  assert(s:send("user", { to = "root", payload = { cancel = reason } }))
  s:advance(0)
end

local function titles(s)
  local list = {}
  for _, item in ipairs(s:inbox()) do
    list[#list + 1] = item.title
  end
  return table.concat(list, " ")
end

describe("escalate about a cancelled task", function()
  for _, waits in ipairs({ true, false }) do
    for _, crashes in ipairs({ false, true }) do
      it(("is refused, %s%s"):format(waits and "waited for" or "not waited for",
        crashes and ", after a crash" or ""), function()
        local s, told = house(waits)
        cancel(s, "no longer needed")
        if crashes then
          s:crash()
          s:recover()
        end
        s:run()
        assert.is_nil(told.done)
        assert.same({ "cancelled", "T" }, { told.err.error, told.err.task_id })
        assert.equal("", titles(s))
        assert.same({}, s:activity({ type = "escalation" }))
        assert.is_true(scene.law_holds(s))
      end)
    end
  end

  it("is accepted from an agent that reacts to the cancellation", function()
    local s = house(false)
    cancel(s, "ask")
    s:run()
    assert.equal("clean-up", titles(s))
  end)

  it("is accepted if a task of that id is open again", function()
    local s, told = house(false)
    cancel(s, "no longer needed")
    assert(s:send("user", { to = "root", payload = { give = true } }))
    s:advance(600)
    assert.is_string(told.done.item_id)
    assert.equal("may-I", titles(s))
  end)

  it("is accepted from an agent that had completed a task of the same id", function()
    local told = {}
    local s = scene.troupe({
      slow = function(agent) agent:sleep(60000) end,
      quick = function(agent, message)
        agent:complete(message)
        agent:sleep(1000)
        told.done, told.err = agent:escalate({ title = "may-I", wait = false })
      end,
      root = function(root, message)
        if message.type ~= "result" then
          assert(root:cancel("T", "no longer needed"))
        end
      end,
    })
    for _, id in ipairs({ "slow", "quick" }) do
      assert(s:send("root", { to = id, type = "task", task_id = "T", payload = {} }))
    end
    s:advance(500)
    cancel(s)
    s:run()
    assert.is_nil(told.err)
    assert.is_string(told.done.item_id)
  end)
end)
