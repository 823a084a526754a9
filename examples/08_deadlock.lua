-- Two agents that wait for each other: PM asks Sales for a quote, Sales asks PM what it is
-- for. Both would wait forever. The deadlock is detected as it forms, the agent that has
-- waited longest gets an error that names the cycle, and everything continues: Sales gets
-- its answer, and PM asks again.

local society = require("society")

local DAY_MS = 24 * 3600 * 1000 -- longer than anybody leaves it down

local BRIEF = {
  objective = "sell software", constraints = { "answer each other" }, inputs = "questions",
  outputs = "answers", completion_criteria = "the customer has a price",
}

local function show_waits()
  for _, wait in ipairs(society.waits()) do
    if wait.kind == "reply" then
      print(("  %s waits for %s"):format(wait.agent, table.concat(wait.waits_for, ", ")))
    end
  end
end

society.role {
  id = "pm", name = "PM",
  behaviour = {
    default = function(agent, message)
      local wish = { to = "Sales", type = "query", payload = { query = message.payload.text },
        timeout_ms = DAY_MS }
      local quote, err = agent:request(wish)
      if not quote and err.error == "deadlock" then
        print("PM: a ring: " .. table.concat(err.cycle, " > ") .. " > " .. err.cycle[1])
        -- The question of Sales is in the mailbox: answer it, then ask again.
        local question = assert(agent:receive { from = "Sales", timeout_ms = DAY_MS })
        print("PM: Sales wants to know: " .. question.payload.query)
        agent:reply(question, "it is for the museum")
        quote = assert(agent:request(wish))
      end
      return quote.payload
    end,
  },
}

society.role {
  id = "sales", name = "Sales",
  behaviour = {
    query = function(agent, message)
      if not agent.state.customer then
        print("Sales: I have to ask back")
        show_waits()
        local answer = assert(agent:request {
          to = message.from, type = "query", payload = { query = "who is it for?" },
          timeout_ms = DAY_MS,
        })
        agent.state.customer = answer.payload.text
      end
      return { text = ("%s costs 100, %s"):format(message.payload.query, agent.state.customer) }
    end,
  },
}

society.root {
  default = function(root)
    assert(root:spawn_agent("sales", BRIEF, { id = "Sales" }))
    assert(root:spawn_agent("pm", {
      objective = "plan", constraints = { "answer each other" }, inputs = "wishes",
      outputs = "prices", completion_criteria = "the customer has a price",
      collaborators = { { agentId = "Sales", role = "Sales", description = "knows prices" } },
    }, { id = "PM" }))
    return "the office is open"
  end,
}

local function ask(user, id, text)
  return assert(user:request { to = id, payload = text, timeout_ms = DAY_MS }).payload.text
end

society.main(function(user)
  print(ask(user, "root", "open"))
  print("User: " .. ask(user, "PM", "dark mode"))
  for _, event in ipairs(society.activity { type = "deadlock" }) do
    print("log: " .. event.event .. " " .. event.detail)
  end
end)
