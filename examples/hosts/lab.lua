-- Two hosts: the lab, which works for office.lua on another host.

local society = require("society")
society.config { name = "institute", language = "en" }

local function count(text)
  local words = 0
  for _ in text:gmatch("%S+") do
    words = words + 1
  end
  return words
end

-- Its agents are born for the office.
society.role { id = "clerk", name = "Clerk", behaviour = {
  task_assignment = function(agent, message)
    agent:complete(message, { words = count(message.payload.text) })
  end,
} }

society.role { id = "archive", name = "Archive", behaviour = function(agent, message)
  agent.state.kept = (agent.state.kept or 0) + 1
  return { text = "number " .. agent.state.kept .. ": " .. message.payload.text }
end }

society.root {
  open = function(root)
    assert(root:spawn_agent("archive", { objective = "keep results", constraints = {},
      inputs = "results", outputs = "numbers", completion_criteria = "nothing is lost" },
      { id = "archive" }))
    return { text = "open" }
  end,
  default = function(_, message)
    return { words = count(message.payload.text) }
  end,
}

society.policy("messages", { "society", "any" })

society.main(function(user)
  assert(user:request { to = "root", type = "open", payload = "open" })
end)
