-- An introduction through two agents: the buyer in the north needs a lawyer. Its
-- manager knows none and asks the head, the head asks the manager of the south, whose
-- lawyer it is. Nobody here has any code for introductions: the host answers for them.

local society = require("society")

local DAY_MS = 24 * 3600 * 1000 -- longer than anybody leaves it down

local BRIEF = {
  objective = "do business", constraints = { "stay within the law" }, inputs = "orders",
  outputs = "reports", completion_criteria = "the house stands",
}

-- Hires the agents that the message lists, with their own subordinates.
local function hire(agent, people)
  for _, one in ipairs(people) do
    assert(agent:spawn_agent(one.role, BRIEF, {
      id = one.id, message = { text = "welcome", task_brief = BRIEF, people = one.people or {} },
    }))
  end
end

local function settle_in(agent, message)
  hire(agent, message.payload.people)
end

local function offer(services)
  return { services = services, input_format = "a letter", output_format = "an answer" }
end

society.role {
  id = "manager", name = "Manager", interface_spec = offer("plans and budgets"),
  behaviour = { task_assignment = settle_in },
}

society.role {
  id = "lawyer", name = "Lawyer", interface_spec = offer("contract law, legal advice"),
  behaviour = {
    task_assignment = settle_in,
    default = function(_, message)
      local who = message.payload.self_introduction
      return { text = ("Dear %s, sign nothing."):format(who.role) }
    end,
  },
}

society.role {
  id = "buyer", name = "Buyer", interface_spec = offer("buying"),
  behaviour = {
    task_assignment = settle_in,
    default = function(agent)
      local contact = assert(agent:request_introduction {
        to = agent.parent, reason = "somebody sent us a contract",
        required_capability = "legal advice on a contract", timeout_ms = DAY_MS,
      })
      print(("Buyer: met %s (%s), introduced by %s, by way of %s"):format(contact.id, contact.role,
        contact.introducedBy, table.concat(contact.via, ", ")))
      return assert(agent:request {
        to = contact.id, payload = "May we sign this?", timeout_ms = DAY_MS,
      }).payload
    end,
  },
}

society.root {
  default = function(root)
    hire(root, {
      { id = "north", role = "manager", people = { { id = "buyer", role = "buyer" } } },
      { id = "south", role = "manager", people = { { id = "lawyer", role = "lawyer" } } },
    })
  end,
}

-- Hiring takes an unknown time: look instead of guessing.
local function wait_for(user, ids)
  for _, id in ipairs(ids) do
    while not society.agent(id) do
      user:sleep(10)
    end
  end
end

society.main(function(user)
  user:send_message { to = "root", payload = "open the house" }
  wait_for(user, { "buyer", "lawyer" })
  local answer = assert(user:request { to = "buyer", payload = "go", timeout_ms = DAY_MS })
  print("Lawyer: " .. answer.payload.text)
end)
