-- Ring: workers in a circle pass messages on for ever.
--
--     ring.lua WORKERS MESSAGES     so many messages go round
--
-- Each worker knows the one spawned before it, by its brief. The last one writes
-- to the first, so that the first knows it too and the circle is closed; then the
-- messages are sent.

local society = require("society")

society.config { cpu_ms_max = 600000, memory_bytes_max = 2000000000 } -- for births by the thousand

local worker_count = tonumber(arg[1])
local message_count = tonumber(arg[2])
local STEP <const> = 5000 -- spawns or sends of one activation

-- 200 bytes of JSON.
local PAYLOAD <const> = {
  amount = 1250, order = 48151623, customer = "sales_agent_17", subject = "order approved",
  state = "waiting",
  content = "the order is ready and waits for approval by the owner of the account, please now.",
}

local FIRST <const> = "w1"
local LAST <const> = "w" .. worker_count

local next_of = { [FIRST] = LAST }
for i = 2, worker_count do
  next_of["w" .. i] = "w" .. i - 1
end

society.role {
  id = "worker", name = "Worker", prompt = "Passes on what it gets.",
  behaviour = {
    status_report = function(agent)
      if agent.id == LAST then
        assert(agent:send_message { to = FIRST, type = "status_report", payload = { text = "hi" } })
      else
        assert(agent:send_message { to = "root", payload = { send = 1 } })
      end
    end,
    default = function(agent, message)
      message.payload.self_introduction = nil -- of who wrote first; the six fields go on
      agent:send_message { to = next_of[agent.id], payload = message.payload }
    end,
  },
}

local function collaborators_of(i)
  local list = {}
  if i > 1 then
    list[1] = { agentId = "w" .. i - 1, role = "Worker", description = "takes what is passed on" }
  end
  if i == worker_count then
    list[#list + 1] = { agentId = FIRST, role = "Worker", description = "closes the circle" }
  end
  return list
end

local function spawn_some(root, from)
  local last = math.min(worker_count, from + STEP - 1)
  for i = from, last do
    assert(root:spawn_agent("worker", {
      objective = "pass on", constraints = {}, inputs = "orders", outputs = "orders",
      completion_criteria = "none", collaborators = collaborators_of(i),
    }, { id = "w" .. i }))
  end
  if last < worker_count then
    return { spawn = last + 1 }
  end
  assert(root:send_message { to = LAST, type = "status_report", payload = { text = "hi" } })
end

-- The messages begin far from each other, so that all workers are in use.
local function send_some(root, from)
  local last = math.min(message_count, from + STEP - 1)
  local stride = math.max(1, worker_count // message_count)
  for i = from, last do
    assert(root:send_message { to = "w" .. i * stride % worker_count + 1, payload = PAYLOAD })
  end
  return last < message_count and { send = last + 1 } or nil
end

society.root {
  default = function(root, message)
    local step = message.payload
    local following
    if step.spawn then
      following = spawn_some(root, step.spawn)
    else
      following = send_some(root, step.send)
    end
    if following then
      root:send_message { to = "root", payload = following }
    end
  end,
}

society.main(function(user)
  user:send_message { to = "root", payload = { spawn = 1 } }
end)
