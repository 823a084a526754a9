-- A society for the file door: root records what outside agents tell it and does what
-- `user` tells it. The settings come as JSON after `--`.

local json = require("society.json")
local society = require("society")

local settings = assert(json.decode((...) or "{}"))
local BRIEF = {
  objective = "work", constraints = {}, inputs = "i", outputs = "o", completion_criteria = "c",
}

local mailbox_max = settings.mailbox_max -- the one setting that is not the door's
settings.mailbox_max = nil
society.config({ name = "desk", files = settings, mailbox_max = mailbox_max })
society.role({ id = "architecture", name = "Architect", prompt = "", behaviour = "external" })
society.role({
  id = "clerk",
  name = "Clerk",
  prompt = "",
  behaviour = function(clerk, message)
    clerk:reply(message, "noted")
  end,
})

local commands = {}

function commands.hire(root, payload)
  return root:spawn_agent(payload.role or "architecture", BRIEF, { id = payload.id })
end

function commands.send(root, payload)
  return root:send_message(payload.message)
end

function commands.nap(root, payload)
  root:sleep(payload.ms)
  return true
end

function commands.nap_and_hire(root, payload)
  root:sleep(payload.ms)
  return commands.hire(root, payload)
end

function commands.ask(root, payload)
  local answer, err = root:request(payload.message)
  return answer and { payload = answer.payload, from = answer.from }, err
end

function commands.check(root, payload)
  return root:checkpoint({ agents = payload.agents, timeout_ms = 300000 })
end

function commands.shout(root, payload)
  return root:broadcast({ payload = payload.text })
end

function commands.shout_and_hire(root, payload)
  root:broadcast({ payload = "before" })
  return commands.hire(root, payload)
end

function commands.flood(root, payload)
  for i = 1, payload.count do
    root:broadcast({ payload = "all " .. i })
    root:send_message({ to = payload.to, payload = "m" .. i })
  end
  return true
end

function commands.end_agent(root, payload)
  return root:terminate(payload.id, { force = not payload.drains })
end

function commands.resolve(root, payload)
  return root:resolve(payload.id, payload.action)
end

-- Records what anybody but the user tells root, the host included.
local function record(_, message)
  print(json.encode({ from = message.from, type = message.type, payload = message.payload,
    external_id = message.external_id, id = message.id, traceparent = message.traceparent }))
end

society.root({
  system = record,
  default = function(root, message)
    local command = message.from == "user" and commands[message.payload.command]
    if not command then
      return record(root, message)
    end
    local result, err = command(root, message.payload)
    root:reply(message, result or err)
  end,
})
