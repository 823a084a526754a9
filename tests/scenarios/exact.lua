-- Jobs whose outcome is fixed: whatever faults strike, each ends as its number says, and
-- main fails if one does not. `-- kept` keeps all history.
--
-- Root draws a number for each job, so that seeds differ in what their jobs do, and gives
-- each to an agent of its own. The ids of an agent's helpers start with its own id. Waits
-- that must not end early are longer than any clock is off.

local society = require("society")
local jobs = require("jobs")
local helpers = require("laws_helpers")

local IS_KEPT = (...) == "kept"
local JOBS = 16 -- every kind once, then some at random
local BRIEF, LONG_MS, expect = helpers.BRIEF, helpers.LONG_MS, helpers.expect

society.config {
  name = "exact", history = IS_KEPT and "full" or "none",
  llm = {
    provider = "scripted", verbs = {},
    answers = function(call)
      return { content = "heard " .. call.messages[#call.messages].content }
    end,
  },
}

-- Children do what they are told. A number divisible by three fails its task the first
-- time, one divisible by five asks a child of its own, with the number after it.

local function what_child_does(agent, message)
  local number, asks = message.payload.number, message.payload.asks
  agent:sleep(number * 7 % 50)
  if number % 3 == 0 and message.attempt == 1 then
    agent:fail(message, "again", { retryable = true })
  elseif number % 5 == 0 then
    local child = assert(agent:spawn_agent("child", BRIEF, {
      message = { number = number + 1, asks = asks }, wait = true,
    }))
    agent:complete(message, { value = child.result.output.value + 1 })
  elseif asks then
    local answer = assert(agent:escalate { title = "number " .. number })
    local values = { approve = 2, modify = (answer.changes or {}).value, reject = 3 }
    agent:complete(message, { value = values[answer.decision] })
  else
    agent:complete(message, { value = number * 2 })
  end
end

local function decision_of(number)
  return ({ [0] = "approve", "modify", "reject" })[number % 3]
end

-- The outcome of the task of a number, as `what_child_does` and main expect it.
local function value_of(number, asks)
  if number % 5 == 0 then
    return value_of(number + 1, asks) + 1
  elseif not asks then
    return number * 2
  end
  return ({ approve = 2, modify = number * 10, reject = 3 })[decision_of(number)]
end

-- A child also records the tags of its messages, in the order in which it handles them.
local function note_tag(agent, message)
  local payload = message.payload
  agent.state.seen = (agent.state.seen or "") .. payload.tag
  if payload.sleep_ms then
    agent:sleep(payload.sleep_ms)
  end
  if payload.tell then
    assert(agent:send_message {
      to = payload.tell, type = "status_report", payload = { status = "noted", tag = payload.tag },
    })
  end
  return { seen = agent.state.seen }
end

society.role {
  id = "child", name = "child", prompt = "does what it is told",
  behaviour = {
    task_assignment = what_child_does,
    general = note_tag,
    task = function(agent, message)
      agent:sleep(message.payload.action == "cancel" and 1 or LONG_MS) -- until it is cancelled
    end,
    abort = function() end,
    checkpoint_request = function(agent)
      agent:sleep(agent.id:byte(-1) % 7 * 10)
      return { who = agent.id }
    end,
  },
}

local function born(agent, name)
  return assert(agent:spawn_agent("child", BRIEF, { id = agent.id .. name })).id
end

local function send_tag(agent, to, tag, options)
  options = options or {}
  options.to, options.payload = to, options.payload or {}
  options.payload.tag = tag
  assert(agent:send_message(options))
end

-- All the tags that `child` saw, including this last one.
local function last_tag(agent, child, options)
  options = options or {}
  options.to, options.payload, options.timeout_ms = child, { tag = "!" }, LONG_MS
  return assert(agent:request(options)).payload.seen
end

local function do_task(agent, number, asks)
  local child = assert(agent:spawn_agent("child", BRIEF, {
    message = { number = number, asks = asks }, wait = true,
  }))
  expect(value_of(number, asks), child.result.output.value, "the value of " .. number)
end

local KINDS = { "task", "decision", "checkpoint", "dedupe", "drain", "pause", "cancel", "chat",
  "delay", "introduction", "timeout", "ack" }
local DO = {}

function DO.task(agent, number) do_task(agent, number, false) end

function DO.decision(agent, number) do_task(agent, number, true) end

function DO.checkpoint(agent)
  local children = {}
  for i = 1, 3 do
    children[i] = born(agent, "-child" .. i)
  end
  local barrier = assert(agent:checkpoint { agents = children, timeout_ms = LONG_MS })
  expect(0, #barrier.missing, "missing at the checkpoint")
  for _, child in ipairs(children) do
    expect(child, barrier.responses[child].who, "who answered the checkpoint")
  end
end

function DO.dedupe(agent)
  local child = born(agent, "-child")
  for i = 1, 3 do
    send_tag(agent, child, "x", { dedupe_key = agent.id, delay_ms = i * 10 })
    agent:sleep(5)
  end
  expect("x!", last_tag(agent, child, { delay_ms = 100 }), "what came of three that are one")
end

-- A terminated agent first handles what it has.
function DO.drain(agent)
  local child = born(agent, "-child")
  for i = 1, 3 do
    send_tag(agent, child, tostring(i), { payload = { sleep_ms = 20, tell = agent.id } })
  end
  agent:terminate(child)
  for i = 1, 3 do
    local report = assert(agent:receive {
      from = child, type = "status_report", timeout_ms = LONG_MS,
    })
    expect(tostring(i), report.payload.tag, "mail of the terminated")
  end
end

function DO.pause(agent)
  local child = born(agent, "-child")
  assert(agent:pause(child, { subtree = true }))
  for i = 1, 3 do
    send_tag(agent, child, tostring(i), { priority = i == 3 and "urgent" or nil })
  end
  agent:sleep(200)
  assert(agent:resume(child))
  expect("312!", last_tag(agent, child, { priority = "low" }), "the order after a pause")
end

-- By a call, or by a message in either of its forms.
function DO.cancel(agent, number)
  local child = born(agent, "-child")
  assert(agent:send_message {
    to = child, type = "task", payload = { task_id = agent.id, requirement = "r" },
  })
  agent:sleep(number % 4 * 20)
  if number % 3 == 0 then
    expect("cancelled", assert(agent:cancel(agent.id, "no")).state, "the task")
  else
    assert(agent:send_message {
      to = child, type = number % 3 == 1 and "abort" or "task",
      payload = { task_id = agent.id, action = "cancel", reason = "no" },
    })
  end
  expect("!", last_tag(agent, child), "what is handled after a task was cancelled")
end

function DO.chat(agent, number)
  local question = "number " .. number
  local answer = assert(agent:chat {
    messages = { { role = "user", content = question } }, timeout_ms = LONG_MS,
  })
  expect("heard " .. question, answer.content, "the answer of the model")
end

-- Each comes once. The order is not checked: a host that was down finds all of them due.
function DO.delay(agent)
  local child = born(agent, "-child")
  for i = 1, 4 do
    send_tag(agent, child, tostring(i), { delay_ms = (5 - i) * 100 })
  end
  local tags = {}
  for tag in last_tag(agent, child, { delay_ms = 3000000 }):gmatch(".") do
    tags[#tags + 1] = tag
  end
  table.sort(tags)
  expect("!1234", table.concat(tags), "what came late")
end

function DO.introduction(agent, number)
  local contact = assert(agent:request_introduction {
    to = "root", reason = "r", required_capability = "oracle", timeout_ms = LONG_MS,
  })
  local answer = assert(agent:request {
    to = contact.id, payload = { number = number }, timeout_ms = LONG_MS,
  })
  expect(number, answer.payload.number, "what the oracle says")
end

function DO.timeout(agent)
  local child = born(agent, "-child")
  expect("!", last_tag(agent, child), "the first tag")
  local _, late = agent:request {
    to = child, payload = { tag = "b", sleep_ms = 4000000 }, timeout_ms = 1000,
  }
  expect("timeout", late and late.error, "the request that takes too long")
  agent:terminate(child, { force = true })
  local _, gone = agent:request { to = child, payload = { tag = "c" } }
  if not gone or gone.error ~= "agent_not_found" then -- as soon as it is forgotten
    expect("agent_stopped", gone and gone.error, "the request to one that has ended")
  end
end

-- What was processed has left its mark; what is received may not have.
function DO.ack(agent, number)
  local child = born(agent, "-child")
  local options = { delay_ms = number % 3 * 50, wait_ack = "processed", timeout_ms = LONG_MS }
  send_tag(agent, child, "1", options)
  expect("1", society.agent(child).state.seen, "what the child has processed")
  options.wait_ack, options.payload = "received", { sleep_ms = 100 }
  send_tag(agent, child, "2", options)
  expect("12!", last_tag(agent, child), "what the child has received")
end

society.role {
  id = "oracle", name = "oracle", prompt = "knows",
  interface_spec = { services = "oracle", input_format = "i", output_format = "o" },
  behaviour = function(_, message) return { number = message.payload.number } end,
}

jobs.declare(DO, { default = function() end })

society.root(function(root, message)
  if message.payload.text == "go" then
    assert(root:spawn_agent("oracle", BRIEF, { id = "oracle" }))
    jobs.give(root, KINDS, JOBS)
  elseif message.type == "general" then
    jobs.note(root, message)
  end
end)

-- A decision is final: it is asked once, and answered once.
local function decide(user, item, decided)
  local number = math.tointeger(tonumber(item.title:match("%d+")))
  local decision = decision_of(number)
  expect(nil, decided[item.id], item.title .. " is asked again")
  decided[item.id] = decision
  local answer = assert(user:decide(item.id, {
    decision = decision, changes = decision == "modify" and { value = number * 10 } or nil,
  }))
  expect(true, answer.delivered, "the decision")
end

society.main(function(user)
  local decided = {}
  jobs.wait(user, JOBS, 60000, 300, function()
    for _, item in ipairs(society.inbox()) do
      decide(user, item, decided)
    end
    jobs.expect_decided(user, decided)
  end)
end)
