-- Send: root sends to agents that sleep, with its messages checked or not.
--
--     send.lua KIND CHECKED     KIND as below; CHECKED 1: default policies, 0: none that asks

local society = require("society")

local STEP <const> = 2000 -- sends of one activation
local SLEEPERS <const> = 10

local MESSAGES <const> = {
  -- No rules.
  { type = "general", payload = {
    amount = 1250, order = 48151623, customer = "sales_agent_17", subject = "order approved",
    state = "waiting", content = "the order is ready and waits for approval by the owner.",
  } },
  -- Rules as data.
  { type = "alert", payload = {
    alert_type = "blocked", agent = "Codex", task_id = "TASK-001", duration_minutes = 35,
    reason = "the page needs a key of the login service",
  } },
  -- Rules as data, then a function.
  { type = "result", payload = {
    task_id = "TASK-001", status = "done", output = { file = "login.html", lines = 120 },
    duration_minutes = 15,
  } },
  -- A function alone.
  { type = "task_assignment", payload = {
    objective = "write the login page", constraints = { "static", "no scripts" },
    inputs = "a design", outputs = "one HTML file", completion_criteria = "it opens in a browser",
  } },
}

local message = MESSAGES[tonumber(arg[1])]

if arg[2] == "0" then
  society.policy("contacts", "open")
  society.policy("messages", { "any" })
end

society.role {
  id = "sleeper", name = "Sleeper", prompt = "Sleeps.",
  behaviour = function(agent)
    agent:sleep(86400000)
  end,
}

local function spawn_all(root)
  for i = 1, SLEEPERS do
    assert(root:spawn_agent("sleeper", {
      objective = "sleep", constraints = {}, inputs = "none", outputs = "none",
      completion_criteria = "none",
    }, { id = "s" .. i }))
  end
end

society.root {
  default = function(root, step)
    if step.from == "user" then
      spawn_all(root)
    end
    for i = 1, STEP do
      assert(root:send_message { to = "s" .. i % SLEEPERS + 1, type = message.type,
        payload = message.payload })
    end
    root:send_message { to = "root", payload = "more" }
  end,
}

society.main(function(user)
  user:send_message { to = "root", payload = "begin" }
end)
