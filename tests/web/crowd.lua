-- Ten thousand agents that send a thousand messages a second, some of whom have tasks or ask the
-- person, for the page to look at.

local society = require("society")

local LEADS, WORKERS, MESSAGES, ASKERS = 200, 49, 5, 30

-- Nothing of it is progress, and all of it is one chain.
society.config { name = "crowd", no_progress_max = 2000000000, hops_max = 2000000000 }

local BRIEF = { objective = "keep busy", constraints = {}, inputs = "numbers",
  outputs = "nothing", completion_criteria = "none" }

local function worker(agent, number)
  return ("%s-%d"):format(agent.id, number % WORKERS + 1)
end

society.role { id = "worker", name = "worker", behaviour = function() end }

society.role { id = "lead", name = "lead", behaviour = function(agent, message)
  local number = message.payload.n
  for i = 1, number == 1 and WORKERS or 0 do
    assert(agent:spawn_agent("worker", BRIEF, { id = worker(agent, i) }))
  end
  for i = 1, MESSAGES do
    agent:send_message { to = worker(agent, number + i), payload = { n = number } }
  end
  agent:send_message { to = agent.id, payload = { n = number + 1 }, delay_ms = 1000 }
end }

society.role { id = "asker", name = "asker", behaviour = function(agent)
  agent:escalate { title = "May I, " .. agent.id .. "?" }
end }

society.root(function(root)
  for i = 1, LEADS do
    local lead = assert(root:spawn_agent("lead", BRIEF, { id = "lead" .. i }))
    root:send_message { to = lead.id, payload = { n = 1 }, delay_ms = i * 5 }
  end
  for i = 1, ASKERS do
    local asker = assert(root:spawn_agent("asker", BRIEF, { id = "asker" .. i }))
    root:send_message { to = asker.id, type = "task", task_id = "T-" .. i, payload = "ask" }
  end
end)

society.main(function(user)
  user:send_message { to = "root", payload = "go" }
end)
