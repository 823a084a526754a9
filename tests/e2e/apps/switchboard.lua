-- A society behind Redis, for e2e/redis: root does what it is told, `clerk` counts, `Codex` and
-- `Gemini` live outside, `visitor` is the guest. Arguments: settings of the door, as JSON.

local society = require("society")
local json = require("society.json")

local settings = json.decode(arg[1])
society.config({ name = "switchboard", redis = settings, mailbox_max = 1000 })

local function brief(names)
  local known = {}
  for _, id in ipairs(names) do
    known[#known + 1] = { agentId = id, role = id, description = id }
  end
  return { objective = "o", constraints = {}, inputs = "i", outputs = "o",
    completion_criteria = "c", collaborators = known }
end

society.role({ id = "outsider", behaviour = "external" })

-- Keeps how often it got each number, and answers with the sum of these.
society.role({
  id = "clerk",
  behaviour = function(agent, message)
    local payload = message.payload
    if payload.number then
      local counts = agent.state.counts or {}
      local name = tostring(payload.number)
      counts[name] = (counts[name] or 0) + 1
      agent.state.counts = counts
      return
    end
    if payload.text == "fail" then
      error("as it was asked to")
    end
    return { counts = agent.state.counts or {}, heard = payload, from = message.from }
  end,
})

local commands = {}

function commands.open(root)
  root:spawn_agent("clerk", brief({}), { id = "clerk" })
  for _, id in ipairs({ "visitor", "Codex", "Gemini" }) do
    root:spawn_agent("outsider", brief({ "clerk" }), { id = id })
  end
  return "open"
end

function commands.send(root, payload)
  local sent, err = root:send_message(payload.message)
  return sent or err
end

-- Sends `count` numbered messages.
function commands.burst(root, payload)
  for number = 1, payload.count do
    root:send_message({ to = payload.to, payload = { number = number } })
  end
  return payload.count
end

function commands.ask(root, payload)
  local reply, err = root:request(payload.request)
  return reply and reply.payload or err
end

function commands.shout(root, payload)
  return root:broadcast({ type = "general", payload = payload.text })
end

society.root(function(root, message)
  if message.from ~= "user" then
    print(json.encode({ from = message.from, type = message.type, payload = message.payload }))
    return
  end
  return commands[message.payload.command](root, message.payload)
end)

society.main(function(user)
  user:request({ to = "root", payload = { command = "open" } })
end)
