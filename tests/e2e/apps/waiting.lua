-- Waiting: main waits for root, root sleeps and waits for a worker, who sleeps and waits
-- for a message. Each wait is longer than the program lives.

local society = require("society")

society.policy("messages", "any")

local WAIT_MS = tonumber(arg[1])
local PATIENCE_MS = 3600000 -- kills and slow machines take long
local BRIEF = {
  objective = "wait", constraints = {}, inputs = "a number", outputs = "a number",
  completion_criteria = "waited",
}

society.role({
  id = "worker", name = "worker",
  behaviour = function(agent, message)
    agent.state.calls = (agent.state.calls or 0) + 1
    agent:sleep(WAIT_MS)
    print("worker slept")
    assert(agent:send_message({ to = agent.id, type = "letter", payload = 5, delay_ms = WAIT_MS }))
    local letter = assert(agent:receive({ type = "letter", timeout_ms = PATIENCE_MS }))
    return { sum = message.payload + letter.payload, calls = agent.state.calls }
  end,
})

society.root(function(root, message)
  local worker = assert(root:spawn_agent("worker", BRIEF))
  local begun_ms = root:now()
  root:sleep(WAIT_MS)
  print("root slept")
  local answer = assert(root:request({ to = worker.id, payload = message.payload + 1,
    timeout_ms = PATIENCE_MS }))
  return { sum = answer.payload.sum + 1, calls = answer.payload.calls,
    waited_ms = root:now() - begun_ms }
end)

society.main(function(user)
  local answer = assert(user:request({ to = "root", payload = 10,
    timeout_ms = PATIENCE_MS })).payload
  print(("sum %d calls %d waited %d"):format(answer.sum, answer.calls, answer.waited_ms))
end)
