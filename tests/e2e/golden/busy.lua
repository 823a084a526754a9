-- What the golden states since tables of version 11 were made of, by `make` in this folder: a
-- society killed in the middle of whatever can last. Its effects must stay as they are: the
-- states wait in the middle of them.
local society = require("society")

local DAY_MS = 86400000
local AGES_MS = 100 * DAY_MS

society.config { name = "golden", language = "en", history = "full", broadcasters = { "pollster" },
  llm = { provider = "scripted", answers = {
    { content = "a thought", usage = { input_tokens = 7, output_tokens = 2 } },
    { content = "another thought", usage = { input_tokens = 11, output_tokens = 3 } },
  } } }

local function brief(objective)
  return { objective = objective, constraints = { "politely" }, inputs = "a question",
    outputs = "an answer", completion_criteria = "it is answered" }
end

local function ask_person(clerk, message)
  clerk.state.asked = message.payload.question
  print("the clerk asks")
  local answer = clerk:escalate { title = message.payload.question, options = { "red", "blue" } }
  clerk:complete(message, { colour = answer.choice })
end

local function talk(agent, message)
  print(("%s hears %s from %s"):format(agent.id, message.payload.text, message.from))
end

society.role { id = "clerk", name = "Clerk", prompt = "Asks the person.",
  interface_spec = { services = "painting", input_format = "a text", output_format = "a text" },
  behaviour = {
    task = ask_person,
    checkpoint_request = function(clerk) return { asked = clerk.state.asked } end,
    default = function(clerk, message)
      clerk.state.count = (clerk.state.count or 0) + 1
      if message.payload.text == "too much" then
        error("that is too much")
      end
      talk(clerk, message)
    end,
  } }

society.role { id = "sleeper", name = "Sleeper", behaviour = {
  general = function(sleeper, message)
    if message.from ~= "root" then
      return talk(sleeper, message)
    end
    sleeper:sleep(DAY_MS)
    print("the sleeper wakes")
  end,
  checkpoint_request = function() return { asked = "nothing" } end,
  broadcast = talk,
} }

society.role { id = "patient", name = "Patient", behaviour = {
  general = function(patient)
    local _, err = patient:request { to = "root", payload = "are you there?",
      timeout_ms = DAY_MS / 2 }
    print("the patient's request ends: " .. err.error)
  end,
  broadcast = talk,
} }

society.role { id = "thinker", name = "Thinker", prompt = "Think.", behaviour = "llm" }

society.role { id = "guest", name = "Guest", behaviour = {
  general = function(guest)
    local contact, err = guest:request_introduction { to = "root", reason = "a wall",
      required_capability = "painting", timeout_ms = AGES_MS }
    print("the guest knows " .. (contact and contact.id or err.error))
  end,
} }

society.role { id = "pollster", name = "Pollster", behaviour = {
  general = function(pollster, message)
    if message.from ~= "root" then
      return talk(pollster, message)
    end
    pollster:broadcast { payload = "a poll" }
    local result = pollster:checkpoint { agents = { "clerk", "sleeper" }, timeout_ms = AGES_MS }
    print(("the poll: %s, %s, %d missing"):format(result.responses.clerk.asked,
      result.responses.sleeper.asked, #result.missing))
  end,
} }

society.policy("introductions", "confirm")
society.policy("supervision", function() return nil end)

local function open_house(root)
  for _, id in ipairs({ "clerk", "sleeper", "patient", "thinker", "guest", "pollster" }) do
    assert(root:spawn_agent(id, brief("be a " .. id), { id = id }))
  end
  root:send_message { to = "clerk", payload = "too much" }
  root:send_message { to = "sleeper", payload = "good night" }
  root:send_message { to = "patient", payload = "wait" }
  assert(root:send_message { to = "root", payload = "the delayed message", delay_ms = DAY_MS })
  root:send_message { to = "clerk", type = "task", deadline = "3000-01-01T00:00:00Z",
    payload = { task_id = "T1", question = "Which colour?" } }
end

society.root {
  task = function(root, message)
    open_house(root)
    root:send_message { to = "guest", payload = "meet the painter" }
    root:send_message { to = "pollster", payload = "ask them" }
    local result = root:receive { type = "result" }
    root:send_message { to = "user", payload = { text = "it is " .. result.payload.output.colour } }
    root:complete(message, result.payload.output)
  end,
  collaboration_request = function() return { accepted = true } end,
  default = talk,
}

society.main(function(user)
  user:send_message { to = "root", type = "task", payload = { task_id = "T0", question = "?" } }
  print(user:receive { from = "root", type = "general" }.text)
end)
