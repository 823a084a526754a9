-- Root spawns three workers and asks each in turn; each counts.
local society = require("society")

local function brief(objective)
  return {
    objective = objective, constraints = { "count" }, inputs = "n", outputs = "n",
    completion_criteria = "counted",
  }
end

society.role({
  id = "worker", name = "worker",
  behaviour = {
    task_assignment = function(agent)
      agent.state.started = (agent.state.started or 0) + 1
    end,
    default = function(agent, message)
      agent.state.asked = (agent.state.asked or 0) + 1
      agent.state.sum = (agent.state.sum or 0) + message.payload.n
      return { n = agent.state.sum }
    end,
  },
})

society.root(function(root)
  local total = 0
  for i = 1, 3 do
    local id = "w" .. i
    assert(root:spawn_agent("worker", brief("count to " .. i), { id = id, message = "start" }))
    for n = 1, i do
      total = total + assert(root:request({ to = id, payload = { n = n } })).payload.n
    end
  end
  root.state.total = total
  root.state.runs = (root.state.runs or 0) + 1
  print("total " .. total)
  return { total = total }
end)

society.main(function(user)
  local answer = assert(user:request({ to = "root", payload = "go" }))
  print("main " .. answer.payload.total)
end)
