-- What the activity log says about milestones, duplicates, and the life of tasks.
--
-- Covers: core/kernel/gate.c, core/parts/duplicates/duplicates.c, core/parts/tasks/tasks_store.c

local json = require("society.json")
local outpost = require("outpost")
local scene = require("scene")

local function details(s, event)
  local list = {}
  for _, entry in ipairs(s:activity({ type = event })) do
    local detail = json.decode(entry.detail)
    list[#list + 1] = { entry.agent, detail.text or detail.message_id }
  end
  return list
end

describe("the activity", function()
  after_each(scene.close)

  it("has each milestone once, of turns that committed, also after a crash", function()
    local tries = 0
    local s = scene.troupe({ a = function(a)
      a:milestone("half of it")
      a:sleep(100)
      a:milestone("nearly")
      tries = tries + 1
      assert(tries > 1)
    end })
    assert(s:send("user", { to = "a", payload = "go" }))
    s:advance(50)
    s:crash()
    s:recover()
    s:run()
    assert.same({ { "a", "half of it" }, { "a", "nearly" } }, details(s, "milestone"))
  end)

  it("has an event for each message that was sent before", function()
    local s = outpost.new({ "w" }, { root = function(root, message)
      if message.from == "user" then
        for _ = 1, 2 do
          root:send_message({ to = "root", payload = "x", dedupe_key = "k" })
        end
      end
    end })
    scene.tell(s, "root")
    local events = details(s, "duplicate")
    assert.same({ 1, "root" }, { #events, events[1][1] })
    local first
    for _ = 1, 2 do
      first = assert(s:outside_send("w", { external_id = "a-1", payload = "x" })).messageId
    end
    s:run()
    assert.same({ "w", first }, details(s, "duplicate")[2])
    for _ = 1, 2 do -- by a door in the name of user
      first = assert(s:send("user", { to = "root", payload = "x", dedupe_key = "d" })).messageId
    end
    assert.same({ "user", first }, details(s, "duplicate")[3])
  end)

  it("has the start and the end of a task with its duration, and who handed it on", function()
    local s = scene.troupe({
      a = function(a, message)
        if message.type == "task" then
          a:sleep(1500)
          assert(a:send_message({ to = "b", type = "task", payload = { task_id = "T2" } }))
          a:complete(message, "done")
        end
      end,
      b = function(b, message)
        b:sleep(2000)
        b:fail(message, "no")
      end,
    })
    assert(s:send("root", { to = "a", type = "task", payload = { task_id = "T1" } }))
    s:run()
    local function said(event, name)
      local list = {}
      for _, entry in ipairs(s:activity({ type = event })) do
        local detail = json.decode(entry.detail)
        list[#list + 1] = { entry.agent, detail.task_id, detail[name] }
      end
      return list
    end
    assert.same({ { "a", "T1", "root" }, { "b", "T2", "a" } }, said("task_start", "assigner"))
    assert.same({ { "a", "T1", 1.5 }, { "b", "T2", 2 } }, said("task_end", "duration_seconds"))
    assert.same({ { "a", "T1", "completed" }, { "b", "T2", "failed" } }, said("task_end", "state"))
    assert.same({ { "a", "T2", "T1" } }, said("handoff", "parent_task_id"))
    assert.same({ { "a", "T2", "b" } }, said("handoff", "to"))
  end)
end)
