-- Agents whose behaviours strangers wrote, beside an agent of the app's own.
--
-- A market takes bids by three strangers. `isolated = true` runs each in a worker process of
-- its own: without files, with a budget, and with nothing to share but messages. Servers, keys
-- and models are refused, since no role is granted them here. The fair one bids. The greedy one
-- never ends and is stopped. The sly one changes a library and looks for files: what it changes
-- is its own, and there are none. The app goes on and sells.
--
--     society run examples/18_strangers.lua

local society = require("society")

local RESERVE = 30 -- less is too little, which no stranger may know

local STRANGERS = { "fair", "greedy", "sly" }

society.config { cpu_ms_max = 50, steps_max = 1000000 } -- steps: when it is simulated

for _, name in ipairs(STRANGERS) do
  society.role { id = name, name = name, isolated = true, behaviour = "strangers." .. name }
end

local function brief_for(name)
  return {
    objective = "bid for the lamp", constraints = { "one bid" }, inputs = "what is for sale",
    outputs = "a number", completion_criteria = name .. " has made a bid",
  }
end

society.root(function(root)
  local best, winner = RESERVE, nil
  for _, name in ipairs(STRANGERS) do
    local id = assert(root:spawn_agent(name, brief_for(name))).id
    local answer, err = root:request { to = id, payload = "a lamp" }
    local bid = answer and answer.payload.bid
    print(("%s: %s"):format(name, bid or err.error))
    if answer and answer.payload.note then
      print(("%s: %s"):format(name, answer.payload.note))
    end
    if bid and bid > best then
      best, winner = bid, name
    end
  end
  return ("sold to %s for %d"):format(winner, best)
end)

society.main(function(user)
  local answer = assert(user:request { to = "root", payload = "sell", timeout_ms = 60000 })
  print(answer.payload.text)
end)
