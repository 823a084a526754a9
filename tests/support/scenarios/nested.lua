-- Requests three levels deep, each level with a sleep and a count of its own.
local society = require("society")

local BRIEF = {
  objective = "pass on", constraints = {}, inputs = "n", outputs = "n",
  completion_criteria = "passed",
}

society.role({
  id = "level", name = "level",
  behaviour = function(agent, message)
    agent.state.calls = (agent.state.calls or 0) + 1
    local depth = message.payload.depth
    if depth == 0 then
      agent:sleep(2)
      return { sum = 1 }
    end
    local child = "level" .. depth
    if not agent:knows(child).inRegistry then
      assert(agent:spawn_agent("level", BRIEF, { id = child }))
    end
    agent:sleep(1)
    local answer = assert(agent:request({ to = child, payload = { depth = depth - 1 } }))
    agent:sleep(1)
    return { sum = answer.payload.sum + depth * 10 }
  end,
})

society.root(function(root, message)
  if not root:knows("top").inRegistry then
    assert(root:spawn_agent("level", BRIEF, { id = "top" }))
  end
  local answer = assert(root:request({ to = "top", payload = { depth = 3 } }))
  root.state.sums = root.state.sums or {}
  root.state.sums[#root.state.sums + 1] = answer.payload.sum
  print("sum " .. message.payload.text .. " " .. answer.payload.sum)
  return answer.payload
end)

society.main(function(user)
  for round = 1, 2 do
    assert(user:request({ to = "root", payload = tostring(round) }))
  end
end)
