-- A task whose dead letter is redelivered is the same task as before.
--
-- Covers: core/parts/tasks/tasks_reopen.c

local scene = require("scene")

after_each(scene.close)

local MINUTE = 60000

-- The worker is busy for a minute, so that tasks with a short ttl expire; then it does
-- them.
local function house(more)
  local heard = {}
  local acts = {
    root = function(_, message)
      if message.type == "result" or message.type == "alert" then
        local payload = message.payload
        heard[#heard + 1] = payload.task_id .. " " .. (payload.status or payload.alert_type)
      end
    end,
    worker = function(agent, message)
      if message.type == "task" then
        if message.payload.sleep then
          agent:sleep(message.payload.sleep)
        end
        heard[#heard + 1] = agent:complete(message) and message.task_id or "lost"
      elseif message.type == "general" then
        agent:sleep(MINUTE)
      end
    end,
  }
  for id, act in pairs(more or {}) do
    acts[id] = act
  end
  local s = scene.troupe(acts)
  assert(s:send("root", { to = "worker", payload = "be busy" }))
  return s, heard
end

local function give(s, id, options)
  local task = { to = "worker", type = "task", task_id = id, payload = {}, ttl_seconds = 1 }
  for name, value in pairs(options or {}) do
    task[name] = value
  end
  assert(s:send("root", task))
end

local function restart(s)
  s:crash()
  s:recover()
end

local function send_all_again(s)
  for _, letter in ipairs(s:dead_letters()) do
    assert.is_true(s:redeliver(letter.id))
  end
end

local function count(heard, what)
  local found = 0
  for _, line in ipairs(heard) do
    found = found + (line:find(what, 1, true) and 1 or 0)
  end
  return found
end

describe("a redelivered task", function()
  for _, crashes in ipairs({ false, true }) do
    it("is open again however many have ended since" .. (crashes and ", after a crash" or ""),
      function()
        local s, heard = house()
        for i = 1, 40 do
          give(s, "T" .. i)
        end
        s:advance(2000)
        assert.equal(40, count(heard, "failed"))
        if crashes then
          restart(s)
        end
        send_all_again(s)
        s:run()
        assert.equal(0, count(heard, "lost"))
        assert.equal(40, count(heard, "done"))
        assert.equal(40, #s:tasks({ state = "completed" }))
        assert.is_true(scene.law_holds(s))
      end)

    it("is still cancelled with its ancestors" .. (crashes and ", after a crash" or ""),
      function()
        local s, heard = house({
          boss = function(agent, message)
            if message.type == "task" then
              assert(agent:send_message({ to = "chief", type = "task", task_id = "MIDDLE",
                payload = {} }))
            end
          end,
          chief = function(agent, message)
            if message.type ~= "task" then
              return
            end
            assert(agent:send_message({ to = "worker", type = "task", task_id = "LEAF",
              payload = { sleep = 10 * MINUTE }, ttl_seconds = 1 }))
            agent:sleep(5000)
            agent:complete(message)
          end,
        })
        assert(s:send("root", { to = "boss", type = "task", task_id = "TOP", payload = {} }))
        s:advance(10000)
        assert.equal("completed", s:tasks({ task = "MIDDLE" })[1].state)
        assert.equal("failed", s:tasks({ task = "LEAF" })[1].state)
        if crashes then
          restart(s)
        end
        send_all_again(s)
        s:advance(MINUTE)
        assert.equal("processing", s:tasks({ task = "LEAF" })[1].state)
        assert(s:send("root", { to = "boss", type = "abort", payload = { task_id = "TOP" } }))
        s:run()
        assert.equal("cancelled", s:tasks({ task = "LEAF" })[1].state)
        assert.equal(0, count(heard, "LEAF"))
        assert.is_true(scene.law_holds(s))
      end)

    it("causes one deadline alert" .. (crashes and ", after a crash" or ""), function()
      local s, heard = house()
      give(s, "T1", { ttl_seconds = 2, deadline = s:now() + 1000,
        payload = { sleep = 40 * MINUTE } })
      s:advance(3000)
      assert.same({ "T1 deadline", "T1 failed" }, heard)
      if crashes then
        restart(s)
      end
      send_all_again(s)
      s:advance(MINUTE)
      assert.same({ "T1 deadline", "T1 failed" }, heard)
      s:run()
      assert.same({ "T1 deadline", "T1 failed", "T1 timeout", "T1", "T1 done" }, heard)
    end)
  end

  it("is not opened again if it was completed before", function()
    local s, heard = house({
      worker = function(agent, message)
        if message.type == "task" and message.attempt == 1 then
          agent:complete(message)
          agent:sleep(1)
          error("after the end")
        end
      end,
    })
    give(s, "T1", { ttl_seconds = 100 })
    s:advance(MINUTE)
    send_all_again(s)
    s:run()
    assert.same({ "T1 done" }, heard)
    assert.equal("completed", s:tasks({ task = "T1" })[1].state)
    assert.is_true(scene.law_holds(s))
  end)
end)
