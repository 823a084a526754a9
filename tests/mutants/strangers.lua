-- For the list beside it: agents that try to write to those they do not know.

local society = require("society")

local function brief()
  return {
    objective = "try", constraints = { "none" }, inputs = "names", outputs = "nothing",
    completion_criteria = "it was tried",
  }
end

society.role({
  id = "child", name = "child", prompt = "tries",
  behaviour = {
    general = function(agent, message)
      agent:send_message({ to = message.payload.text, payload = { text = "hello" } })
    end,
    default = function() end,
  },
})

society.root({
  default = function(root)
    for i = 1, 4 do
      assert(root:spawn_agent("child", brief(), { id = "child" .. i }))
    end
    for i = 1, 3 do
      root:send_message({ to = "child" .. i, payload = { text = "child" .. i + 1 } })
    end
  end,
})

society.main(function(user)
  assert(user:send_message({ to = "root", payload = { text = "go" } }))
end)
