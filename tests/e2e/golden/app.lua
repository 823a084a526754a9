-- What the golden states were made of: everything that lasts, and waits without a deadline.
-- Its effects must stay as they are: the states wait in the middle of them.
local society = require("society")

society.config { name = "golden" }

society.role { id = "clerk", name = "Clerk", prompt = "Asks the person.",
  interface_spec = { services = "asking", input_format = "a text", output_format = "a text" },
  behaviour = {
    task = function(clerk, message)
      clerk.state.asked = message.payload.question
      print("the clerk asks")
      local answer = clerk:escalate { title = message.payload.question,
        options = { "red", "blue" } }
      clerk:complete(message, { colour = answer.choice })
    end,
    default = function(clerk)
      clerk.state.count = (clerk.state.count or 0) + 1
      if clerk.state.count == 1 then
        error("the first message is too much")
      end
    end,
  } }

society.policy("supervision", function() return nil end)

society.root {
  task = function(root, message)
    assert(root:spawn_agent("clerk", { objective = "ask", constraints = { "politely" },
      inputs = "a question", outputs = "a colour", completion_criteria = "the person has chosen" },
      { id = "clerk" }))
    root:send_message { to = "clerk", payload = "too much" }
    root:send_message { to = "clerk", type = "task", payload = { task_id = "T1",
      question = message.payload.question } }
    local result = root:receive { type = "result" }
    root:send_message { to = "user", payload = { text = "it is " .. result.payload.output.colour } }
    root:complete(message, result.payload.output)
  end,
}

society.main(function(user)
  user:send_message { to = "root", type = "task",
    payload = { task_id = "T0", question = "Which colour?" } }
  print(user:receive { from = "root", type = "general" }.text)
end)
