-- A workflow with an orchestrator and three workers: tasks are assigned and reported,
-- all meet at a checkpoint, one that takes too long loses its task.
--
-- Here the workers are Lua code that stands in for outside processes. workflow/outside.lua
-- is the same flow with real outside workers that ack their messages;
-- tests/spec/examples/workflow_spec.lua plays them, one of them silent.

local society = require("society")
local flow = require("workflow.flow")

society.config { name = "workflow", task_limit_ms = 600 }

flow(society, {
  task_assign = function(agent, message)
    local perspective = message.payload.perspective
    agent:send_message { to = message.from, type = "progress_update",
      payload = { text = "begins with " .. perspective } }
    if perspective == "workflow" then
      return -- and is never heard of again
    end
    agent:sleep(300)
    agent:complete(message, perspective .. " looked at")
  end,
  checkpoint_request = function(agent)
    if agent.id == "agent_workflow" then
      agent:sleep(1000)
    end
    return { status = "is half way" }
  end,
  abort = function(agent, message)
    print(("%s drops %s"):format(agent.id, message.payload.task_id))
  end,
  broadcast = function(agent, message)
    print(("%s hears: %s"):format(agent.id, message.payload.text))
  end,
})

society.main(function(user)
  user:send_message { to = "root", payload = "begin" }
  user:sleep(100)
  user:send_message { to = "root", type = "collaboration_request", payload = { timeout_ms = 500 } }
end)
