--- recorded: a society whose history is kept, and replays of it, for the end-to-end
-- specs.
--
--     local totals, differences, result = recorded.replay(place, "--policy contacts=open")

local assert = require("luassert")
local json = require("society.json")
local program = require("program")

local M = {}

M.BRIEF = [[
local BRIEF = { objective = "work", constraints = { "be brief" }, inputs = "x", outputs = "y",
  completion_criteria = "done" }
]]

-- A bit of everything: waits, chance, time, refusals, errors that are retried, one that is
-- given up, a role made in a turn, a module loaded in a turn, a result as the reply.
M.APP = [[
local society = require("society")
]] .. M.BRIEF .. [[
society.role { id = "clerk", name = "职员", behaviour = {
  task_assignment = function(agent, message)
    agent.state.brief = agent.brief.objective
    agent:sleep(agent:random(1, 5))
    agent.state.at = agent:now()
  end,
  default = function(agent, message)
    agent.state.count = (agent.state.count or 0) + 1
    assert(agent:send_message { to = "nobody", payload = "lost" } == nil)
    return { text = message.payload.text .. " from " .. agent.role.name, n = agent.state.count,
      seen = message.text }
  end,
} }
society.role { id = "stranger", name = "stranger", behaviour = function(agent, message)
  if message.reply_to then return end
  local sent, err = agent:send_message { to = "Clerk", payload = "let me in" }
  return { ok = sent ~= nil, error = err and err.error }
end }
society.role { id = "clumsy", name = "clumsy", behaviour = function(agent, message)
  agent:sleep(1)
  if agent:random(1, 1000000) > 0 then error("dropped it", 0) end
end }
society.root(function(root, message)
  assert(root:spawn_agent("clerk", BRIEF, { id = "Clerk", message = BRIEF }))
  assert(root:spawn_agent("clumsy", BRIEF, { id = "Clumsy", message = BRIEF }))
  assert(root:spawn_agent("stranger", BRIEF, { id = "Stranger" }))
  assert(root:create_role { id = "late", name = "late", behaviour = "helper" })
  assert(root:spawn_agent("late", BRIEF, { id = "Late" }))
  local answers = {}
  for _, id in ipairs { "Clerk", "Stranger", "Late" } do
    local answer = assert(root:request { to = id, payload = "hello" })
    answers[#answers + 1] = answer.payload.text or tostring(answer.payload.ok)
  end
  return table.concat(answers, "; ")
end)
society.main(function(user)
  print(assert(user:request { to = "root", payload = "go" }).payload.text)
  print(table.concat(arg, " "))
end)
society.config { history = "full" }
]]

M.HELPER = [[
return function(agent, message)
  agent:log("info", "helping")
  return "help with " .. message.payload.text
end
]]

--- Replays; returns the totals, the differences, and { code, out, err }.
function M.replay(place, arguments)
  local result = place:run("replay --json " .. (arguments or ""))
  local lines = {}
  for line in result.out:gmatch("[^\n]+") do
    lines[#lines + 1] = assert(json.decode(line))
  end
  return table.remove(lines), lines, result
end

--- Replays, and fails if anything differs; returns the totals.
function M.assert_same(place, arguments)
  local totals, differences, result = M.replay(place, arguments)
  assert.same({}, differences)
  assert.equal("", result.err)
  assert.equal(0, result.code)
  assert.equal(0, totals.differences)
  return totals
end

--- Queries the database of the place.
function M.sql(place, text)
  local result = place:shell("sqlite3 -readonly .society/society.db " .. program.quote(text))
  assert.equal("", result.err)
  return result.out
end

return M
