-- A round of a workflow: the orchestrator assigns work, then asks everybody at one
-- checkpoint how far they are, and decides from the answers whether to continue. Agents
-- that do not answer in time are missing; late answers are logged and dropped. At the end
-- a broadcast announces the result.

local society = require("society")

local PERSPECTIVES = { "architecture", "security", "cost" }

local function brief(perspective)
  return {
    objective = "look at the plan for " .. perspective, constraints = { "be brief" },
    inputs = "a plan", outputs = "findings", completion_criteria = "the checkpoint is answered",
  }
end

society.role {
  id = "reviewer", name = "审阅者",
  behaviour = {
    progress_update = function(agent, message)
      agent.state.findings = message.payload.findings
    end,
    checkpoint_request = function(agent, message)
      if message.payload.round == 1 and agent.id == "cost" then
        agent:sleep(300) -- still counting: too late for the first round
      end
      return { status = "ready", findings = agent.state.findings }
    end,
    broadcast = function(agent, message)
      print(("%s hears: %s"):format(agent.id, message.payload.text))
    end,
  },
}

-- One round: the answers, and who is missing.
local function ask_all(root, round)
  local result = assert(root:checkpoint { payload = { round = round }, timeout_ms = 200 })
  for _, id in ipairs(PERSPECTIVES) do
    local answer = result.responses[id]
    print(("round %d: %s %s"):format(round, id,
      answer and ("has %d findings"):format(answer.findings) or "is missing"))
  end
  return #result.missing == 0
end

society.root(function(root)
  for i, perspective in ipairs(PERSPECTIVES) do
    assert(root:spawn_agent("reviewer", brief(perspective), { id = perspective }))
    root:send_message { to = perspective, type = "progress_update", payload = { findings = i } }
  end
  local round = 1
  while not ask_all(root, round) do
    round = round + 1
    root:sleep(500)
  end
  root:broadcast { payload = ("all ready after %d rounds"):format(round) }
end)

society.main(function(user)
  user:send_message { to = "root", payload = "review the plan" }
end)
