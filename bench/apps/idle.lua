-- Idle: root spawns agents that have nothing to do.
--
--     idle.lua AGENTS

local society = require("society")

local agent_count = tonumber(arg[1])
local STEP <const> = 5000 -- spawns of one activation

society.config {
  agents_max = 100000000, children_max = 100000000, mailbox_max = 100000000,
  cpu_ms_max = 600000, memory_bytes_max = 2000000000, -- thousands of births in a turn
}

society.role {
  id = "idler", name = "Idler", prompt = "Waits for work.",
  behaviour = function() end,
}

society.root {
  default = function(root, message)
    local from = message.payload.from
    local last = math.min(agent_count, from + STEP - 1)
    for _ = from, last do
      assert(root:spawn_agent("idler", {
        objective = "wait", constraints = {}, inputs = "none", outputs = "none",
        completion_criteria = "none",
      }))
    end
    if last < agent_count then
      root:send_message { to = "root", payload = { from = last + 1 } }
    end
  end,
}

society.main(function(user)
  user:send_message { to = "root", payload = { from = 1 } }
end)
