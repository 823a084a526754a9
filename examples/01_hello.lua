-- Hello: the person asks root, root spawns a greeter and asks it in turn.

local society = require("society")

society.role {
  id = "greeter", name = "接待员",
  prompt = "Greets people.",
  interface_spec = {
    services = "greetings", input_format = "a name", output_format = "a greeting", examples = {},
  },
  behaviour = {
    task_assignment = function(agent, message)
      agent:send_message { to = message.from, type = "status_report", payload = { text = "ready" } }
    end,
    default = function(agent, message)
      agent.state.count = (agent.state.count or 0) + 1
      agent:reply(message, { text = "hello, " .. message.payload.text, count = agent.state.count })
    end,
  },
}

society.root {
  default = function(root, message)
    local child, err = root:spawn_agent("greeter", {
      objective = "greet", constraints = { "be brief" }, inputs = "a name", outputs = "a greeting",
      completion_criteria = "one greeting sent",
    })
    if not child then return root:reply(message, err) end
    local answer, failure = root:request {
      to = child.id, payload = { text = message.payload.text }, timeout_ms = 5000,
    }
    root:reply(message, answer and answer.payload or failure)
  end,
}

society.main(function(user)
  local answer, err = user:request { to = "root", payload = { text = "Ada" } }
  print(answer and answer.payload.text or err.message)
end)
