--- The flow of a workflow with several perspectives: assign, report, meet, give up.
--
-- The orchestrator assigns each worker a task, receives progress, asks all of them at one
-- checkpoint how far they are, and finishes when every task has ended. A worker that falls
-- silent or takes too long loses its task.
--
--     require("workflow.flow")(society, behaviour_of_the_workers)

local PERSPECTIVES = { "architecture", "cognitive", "workflow" }

local function brief(perspective)
  return {
    objective = "look at user-auth-system from the side of its " .. perspective,
    constraints = { "report what you find as you find it" }, inputs = "a task_assign",
    outputs = "progress_update, then task_complete", completion_criteria = "the task has ended",
  }
end

-- One open task less; after the last one a broadcast announces the end.
local function note_end(root, id, how)
  print(("%s: %s"):format(id, how))
  root.state.open = root.state.open - 1
  if root.state.open == 0 then
    root:broadcast({ payload = "the workflow is over" })
  end
end

local function begin(root)
  root.state.open = #PERSPECTIVES
  for i, perspective in ipairs(PERSPECTIVES) do
    local id = "agent_" .. perspective
    assert(root:spawn_agent("worker", brief(perspective), { id = id }))
    assert(root:send_message({ to = id, type = "task_assign", ttl_seconds = 300, payload = {
      task_id = ("task_%03d"):format(i), perspective = perspective, topic = "user-auth-system",
    } }))
  end
end

local function meet(root, timeout_ms)
  local result = assert(root:checkpoint({ payload = { question = "how far are you?" },
    timeout_ms = timeout_ms }))
  for _, perspective in ipairs(PERSPECTIVES) do
    local id = "agent_" .. perspective
    local answer = result.responses[id]
    print(("checkpoint: %s %s"):format(id, answer and answer.status or "is missing"))
  end
end

-- The decision about a silent worker: its task is withdrawn.
local function give_up(root, alert)
  if alert.alert_type == "unresponsive" then
    assert(root:resolve(alert.agent, "abort"))
    note_end(root, alert.agent, "not heard, aborted")
  elseif root:cancel(alert.task_id, "too slow") then
    note_end(root, alert.agent, "too slow, aborted")
  end
end

return function(society, worker)
  society.role({ id = "worker", name = "工作者", behaviour = worker })

  society.root({
    general = begin,
    collaboration_request = function(root, message) meet(root, message.payload.timeout_ms) end,
    progress_update = function(_, message)
      print(("%s: %s"):format(message.from, message.payload.text))
    end,
    task_complete = function(root, message)
      note_end(root, message.from, "done, " .. tostring(message.payload.output))
    end,
    alert = function(root, message) give_up(root, message.payload) end,
  })
end
