-- A clerk collects messages by receive while senders sleep and write.
local society = require("society")

local BRIEF = {
  objective = "mail", constraints = {}, inputs = "-", outputs = "-", completion_criteria = "-",
}

society.role({
  id = "sender", name = "sender",
  behaviour = function(agent, message)
    for n = 1, message.payload.count do
      agent:sleep(message.payload.pause)
      assert(agent:send_message({ to = "clerk", type = "item", payload = { n = n } }))
    end
    assert(agent:send_message({ to = "clerk", type = "last", payload = { from = agent.id } }))
    agent.state.sent = (agent.state.sent or 0) + message.payload.count
  end,
})

society.role({
  id = "clerk", name = "clerk",
  behaviour = {
    gather = function(agent, message)
      local sum = 0
      for _ = 1, message.payload.items do
        sum = sum + agent:receive({ type = "item" }).payload.n
      end
      agent.state.sum = (agent.state.sum or 0) + sum
      local late, err = agent:receive({ type = "late", timeout_ms = 3 })
      agent.state.waited = not late and err.error
      print("gathered " .. sum)
      return { sum = sum }
    end,
    last = function(agent)
      agent.state.lasts = (agent.state.lasts or 0) + 1
    end,
    item = function(agent)
      agent.state.stray = (agent.state.stray or 0) + 1
    end,
  },
})

society.root(function(root)
  assert(root:spawn_agent("clerk", BRIEF, { id = "clerk" }))
  local clerk = { { agentId = "clerk", role = "clerk", description = "gathers" } }
  for i = 1, 2 do
    local brief = {}
    for name, value in pairs(BRIEF) do
      brief[name] = value
    end
    brief.collaborators = clerk
    assert(root:spawn_agent("sender", brief, { id = "s" .. i }))
    assert(root:send_message({ to = "s" .. i, payload = { count = 3, pause = i } }))
  end
  local answer = assert(root:request({ to = "clerk", type = "gather", payload = { items = 6 } }))
  root.state.sum = answer.payload.sum
end)

society.main(function(user)
  assert(user:send_message({ to = "root", payload = "go" }))
end)
