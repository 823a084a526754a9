--- Outside agents, behind a door that loses, duplicates and delays.
--
-- Root writes to four of them, makes requests to each, and gives nobody up: an agent
-- reported as unresponsive is sent again what it has not acked. Each message comes back as
-- one of theirs (`echo`), once. `society sim` plays the four.

local society = require("society")

local COUNT, LETTERS = 4, 5
local LONG_MS = 1000000000

society.role({ id = "outsider", name = "outsider", prompt = "elsewhere", behaviour = "external" })

local function brief()
  return {
    objective = "ack what comes", constraints = { "none" }, inputs = "letters", outputs = "acks",
    completion_criteria = "all were acked",
  }
end

local function write(root, id)
  for i = 1, LETTERS do
    assert(root:send_message({
      to = id, requires_ack = true, priority = i % 2 == 0 and "high" or "normal",
      payload = {
        text = "letter", once = id .. "/" .. i,
        echo = { text = "back", once = id .. "/back/" .. i },
      },
    }))
  end
end

society.role({
  id = "asker", name = "asker", prompt = "asks", behaviour = function(agent, message)
    local answer = agent:request({
      to = message.payload.text, requires_ack = true, timeout_ms = LONG_MS,
      payload = { text = "are you there?", once = agent.id .. "/question" },
    })
    assert(answer.payload.text == "from outside")
  end,
})

society.root({
  alert = function(root, message)
    if message.payload.alert_type == "unresponsive" then
      root:resolve(message.payload.agent, "restart")
    end
  end,
  general = function(root, message)
    if message.payload.text == "back" then
      root.state.back = (root.state.back or 0) + 1
    end
    for i = 1, message.payload.text == "go" and COUNT or 0 do -- or a late reply
      local id, brief_of_asker = "outside" .. i, brief()
      assert(root:spawn_agent("outsider", brief(), { id = id }))
      brief_of_asker.collaborators = { { agentId = id, role = "outsider", description = "x" } }
      assert(root:spawn_agent("asker", brief_of_asker, { id = "asker" .. i }))
      write(root, id)
      root:send_message({ to = "asker" .. i, payload = { text = id, once = "ask/" .. i } })
    end
  end,
})

society.main(function(user)
  assert(user:send_message({ to = "root", payload = { text = "go" } }))
  for _ = 1, 1000 do
    if (society.agent("root").state or {}).back == COUNT * LETTERS then
      return
    end
    user:sleep(60000)
  end
  error("not every letter came back")
end)
