-- Isolated agents outlive kill -9 of the program and the loss of their worker processes.
-- Covers: core/script/turns/seat.c

local program = require("program")

local APP = [[
local society = require("society")
local BRIEF = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
  completion_criteria = "c" }
society.config({ workers_max = 1 })
society.role({ id = "guest", name = "g", isolated = true, behaviour = function(agent, m)
  local ids = {}
  for i = 1, 3 do
    ids[i] = assert(agent:send_message({ to = "root", type = "status_report",
      payload = m.payload.text })).messageId
    ids[i] = ids[i] .. agent:receive({ type = "general" }).payload.text
  end
  return { ids = ids, n = agent:random(1000000) }
end })
society.root({ status_report = function() end, default = function(root, message)
  if message.from ~= "user" then return end
  if message.payload.text == "go" then
    for i = 1, 3 do
      assert(root:spawn_agent("guest", BRIEF, { id = "g" .. i }))
      root:send_message({ to = "g" .. i, payload = "go" })
    end
    return "spawned"
  end
  for i = 1, 3 do
    root:send_message({ to = "g" .. i, type = "general", payload = message.payload.text })
  end
end })
society.main(function(user)
  print(user:request({ to = "root", payload = "go" }).payload.text)
  user:receive({ type = "collaboration_request" })
end)
]]

describe("isolated agents that wait", function()
  local place

  before_each(function()
    place = program.place()
    place:write("app.lua", APP)
  end)

  after_each(function()
    place:remove()
  end)

  local function messages()
    return program.rows(place:run("inspect messages --limit 1000 --json"))
  end

  -- Waits until each agent has done its part of the round.
  local function wait_for_round(round)
    program.wait_for("round " .. round, function()
      local processed, reports = 0, 0
      for _, message in ipairs(messages()) do
        if message.payload.text == "r" .. round and message.status == "processed" then
          processed = processed + (message.to:match("^g%d") and 1 or 0)
        end
        reports = reports + (message.type == "status_report" and 1 or 0)
      end
      return round == 3 and processed == 3 or round < 3 and reports == 3 * (round + 1)
    end)
  end

  -- Each agent answers with the ids of what it sent, in their order, and nothing else was sent.
  local function check_messages()
    local replies, reports = {}, {}
    for _, message in ipairs(messages()) do
      if message.payload.ids then
        replies[#replies + 1] = table.concat(message.payload.ids, " ")
      elseif message.type == "status_report" then
        reports[message.id] = message.from
      end
    end
    assert.equal(3, #replies)
    for _, reply in ipairs(replies) do
      assert.matches("^msg_%S+r1 msg_%S+r2 msg_%S+r3$", reply)
      for id in reply:gmatch("(msg_%S+)r%d") do
        assert.is_string(reports[id])
        reports[id] = nil
      end
    end
    assert.same({}, reports)
  end

  -- Kills the worker processes: the children of the program's child.
  local function kill_workers(pid)
    local result = place:shell(("cd /proc && for z in $(cat %s/task/%s/children); do "
      .. "for w in $(cat $z/task/$z/children); do kill -9 $w && echo $w; done; done"):format(pid,
      pid))
    return result.code == 0 and select(2, result.out:gsub("\n", "")) or 0
  end

  it("go on when their worker is killed", function()
    local running = place:start_ready("run app.lua")
    running:expect("spawned")
    for round = 1, 3 do
      wait_for_round(round - 1)
      assert.is_true(kill_workers(running.pid) > 0)
      assert.equal(0, place:run("send --to root r" .. round).code)
    end
    wait_for_round(3)
    running:kill("TERM")
    running:wait()
    check_messages()
  end)

  it("go on after kill -9, and when their worker is needed elsewhere", function()
    local running = place:start_ready("run app.lua")
    running:expect("spawned")
    for round = 1, 3 do
      assert.equal(0, place:run("send --to root r" .. round).code)
      wait_for_round(round)
      if round < 3 then
        running:kill("KILL")
        running:wait()
        running = place:start_ready("run app.lua")
      end
    end
    running:kill("TERM")
    running:wait()
    check_messages()
  end)
end)
