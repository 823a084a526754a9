-- For the list beside it: messages to all, while agents come and go.

local society = require("society")

local COUNT = 6

local function brief()
  return {
    objective = "listen", constraints = { "none" }, inputs = "news", outputs = "nothing",
    completion_criteria = "all was heard",
  }
end

society.role({
  id = "reader", name = "reader", prompt = "listens",
  behaviour = function(agent)
    agent.state.handled = (agent.state.handled or 0) + 1
    agent:sleep(agent:random(1, 30))
  end,
})

society.root({
  general = function(root, message)
    for i = 1, message.payload.text == "go" and COUNT or 0 do
      assert(root:spawn_agent("reader", brief(), { id = "reader" .. i }))
      assert(root:broadcast({ payload = { text = "news", once = "news " .. i } }))
      root:sleep(10)
    end
    if message.payload.text == "go" then
      root:terminate("reader1")
      assert(root:broadcast({ payload = { text = "one goes" } }))
      root:terminate("reader2", { force = true })
      root:pause("reader3")
      assert(root:broadcast({ payload = { text = "one rests" } }))
    end
  end,
  default = function() end,
})

society.main(function(user)
  assert(user:send_message({ to = "root", payload = { text = "go" } }))
end)
