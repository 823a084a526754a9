-- Agents outside that are hard to reach, and mailboxes that are full: letters that are noticed
-- only after many tries, an agent that writes but never acks, urgent letters behind others,
-- an answer after its time-out, lines for a mailbox without space. The outcome of each job is
-- fixed; main fails if one does not come to it. Words after `--` are the only kinds of jobs:
--
--   society sim tests/scenarios/doors.lua --seeds 1..60 -- mute

local society = require("society")
local jobs = require("jobs")
local helpers = require("laws_helpers")

local JOBS = 8 -- every kind once, then some at random
local LINES = 8
local NEVER = 1000000 -- more often than anything is handed out
local BRIEF, LONG_MS = helpers.BRIEF, helpers.LONG_MS
local ask, expect, tell = helpers.ask, helpers.expect, helpers.tell

society.config { name = "doors", mailbox_max = 24 }

society.role { id = "far", name = "far", prompt = "lives outside", behaviour = "external" }

local DO = {}

local function spawn_far(agent)
  return assert(agent:spawn_agent("far", BRIEF, { id = agent.id .. "-far" })).id
end

local function receive(agent, from)
  return assert(agent:receive { from = from, type = "general", timeout_ms = LONG_MS }).payload
end

-- A letter that comes back as a message when it is noticed.
local function write(agent, far, tag, options)
  options = options or {}
  tell(agent, far, { deaf = options.deaf, echo = { text = tag } }, {
    requires_ack = true, priority = options.priority,
  })
end

-- It is sent again until it is noticed, and after every alarm that root decides about. Without
-- an ack the alarm comes before that of silence, except when time is lost.
function DO.deaf(agent)
  local far = spawn_far(agent)
  write(agent, far, "back", { deaf = 30 })
  expect("back", receive(agent, far).text, "what came back")
  expect(true, ask(agent, "root", { unacked = far }).count > 0, "an alarm for want of an ack")
  agent:terminate(far, { force = true })
end

-- It shows that it lives, but owes acks; nobody decides about it until the last one is late.
function DO.mute(agent)
  local far = spawn_far(agent)
  tell(agent, far, { lines = LINES }, { requires_ack = true })
  expect("line", receive(agent, far).text, "the first line")
  ask(agent, "root", { leave = far })
  for _ = 1, 2 do
    tell(agent, far, { deaf = NEVER }, { requires_ack = true })
  end
  for _ = 2, LINES / 2 do
    expect("line", receive(agent, far).text, "a line")
  end
  agent:sleep(200000)
  write(agent, far, "late")
  agent:sleep(60000)
  ask(agent, "root", { mind = far })
  expect("late", receive(agent, far).text, "what is acked")
  agent:sleep(600000)
  agent:terminate(far, { force = true })
end

-- Letters wait for an agent that is held, and leave in the order of their priority.
function DO.urgent(agent)
  local far = spawn_far(agent)
  assert(agent:pause(far))
  for _, priority in ipairs { "low", "normal", "urgent", "high", "normal" } do
    write(agent, far, priority, { priority = priority })
    agent:sleep(100)
  end
  assert(agent:resume(far))
  for _ = 1, 5 do
    receive(agent, far)
  end
  agent:sleep(600000)
  agent:terminate(far, { force = true })
end

-- The answer comes after the time-out, unless a restart hands the request out before that, and
-- to nobody else.
function DO.late(agent)
  local far = spawn_far(agent)
  local _, err = agent:request {
    to = far, payload = { deaf = 1 }, requires_ack = true, timeout_ms = 2000,
  }
  expect("timeout", err and err.error or "timeout", "a request that is noticed too late")
  write(agent, far, "in time")
  expect("in time", receive(agent, far).text, "what came back")
  agent:sleep(600000)
  agent:terminate(far, { force = true })
end

-- Lines wait for space in the mailbox, and all of them come.
function DO.full(agent)
  local far, count = spawn_far(agent), 0
  tell(agent, far, { lines = LINES }, { requires_ack = true })
  while agent:send_message { to = agent.id, payload = { text = "own" } } do
    count = count + 1
  end
  expect(true, count > 0, "space in the mailbox")
  agent:sleep(120000)
  for _ = 1, count do
    expect("own", receive(agent, agent.id).text, "an own message")
  end
  for _ = 1, LINES / 2 do
    expect("line", receive(agent, far).text, "a line")
  end
  agent:sleep(600000)
  agent:terminate(far, { force = true })
end

local KINDS = { "deaf", "mute", "urgent", "late", "full" }
if ... then
  KINDS = { ... }
end

jobs.declare(DO)

society.root {
  alert = function(root, message)
    local who = message.payload.agent
    if message.payload.reason == "ack" then
      root.state["unacked " .. who] = (root.state["unacked " .. who] or 0) + 1
    end
    if message.payload.alert_type == "unresponsive" and not root.state["left " .. who] then
      root:resolve(who, "restart")
    end
  end,
  general = function(root, message)
    if message.payload.text == "go" then
      jobs.give(root, KINDS, JOBS)
    elseif message.payload.unacked then
      return { count = root.state["unacked " .. message.payload.unacked] or 0 }
    elseif message.payload.leave then
      root.state["left " .. message.payload.leave] = true
      return {}
    elseif message.payload.mind then
      root.state["left " .. message.payload.mind] = nil
      root:resolve(message.payload.mind, "restart")
      return {}
    end
    jobs.note(root, message)
  end,
}

society.main(function(user)
  jobs.wait(user, JOBS, 60000, 400)
end)
