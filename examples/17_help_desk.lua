-- A help desk that programs talk to over HTTP: questions come in, a clerk answers what it
-- knows, and a refund needs the word of a person.
--
-- By itself it serves one customer and ends. As a service, driven with curl alone:
--     society run 17_help_desk.lua --http 8080
--     examples/http/drive.sh .society

local society = require("society")

local ANSWERS = {
  hours = "We are open from nine to five.",
  address = "Harbour Street 12.",
}

local REFUND_MAX = 50 -- more than that is for a person to decide

society.role {
  id = "clerk", name = "clerk",
  prompt = "Answers questions and pays small refunds.",
  behaviour = function(agent, message)
    local question = message.payload.text or ""
    local amount = tonumber(question:match("^refund (%d+)$"))
    if not amount then
      return { text = ANSWERS[question] or "I do not know that." }
    end
    if amount > REFUND_MAX then
      local verdict, err = agent:escalate {
        title = ("refund %d?"):format(amount), priority = "high", timeout_ms = 60000,
      }
      if not verdict then
        return { text = "Nobody could decide in time: " .. err.error }
      elseif verdict.decision == "reject" then
        return { text = "No: " .. (verdict.comment or "no reason given") }
      end
    end
    agent.state.paid = (agent.state.paid or 0) + amount
    return { text = ("%d refunded, %d in all"):format(amount, agent.state.paid) }
  end,
}

-- Root hands every question to the one clerk.
society.root(function(root, message)
  root.state.clerk = root.state.clerk or assert(root:spawn_agent("clerk", {
    objective = "serve customers", constraints = { "be brief" }, inputs = "a question",
    outputs = "an answer", completion_criteria = "the customer has an answer",
  })).id
  local answer, err = root:request { to = root.state.clerk, payload = message.payload,
    timeout_ms = 120000 }
  return answer and answer.payload or { text = "The desk is closed: " .. err.error }
end)

society.main(function(user)
  for _, question in ipairs({ "hours", "refund 20" }) do
    local answer = assert(user:request { to = "root", payload = { text = question } })
    print(("%s: %s"):format(question, answer.payload.text))
  end
end)
