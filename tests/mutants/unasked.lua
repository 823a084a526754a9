-- For the list beside it: somebody is introduced who did not ask, and then writes.

local society = require("society")

local function brief()
  return {
    objective = "write", constraints = { "none" }, inputs = "names", outputs = "letters",
    completion_criteria = "it was tried",
  }
end

society.role({
  id = "child", name = "child", prompt = "writes",
  behaviour = {
    general = function(agent, message)
      if message.payload.text == "write" then
        agent:send_message({ to = "b", payload = { text = "I know you now" } })
      end
    end,
    default = function() end,
  },
})

society.root({
  default = function(root)
    assert(root:spawn_agent("child", brief(), { id = "a" }))
    assert(root:spawn_agent("child", brief(), { id = "b" }))
    root:send_message({
      to = "a", type = "introduction_response",
      payload = { target_agent = { id = "b" }, usage_hint = "write" },
    })
    root:send_message({ to = "a", payload = { text = "write" } })
  end,
})

society.main(function(user)
  assert(user:send_message({ to = "root", payload = { text = "go" } }))
end)
