-- Crowd: isolated agents that are all in the middle of a message at once.
--
--     crowd.lua COUNT      prints how many came, and the ms until the last of them had spoken
--
-- Each says that it is here and waits to be sent away, in a worker process of its own.

local society = require("society")

local COUNT <const> = tonumber(arg[1])
local WAIT_MS <const> = 600000

society.config { name = "crowd", workers_max = COUNT }
society.policy("contacts", "open")

society.role {
  id = "guest", name = "Guest", prompt = "Comes and goes.", isolated = true,
  behaviour = function(agent)
    agent:send_message { to = "root", type = "general", payload = "here" }
    agent:receive { from = "root", timeout_ms = WAIT_MS }
  end,
}

local BRIEF <const> = {
  objective = "come", constraints = {}, inputs = "none", outputs = "none",
  completion_criteria = "none",
}

local function call_all(root, ids, text)
  for _, id in ipairs(ids) do
    assert(root:send_message { to = id, payload = text })
  end
end

society.root {
  default = function(root)
    local ids, come = {}, 0
    for i = 1, COUNT do
      ids[i] = assert(root:spawn_agent("guest", BRIEF, { id = "g" .. i })).id
    end
    local began = root:now()
    call_all(root, ids, "come")
    for _ = 1, COUNT do
      come = come + (root:receive { timeout_ms = WAIT_MS } and 1 or 0)
    end
    local all_ms = root:now() - began
    call_all(root, ids, "go")
    return { come = come, all_ms = all_ms }
  end,
}

society.main(function(user)
  local seen = assert(user:request { to = "root", payload = "begin", timeout_ms = WAIT_MS }).payload
  print(seen.come, seen.all_ms)
end)
