-- Many agents sleep side by side and write to each other when they wake.
local society = require("society")

local BRIEF = {
  objective = "sleep", constraints = {}, inputs = "-", outputs = "-", completion_criteria = "-",
}

society.role({
  id = "sleeper", name = "sleeper",
  behaviour = {
    begin = function(agent, message)
      for round = 1, 3 do
        agent:sleep(message.payload.ms)
        agent:random(1, 6)
        assert(agent:send_message({ to = "root", type = "woke", payload = { round = round },
          ttl_seconds = 60, delay_ms = round }))
      end
      agent.state.rounds = (agent.state.rounds or 0) + 3
    end,
  },
})

society.root({
  woke = function(root, message)
    root.state.woke = (root.state.woke or 0) + message.payload.round
    if message.payload.round == 3 then
      print("third time for " .. message.from)
    end
  end,
  default = function(root)
    for i = 1, 4 do
      assert(root:spawn_agent("sleeper", BRIEF, { id = "z" .. i }))
      assert(root:send_message({ to = "z" .. i, type = "begin", payload = { ms = i } }))
    end
  end,
})

society.main(function(user)
  assert(user:send_message({ to = "root", payload = "go" }))
  user:sleep(5)
  print("main woke")
end)
