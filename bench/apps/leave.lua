-- Leave: root sends messages that leave something behind, or nothing.
--
--     leave.lua KIND MESSAGES
--
-- KIND 0: nothing, they are handled; 1: a dead letter each; 2: a dedupe key each.

local society = require("society")

local kind = tonumber(arg[1])
local message_count = tonumber(arg[2])
local STEP <const> = 5000 -- sends of one activation
local TTL_SECONDS <const> = 0.001

-- 200 bytes of JSON.
local PAYLOAD <const> = {
  amount = 1250, order = 48151623, customer = "sales_agent_17", subject = "order approved",
  state = "waiting",
  content = "the order is ready and waits for approval by the owner of the account, please now.",
}

society.config { mailbox_max = 100000000, cpu_ms_max = 600000, memory_bytes_max = 2000000000 }

society.role {
  id = "worker", name = "Worker", prompt = "Handles messages, or sleeps.",
  behaviour = function(agent)
    if kind == 1 then
      agent:sleep(86400000)
    end
  end,
}

society.root {
  default = function(root, message)
    local from = message.payload.from
    local last = math.min(message_count, from + STEP - 1)
    if from == 1 then
      assert(root:spawn_agent("worker", {
        objective = "work", constraints = {}, inputs = "none", outputs = "none",
        completion_criteria = "none",
      }, { id = "worker" }))
      root:send_message { to = "worker", payload = {} } -- it sleeps on this one
    end
    for i = from, last do
      assert(root:send_message { to = "worker", payload = PAYLOAD,
        ttl_seconds = kind == 1 and TTL_SECONDS or nil,
        dedupe_key = kind == 2 and ("order-48151623-%08d"):format(i) or nil })
    end
    if last < message_count then
      root:send_message { to = "root", payload = { from = last + 1 } }
    end
  end,
}

society.main(function(user)
  user:send_message { to = "root", payload = { from = 1 } }
end)
