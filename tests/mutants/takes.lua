-- For the list beside it: mail taken by receive in turns that raise and are tried again.

local society = require("society")

local COUNT = 6

society.role({
  id = "reader", name = "reader", prompt = "reads",
  behaviour = {
    collaboration_request = function(agent)
      for n = 1, COUNT do
        local message = assert(agent:receive({ type = "general", timeout_ms = 1000000000 }))
        agent.state.last = message.payload.n
        assert(message.payload.n == n, "out of order")
      end
      return { last = agent.state.last }
    end,
    default = function() end,
  },
})

society.root({
  default = function(root)
    assert(root:spawn_agent("reader", {
      objective = "read", constraints = { "in order" }, inputs = "notes", outputs = "nothing",
      completion_criteria = "all were read",
    }, { id = "reader" }))
    local request = {
      to = "reader", type = "collaboration_request", priority = "urgent", timeout_ms = 1000000000,
      payload = { reason = "order", required_capability = "reading", text = "read" },
    }
    for n = 1, COUNT do
      root:send_message({ to = "reader", priority = "low", payload = { n = n } })
    end
    return assert(root:request(request)).payload
  end,
})

society.main(function(user)
  local answer = assert(user:request({ to = "root", payload = "go", timeout_ms = 1000000000 }))
  assert(answer.payload.last == COUNT)
end)
