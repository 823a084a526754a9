-- People outside who call in while everything breaks: a desk that counts what it is told,
-- answers some, hands some on and asks the person now and then. Simulated callers
-- (core/sim/callers.h) talk to it and decide.

local society = require("society")

society.config({ callers = 4 })

local OPENING_MS = 24 * 3600 * 1000 -- the clock may jump by an hour at each crash

local BRIEF = {
  objective = "take notes", constraints = {}, inputs = "notes", outputs = "a list",
  completion_criteria = "none",
}

society.role({
  id = "clerk", name = "clerk", prompt = "Takes notes.",
  behaviour = function(agent, message)
    agent.state.handled = (agent.state.handled or 0) + 1
    agent:sleep(agent:random(1, 400))
    return { text = "noted", number = message.payload.number }
  end,
})

society.root(function(root, message)
  root.state.handled = (root.state.handled or 0) + 1
  if message.type == "decision" then
    return
  elseif not message.payload.caller then
    root:spawn_agent("clerk", BRIEF, { id = "clerk" })
    return { text = "open" }
  end
  local chance = root:random(1, 4)
  if chance == 1 then
    root:escalate({ title = "may " .. message.payload.once .. " in?", wait = false })
  elseif chance == 2 then
    local note = { number = message.payload.number }
    local reply = root:request({ to = "clerk", payload = note, timeout_ms = 60000 })
    return reply and reply.payload or { text = "the clerk is out" }
  end
  return { text = "thank you" }
end)

society.main(function(user)
  local opening = { to = "root", payload = { text = "open up" }, timeout_ms = OPENING_MS }
  assert(user:request(opening))
  print("open")
end)
