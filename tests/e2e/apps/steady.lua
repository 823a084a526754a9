-- Steady: the same few steps each time, for faults at each I/O call in turn.
--
-- Each step has a random number, so that a line that was shown and then lost differs from
-- the one that is shown later.

local society = require("society")

society.policy("messages", "any")

local STEPS = 6

society.root({
  add = function(root, message)
    local seen = root.state.seen or {}
    seen[#seen + 1] = message.payload.number
    root.state.seen = seen
    print(("added %d %d"):format(message.payload.number, message.payload.chance))
  end,
  show = function(root)
    return { seen = root.state.seen }
  end,
})

society.main(function(user)
  for number = 1, STEPS do
    local chance = user:random(1, 1000000)
    print(("step %d %d"):format(number, chance))
    assert(user:send_message({ to = "root", type = "add",
      payload = { number = number, chance = chance } }))
    user:sleep(1)
  end
  local reply = assert(user:request({ to = "root", type = "show", payload = "all" }))
  print("seen " .. table.concat(reply.payload.seen, " "))
end)
