-- Traffic through the file door for kill -9: root keeps a few tasks with every outside
-- worker and gives the next one for each that is completed, until it is told to stop. It
-- counts how often each task was completed. Arguments: directory, workers, messages in a
-- queue before it is rotated.

local society = require("society")

local directory, workers, queue_max = ...
local IN_FLIGHT = 4
local BRIEF = {
  objective = "work", constraints = {}, inputs = "i", outputs = "o", completion_criteria = "c",
}

society.config({
  name = "courier",
  files = {
    dir = directory,
    ack = { timeout_ms = 2000 },
    polling = { max_interval_ms = 500 },
    cleanup = { max_messages = tonumber(queue_max), keep_ms = 0 },
  },
})
society.role({ id = "worker", name = "Worker", prompt = "", behaviour = "external" })

local function assign(root, id)
  local state = root.state
  state.sent = (state.sent or 0) + 1
  local task = "t" .. state.sent
  state.open[task] = id
  assert(root:send_message({ to = id, type = "task_assign", payload = { task_id = task } }))
end

local function report(root)
  local state = root.state
  if state.is_stopping and next(state.open) == nil then
    root:send_message({ to = "user", payload = {
      sent = state.sent, completed = state.completed, strange = state.strange,
    } })
  end
end

society.root({
  task_complete = function(root, message)
    local state = root.state
    local task = message.payload.task_id
    if state.open[task] == message.from then
      state.open[task] = nil
      state.completed = state.completed + 1
    else
      state.strange = state.strange + 1 -- a second time, or from another worker
    end
    if not state.is_stopping then
      assign(root, message.from)
    end
    report(root)
  end,
  alert = function() end,
  default = function(root, message)
    local text = message.payload.text
    if text == "begin" then
      root.state = { open = {}, sent = 0, completed = 0, strange = 0 }
      for w = 1, tonumber(workers) do
        assert(root:spawn_agent("worker", BRIEF, { id = "w" .. w }))
        for _ = 1, IN_FLIGHT do
          assign(root, "w" .. w)
        end
      end
    elseif text == "stop" then
      root.state.is_stopping = true
      report(root)
    end
  end,
})

society.main(function(user)
  user:send_message({ to = "root", payload = "begin" })
  local message
  repeat
    message = assert(user:receive({ from = "root", timeout_ms = 600000 }))
  until message.payload.sent
  print(("sent %d completed %d strange %d"):format(message.payload.sent,
    message.payload.completed, message.payload.strange))
end)
