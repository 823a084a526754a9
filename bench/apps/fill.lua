-- Fill: root sends to agents that sleep, so that the messages stay pending.
--
--     fill.lua SLEEPERS MESSAGES

local society = require("society")

local sleeper_count = tonumber(arg[1])
local message_count = tonumber(arg[2])
local STEP <const> = 5000 -- sends of one activation

-- 200 bytes of JSON.
local PAYLOAD <const> = {
  amount = 1250, order = 48151623, customer = "sales_agent_17", subject = "order approved",
  state = "waiting",
  content = "the order is ready and waits for approval by the owner of the account, please now.",
}

society.config {
  agents_max = 100000000, children_max = 100000000, mailbox_max = 100000000,
  cpu_ms_max = 600000, memory_bytes_max = 2000000000, -- thousands of births in a turn
}

society.role {
  id = "sleeper", name = "Sleeper", prompt = "Sleeps.",
  behaviour = function(agent)
    agent:sleep(86400000)
  end,
}

local function spawn_all(root)
  for i = 1, sleeper_count do
    assert(root:spawn_agent("sleeper", {
      objective = "sleep", constraints = {}, inputs = "none", outputs = "none",
      completion_criteria = "none",
    }, { id = "s" .. i }))
  end
end

society.root {
  default = function(root, message)
    local from = message.payload.from
    local last = math.min(message_count, from + STEP - 1)
    if from == 1 then
      spawn_all(root)
    end
    for i = from, last do
      assert(root:send_message { to = "s" .. i % sleeper_count + 1, payload = PAYLOAD })
    end
    if last < message_count then
      root:send_message { to = "root", payload = { from = last + 1 } }
    end
  end,
}

society.main(function(user)
  user:send_message { to = "root", payload = { from = 1 } }
end)
