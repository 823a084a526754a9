-- Hosts: one host writes to the workers of another as fast as the link takes it.
--
--     hosts.lua sender PEER WAITING     root sends; so many messages may wait for each worker
--     hosts.lua receiver                workers take what comes; the sleeper takes nothing
--
-- A message { start = true } to the sender's root begins it, { start = true, stuck = true } with
-- one message of each hundred to the sleeper, whose mailbox is soon full. { meet = true } makes
-- it know the other root, { alone = N } send so many messages there, one at a time.

local society = require("society")

local WORKERS <const> = 100
local STEP <const> = 100 -- sends of one activation
local PAUSE_MS <const> = 1 -- while mailboxes are full

-- 200 bytes of JSON.
local PAYLOAD <const> = {
  amount = 1250, order = 48151623, customer = "sales_agent_17", subject = "order approved",
  state = "waiting",
  content = "the order is ready and waits for approval by the owner of the account, please now.",
}

local kind, peer = arg[1], arg[2]

society.config { name = "hosts", cpu_ms_max = 600000 }
if kind == "sender" then
  society.config { mailbox_max = tonumber(arg[3]) }
end

society.role {
  id = "worker", name = "Worker", prompt = "Takes what comes.",
  behaviour = function() end,
}

society.role {
  id = "sleeper", name = "Sleeper", prompt = "Takes nothing.",
  behaviour = function(agent)
    agent:sleep(86400000)
  end,
}

local function address_of(i)
  return ("w%d@%s"):format((i - 1) % WORKERS + 1, peer)
end

-- Sends to one worker after another; a full mailbox ends the step, but not that of the sleeper.
local function send_some(root, from, is_stuck)
  if is_stuck then
    local sent, err = root:send_message { to = "sleeper@" .. peer, payload = PAYLOAD }
    assert(sent or err.error == "mailbox_full", err and err.message)
  end
  for i = from, from + STEP - 1 do
    local _, err = root:send_message { to = address_of(i), payload = PAYLOAD }
    if err then
      assert(err.error == "mailbox_full", err.message)
      root:sleep(PAUSE_MS)
      return i
    end
  end
  return from + STEP
end

local BRIEF <const> = {
  objective = "take", constraints = {}, inputs = "orders", outputs = "none",
  completion_criteria = "none",
}

local function hire(root)
  for i = 1, WORKERS do
    assert(root:spawn_agent("worker", BRIEF, { id = "w" .. i }))
  end
  assert(root:spawn_agent("sleeper", BRIEF, { id = "sleeper" }))
end

local function meet(root)
  for i = 1, WORKERS do
    assert(root:add_contact { id = address_of(i) })
  end
  assert(root:add_contact { id = "sleeper@" .. peer })
end

-- One message after the other, each when the other host has said that the last one is durable.
local function send_alone(root, count)
  for _ = 1, count do
    assert(root:send_message { to = "root@" .. peer, payload = PAYLOAD, wait_ack = "received" })
  end
end

society.root {
  default = function(root, message)
    local step = message.payload
    if step.hire then
      hire(root)
    elseif step.meet then
      assert(root:add_contact { id = "root@" .. peer })
    elseif step.alone then
      send_alone(root, step.alone)
    elseif step.start then
      meet(root)
      root:send_message { to = "root", payload = { from = 1, stuck = step.stuck } }
    elseif step.from then
      local from = send_some(root, step.from, step.stuck)
      root:send_message { to = "root", payload = { from = from, stuck = step.stuck } }
    end
    return step.echo
  end,
}

society.main(function(user)
  if kind == "receiver" then
    user:send_message { to = "root", payload = { hire = true } }
  end
end)
