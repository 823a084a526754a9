-- The activity log from outside: the same from a running, killed or stopped society, and
-- the same by SQL.

local json = require("society.json")
local program = require("program")
local recorded = require("recorded")

local APP = [[
local society = require("society")
society.policy("messages", "any")
society.role {
  id = "worker", name = "工人",
  behaviour = function(agent, message)
    if message.type == "hard" and message.attempt == 1 then error("too hard") end
    if message.type == "broadcast" then print(agent.id, message.payload.text) end
    if message.wants_reply then return { text = "done" } end
  end,
}
society.root {
  begin = function(root, message)
    for _, id in ipairs { "w1", "w2" } do
      root:spawn_agent("worker", {
        objective = "work", constraints = {}, inputs = "x", outputs = "y",
        completion_criteria = "done",
      }, { id = id })
    end
    root:request { to = "w1", payload = "go" }
    root:broadcast { payload = "hello" }
  end,
}
]]

local function decode(out)
  local list = {}
  for line in out:gmatch("[^\n]+") do
    list[#list + 1] = assert(json.decode(line))
  end
  return list
end

describe("the activity", function()
  local place, running

  local function start()
    running = place:start_ready("run app.lua --quiet")
  end

  local function stop(signal)
    running:kill(signal)
    running:wait()
    running = nil
  end

  local function inspect(filters)
    local result = place:run("inspect activity --json " .. (filters or ""))
    assert.equal(0, result.code)
    return decode(result.out)
  end

  -- The rows of the view, in the form of inspect.
  local function ask(where)
    return decode(recorded.sql(place, [[
      SELECT json_patch('{}', json_object('time', time, 'event', event, 'agent', agent,
        'task_id', task_id, 'correlation_id', correlation_id, 'message_id', message_id,
        'type', type, 'detail', detail, 'other', other, 'line', line))
      FROM activity_logs WHERE ]] .. (where or "1")))
  end

  local function wait_for_last(filters, event)
    program.wait_for(event, function()
      local rows = inspect(filters)
      return #rows > 0 and rows[#rows].event == event
    end)
  end

  before_each(function()
    place = program.place()
    place:write("app.lua", APP)
    start()
    local chain = place:run("send --to root --type begin x").out:match("msg_[%w_]+")
    running:expect("w1\thello")
    running:expect("w2\thello")
    local letter = place:run("send --to w2 --type hard x").out:match("msg_[%w_]+")
    wait_for_last("--type hard", "dead")
    place:run("redeliver " .. letter)
    wait_for_last("--type hard", "processed")
    place.chain, place.letter = chain, letter
  end)

  after_each(function()
    if running then
      stop("INT")
    end
    place:remove()
  end)

  it("is the same from a running, killed and stopped society", function()
    local rows = inspect()
    assert.equal(1, #inspect("--agent w1 --type broadcast"))
    local events = {}
    for i, row in ipairs(inspect("--type hard")) do
      events[i] = row.agent .. " " .. row.event
    end
    local tries = ("w2 turn_failed "):rep(4)
    assert.equal("user sent " .. tries .. "w2 dead w2 sent_again w2 processed",
      table.concat(events, " "))
    stop("KILL")
    assert.same(rows, inspect())
    start()
    stop("INT")
    local later = inspect()
    for i, row in ipairs(rows) do
      assert.same(row, later[i])
    end
    assert.same({ later[#later - 1], later[#later] }, inspect("--limit 2"))
  end)

  it("is the same by SQL", function()
    stop("INT")
    assert.same(inspect(), ask())
    local since = inspect("--type dead")[1].time
    for filters, where in pairs({
      ["--correlation " .. place.chain] = ("correlation_id = '%s'"):format(place.chain),
      ["--correlation " .. place.letter] = ("correlation_id = '%s'"):format(place.letter),
      ["--agent w1"] = "'w1' IN (agent, other)",
      ["--type broadcast"] = "'broadcast' IN (type, event)",
      ["--since " .. since] = ("time >= '%s'"):format(since),
      ["--until " .. since] = ("time < '%s'"):format(since),
    }) do
      local rows = inspect(filters)
      assert.is_true(#rows > 0, filters)
      assert.same(rows, ask(where), filters)
    end
  end)
end)
