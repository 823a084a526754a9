-- Survives: a story that waits between its steps. Kill it with `kill -9` at any
-- moment and run it again with the same --state: it resumes where it was, and
-- neither asks nor counts anything twice.

local society = require("society")

local DAY_MS = 24 * 3600 * 1000 -- time runs on while it is down: wait longer than that

local BRIEF = {
  objective = "count what is asked of you",
  constraints = { "count each request once" },
  inputs = "a step",
  outputs = "the count so far",
  completion_criteria = "five steps counted",
}

society.role {
  id = "counter", name = "counter",
  behaviour = function(agent, message)
    agent:sleep(200) -- the middle of a handler: a kill here repeats nothing
    agent.state.count = (agent.state.count or 0) + 1
    return { step = message.payload.step, count = agent.state.count }
  end,
}

society.root {
  default = function(root, message)
    local counter = assert(root:spawn_agent("counter", BRIEF))
    local answer
    for step = 1, message.payload.steps do
      answer = assert(root:request {
        to = counter.id, payload = { step = step }, timeout_ms = DAY_MS,
      })
      print(("step %d, counted %d"):format(answer.payload.step, answer.payload.count))
    end
    return { count = answer.payload.count }
  end,
}

society.main(function(user)
  local answer = assert(user:request {
    to = "root", payload = { steps = 5 }, timeout_ms = DAY_MS,
  })
  print("counted " .. answer.payload.count .. " in all")
end)
