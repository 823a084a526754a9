-- Escalations are withdrawn when their task is cancelled.

local scene = require("scene")

-- `w` asks the person while handling a task, as `asks` says; root gives and cancels it.
local function office(asks)
  local seen = {}
  local s = scene.troupe({
    w = function(agent, message)
      if message.type == "task" then
        asks(agent, message)
      else
        seen[#seen + 1] = message.type
      end
    end,
    root = function(root, message)
      local order = message.payload
      if order.give then
        assert(root:send_message({ to = "w", type = "task", payload = { task_id = order.give } }))
      elseif order.cancel then
        assert(root:cancel(order.cancel, "no longer needed"))
      end
    end,
  })
  return s, seen
end

local function order(s, payload)
  assert(s:send("user", { to = "root", payload = payload }))
  s:advance(0)
end

local function titles(s)
  local list = {}
  for _, item in ipairs(s:inbox()) do
    list[#list + 1] = item.title
  end
  return table.concat(list, " ")
end

local function assert_withdrawn(s, item)
  local done, err = s:decide(item.id, { decision = "approve" })
  assert.is_nil(done)
  assert.same({ "item_withdrawn", item.id }, { err.error, err.item_id })
  assert.matches("cancelled", err.message, 1, true)
end

describe("an item of a cancelled task", function()
  after_each(scene.close)

  it("leaves the inbox for good, with a line in the activity", function()
    local s, seen = office(function(agent) agent:escalate({ title = "may-I" }) end)
    order(s, { give = "T" })
    assert.equal("may-I", titles(s))
    local item = s:inbox()[1]
    order(s, { cancel = "T" })
    assert.equal("", titles(s))
    assert_withdrawn(s, item)
    local told = s:activity({ type = "withdrawn" })
    assert.equal(1, #told)
    assert.equal("w", told[1].agent)
    assert.equal("T", told[1].task_id)
    assert.matches(item.id, told[1].detail, 1, true)
    assert.matches('inbox w: withdrawn: "may-I"', s:transcript(), 1, true)
    s:crash()
    s:recover()
    s:run()
    assert.equal("", titles(s))
    assert_withdrawn(s, item)
    assert.same({ "abort" }, seen)
    assert.is_true(scene.law_holds(s))
  end)

  it("is withdrawn whether it is waited for, timed out or was never waited for", function()
    local s, seen = office(function(agent)
      agent:escalate({ title = "timed-out", timeout_ms = 10 })
      agent:escalate({ title = "not-waited", wait = false })
      agent:escalate({ title = "waited" })
    end)
    order(s, { give = "T" })
    s:advance(10)
    assert.equal("timed-out not-waited waited", titles(s))
    local items = s:inbox()
    order(s, { cancel = "T" })
    assert.equal("", titles(s))
    for _, item in ipairs(items) do
      assert_withdrawn(s, item)
    end
    s:run()
    assert.same({ "abort" }, seen)
  end)

  it("is withdrawn alone: items of other tasks or of none stay", function()
    local s = office(function(agent, message)
      agent:escalate({ title = message.task_id, wait = false })
    end)
    for i = 1, 3 do
      order(s, { give = "T" .. i })
    end
    order(s, { cancel = "T2" })
    assert.equal("T1 T3", titles(s))
    assert(s:decide(s:inbox()[1].id, { decision = "reject" }))
  end)

  it("stays if it belongs to an earlier task of that id, completed in the same moment", function()
    local given = 0
    local s = office(function(agent, message)
      given = given + 1
      agent:escalate({ title = "item-" .. given, wait = false })
      if given == 1 then
        assert(agent:complete(message, "done"))
      end
    end)
    order(s, { give = "T" })
    order(s, { give = "T" })
    assert.equal("item-1 item-2", titles(s))
    order(s, { cancel = "T" })
    assert.equal("item-1", titles(s))
    assert(s:decide(s:inbox()[1].id, { decision = "approve" }))
  end)

  it("stays if the cancelling turn is rolled back", function()
    local s
    s = scene.troupe({
      w = function(agent, message)
        if message.type == "task" then
          agent:escalate({ title = "may-I" })
        end
      end,
      root = function(root, message)
        if message.payload.give then
          root:send_message({ to = "w", type = "task", payload = { task_id = "T" } })
        else
          assert(root:cancel("T"))
          error("changed my mind")
        end
      end,
    })
    order(s, { give = true })
    order(s, {})
    s:run()
    assert.equal("may-I", titles(s))
    assert(s:decide(s:inbox()[1].id, { decision = "approve" }))
  end)

  it("is withdrawn with the tasks below it", function()
    local s = scene.troupe({
      top = function(agent, message)
        if message.type == "task" then
          agent:send_message({ to = "w", type = "task", task_id = "T.1", payload = "x" })
        end
      end,
      w = function(agent, message)
        if message.type == "task" then
          agent:escalate({ title = "below" })
        end
      end,
      root = function(root, message)
        if message.payload.give then
          root:send_message({ to = "top", type = "task", payload = { task_id = "T" } })
        elseif message.payload.cancel then
          root:cancel("T")
        end
      end,
    })
    order(s, { give = true })
    local item = s:inbox()[1]
    assert.equal("below", item.title)
    order(s, { cancel = true })
    assert.equal("", titles(s))
    assert_withdrawn(s, item)
  end)
end)

-- `w` asks `h` for help with its task, and `h` asks `g`, who asks the person.
local function helped()
  local told = {}
  local function pass(to)
    return function(agent)
      local reply, err = agent:request({ to = to, payload = "help", timeout_ms = 1e9 })
      told[agent.id] = reply and reply.payload.text or err.error
      return "passed"
    end
  end
  local s = scene.troupe({
    w = function(agent, message)
      if message.type == "task" then
        pass("h")(agent)
      end
    end,
    v = function(agent, message)
      if message.type ~= "task" then
        return
      end
      agent:escalate({ title = "of-v", wait = false })
      if message.payload.ends then
        agent:complete(message, "done")
      end
    end,
    h = pass("g"),
    g = function(agent)
      local done, err = agent:escalate({ title = "may-I" })
      told.g = done or err
      return "asked"
    end,
    root = function(root, message)
      local payload = message.payload
      if payload.give then
        root:send_message({ to = payload.give, type = "task",
          payload = { task_id = "T", ends = payload.ends } })
      elseif payload.cancel then
        assert(root:cancel("T", "no longer needed"))
      end
    end,
  })
  return s, told
end

describe("a helper's item about a task", function()
  after_each(scene.close)

  it("is withdrawn with the task, and the waiting agents continue", function()
    for _, is_crashed in ipairs({ false, true }) do
      local s, told = helped()
      order(s, { give = "w" })
      local item = s:inbox()[1]
      assert.same({ "g", "T" }, { item.agent, item.task_id })
      if is_crashed then
        s:crash()
        s:recover()
      end
      order(s, { cancel = true })
      assert.equal("", titles(s))
      assert_withdrawn(s, item)
      assert.same({ "cancelled", "T", "no longer needed" },
        { told.g.error, told.g.task_id, told.g.reason })
      assert.equal("asked", told.h)
      assert.is_nil(told.w)
      assert.equal(0, #s:waits())
      s:crash()
      s:recover()
      s:run()
      assert.equal("", titles(s))
      assert.is_true(scene.law_holds(s))
    end
  end)

  it("is withdrawn even if it was asked in the cancelling turn", function()
    local told
    local s = scene.troupe({
      w = function(agent, message)
        if message.type == "task" then
          agent:request({ to = "root", payload = "help", timeout_ms = 1e9 })
        end
      end,
      root = function(root, message)
        if message.payload.give then
          root:send_message({ to = "w", type = "task", payload = { task_id = "T" } })
        elseif message.payload.text == "help" then
          root:escalate({ title = "not-waited", wait = false })
          root:cancel("T")
          told = select(2, root:escalate({ title = "waited" }))
        end
      end,
    })
    order(s, { give = true })
    assert.equal("", titles(s))
    assert.equal("cancelled", told.error)
    s:run()
    assert.is_true(scene.law_holds(s))
  end)

  it("stays if the helpers were given a task of that id themselves", function()
    local s = helped()
    order(s, { give = "w" })
    order(s, { give = "v", ends = true })
    assert.equal("may-I of-v", titles(s))
    order(s, { cancel = true })
    assert.equal("of-v", titles(s))
  end)

  it("is withdrawn with all tasks of that id that are cancelled together", function()
    local s = helped()
    order(s, { give = "w" })
    s:advance(5)
    order(s, { give = "v" })
    assert.equal("may-I of-v", titles(s))
    order(s, { cancel = true })
    assert.equal("", titles(s))
  end)

  it("stays while another agent continues a task of that id", function()
    local s = helped()
    order(s, { give = "w" })
    assert(s:send("user", { to = "v", type = "task", payload = { task_id = "T" } }))
    s:advance(0)
    order(s, { cancel = true })
    assert.equal("may-I of-v", titles(s))
  end)
end)
