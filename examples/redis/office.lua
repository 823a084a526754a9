-- A society that plain Redis clients take part in: docs/redis.md.
--
--     redis-server --port 6390 --save '' &
--     society run examples/redis/office.lua --redis redis://127.0.0.1:6390
--     python3 examples/redis/request.py 6390 HUNTER Ada
--     python3 examples/redis/worker.py 6390 Codex

local society = require("society")

local URL = "redis://127.0.0.1:6379"

local function brief(objective)
  return {
    objective = objective, constraints = { "be brief" }, inputs = "messages",
    outputs = "messages", completion_criteria = "nobody asks any more",
  }
end

society.config({
  name = "office",
  redis = { url = URL, guest = "visitor" },
})

-- Who has no name of its own speaks as this agent.
society.role({ id = "visitor", name = "Visitor", behaviour = "external" })

-- A worker written in anything that speaks Redis: worker.py, worker.mjs.
society.role({ id = "worker", name = "Worker", behaviour = "external" })

society.role({
  id = "hunter", name = "Hunter",
  interface_spec = { services = "customers", input_format = "text", output_format = "customer" },
  behaviour = {
    default = function(agent, message)
      if message.payload.text == "fail" then
        error("the hunter stumbles")
      end
      agent.state.asked = (agent.state.asked or 0) + 1
      return { customer = message.payload.text, asked = agent.state.asked }
    end,
    task = function(agent, message)
      agent:complete(message, { customer = message.payload.requirement })
    end,
  },
})

local function open_office(root)
  root:spawn_agent("hunter", brief("find customers"), { id = "HUNTER" })
  local known = { { agentId = "HUNTER", role = "hunter", description = "knows customers" } }
  for id, role in pairs({ visitor = "visitor", Codex = "worker" }) do
    local outside = brief("speak for clients")
    outside.collaborators = known
    root:spawn_agent(role, outside, { id = id })
  end
  return "the office is open"
end

society.root({
  default = function(root, message)
    if message.from == "user" then
      return open_office(root)
    end
    print(message.type, message.from, message.text)
    if message.from == "Codex" and message.type == "general" then
      root:send_message({ to = "Codex", type = "task",
        payload = { task_id = message.payload.text, requirement = "look at the code" } })
    end
  end,
})

society.main(function(user)
  print(assert(user:request({ to = "root", payload = "open" })).payload.text)
end)
