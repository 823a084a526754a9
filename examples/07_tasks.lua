-- Tasks: Helix gives Codex four of them. One is done, one is blocked and cancelled, one
-- fails and is retried, one waits its turn. Helix receives each result once.

local society = require("society")

local DAY_MS = 24 * 3600 * 1000 -- longer than anybody leaves it down

local BRIEF = {
  objective = "write code", constraints = { "test it" }, inputs = "tasks", outputs = "results",
  completion_criteria = "every task has ended",
}

-- Codex asks for a key it does not have, and is turned away once by a busy service.
local function work(agent, message)
  local task = message.payload
  if task.needs then
    agent:send_message {
      to = message.from, type = "alert",
      payload = { alert_type = "blocked", reason = task.needs, task_id = message.task_id },
    }
    agent:receive { type = "response" } -- for ever, were it not cancelled
  end
  agent:sleep(200)
  if task.flaky and message.attempt == 1 then
    return agent:fail(message, "API rate limit exceeded", { retryable = true })
  end
  agent:complete(message, { requirement = task.requirement, attempt = message.attempt })
end

society.role {
  id = "codex", name = "Codex",
  behaviour = {
    task = work,
    abort = function(_, message)
      print(("Codex: %s is off: %s"):format(message.payload.task_id, message.payload.reason))
    end,
  },
}

local TASKS = {
  { task_id = "TASK-001", priority = "P0", requirement = "实现用户登录", spec = { "JWT", "bcrypt" } },
  { task_id = "TASK-002", priority = "P1", requirement = "发送短信", needs = "需要 API key" },
  { task_id = "TASK-003", priority = "P2", requirement = "导出报表", flaky = true },
  { task_id = "TASK-004", priority = "P3", requirement = "写文档" },
}

local function show(helix)
  local load, queue = helix:load("codex"), society.queue("codex")
  local waiting = {}
  for i, task in ipairs(queue.pending) do
    waiting[i] = ("%s (%s)"):format(task.task_id, task.priority)
  end
  print(("Helix: Codex is %s with %s; in %s wait %s; done: %s"):format(load.status,
    load.current_task or "nothing", queue.queue_name, table.concat(waiting, ", "),
    table.concat(queue.completed, ", ")))
end

society.policy("tasks", "default", { first_ms = 300 })

society.root {
  alert = function(helix, message)
    local alert = message.payload
    print(("Helix: %s is %s: %s"):format(alert.task_id, alert.alert_type, alert.reason or "late"))
    show(helix)
    if alert.alert_type == "blocked" then -- one that only takes long is left to itself
      assert(helix:cancel(alert.task_id, "优先级调整"))
    end
  end,
  result = function(helix, message)
    local result = message.payload
    print(("Helix: %s is %s at attempt %d"):format(result.task_id, result.status,
      result.output.attempt))
    helix.state.done = helix.state.done + 1
    if helix.state.done == 3 then
      helix:reply(helix.state.asked_in, "everything has ended")
    end
  end,
  default = function(helix, message)
    helix.state.asked_in, helix.state.done = message.id, 0
    assert(helix:spawn_agent("codex", BRIEF, { id = "codex" }))
    for _, task in ipairs(TASKS) do
      assert(helix:send_message { to = "codex", type = "task", payload = task })
    end
  end,
}

society.main(function(user)
  local answer = assert(user:request { to = "root", payload = "go", timeout_ms = DAY_MS })
  print(answer.payload.text)
  for _, task in ipairs(society.tasks()) do
    print(task.task_id, task.priority, task.state, task.tries)
  end
end)
