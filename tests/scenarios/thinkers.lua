-- Agents that think while others get in their way: a task is cancelled in the middle of a tool
-- call, people take their time, many call a model at once under one limit, two talk to each
-- other and get nowhere. The outcome of each job is fixed; main fails if one does not come to
-- it. The model is strict: it wants every tool call answered. Words after `--` are the only
-- kinds of jobs.

local society = require("society")
local jobs = require("jobs")
local helpers = require("laws_helpers")

local JOBS = 6 -- every kind once, then some at random
local WALL_MS = 20000000 -- longer than any clock is off
local CALLERS, TOKENS, LIMIT = 12, 4000, 20000
local BRIEF, LONG_MS = helpers.BRIEF, helpers.LONG_MS
local ask, expect, tell = helpers.ask, helpers.expect, helpers.tell

-- Whether every tool call of the conversation is followed by its answer.
local function is_whole(messages)
  local open = {}
  for _, message in ipairs(messages) do
    if message.role == "tool" then
      open[message.tool_call_id] = nil
    elseif next(open) then
      return false
    end
    for _, call in ipairs(message.tool_calls or {}) do
      open[call.id] = true
    end
  end
  return next(open) == nil
end

local function call(name, arguments)
  return { tool_calls = { { name = name, arguments = arguments or {} } } }
end

-- What the model says, by a word of the last message.
local SAYS = {
  linger = function() return call("linger") end,
  person = function() return call("ask_person") end,
  count = function()
    return { content = "counted", delay_ms = 1000,
      usage = { input_tokens = TOKENS - 100, output_tokens = 100 } }
  end,
  talk = function(request)
    local other = request.agent:gsub("%-%a+$", { ["-one"] = "-two", ["-two"] = "-one" })
    return call("send_message", { to = other, payload = { text = "let us talk" } })
  end,
}

local function answer(request)
  local last = request.messages[#request.messages]
  if not is_whole(request.messages) then
    return { content = "a call without its answer" }
  elseif last.role == "tool" then
    return { content = "heard", delay_ms = 1000 }
  end
  for word, say in pairs(SAYS) do
    if last.content:find(word, 1, true) then
      return say(request)
    end
  end
  return { content = "well" }
end

society.config {
  name = "thinkers",
  llm = {
    provider = "scripted", model = "m", answers = answer,
    guards = { talk = 12, wall_ms = WALL_MS }, limits = { task_tokens = LIMIT },
    tools = {
      { name = "linger", run = function(agent) agent:sleep(50000) end },
      { name = "ask_person", run = function(agent)
        return agent:escalate { title = "May I?", timeout_ms = LONG_MS }
      end },
    },
  },
}

society.role { id = "thinker", name = "thinker", prompt = "Think.", behaviour = "llm" }

society.role {
  id = "caller", name = "caller", prompt = "calls a model",
  behaviour = function(agent)
    agent:chat {
      messages = { { role = "user", content = "count " .. ("word "):rep(TOKENS) } },
      max_tokens = 100, timeout_ms = LONG_MS,
    }
  end,
}

local DO = {}

local function spawn(agent, name, role, known)
  local brief = { collaborators = known and {
    { agentId = known, role = "thinker", description = "d" },
  } or nil }
  for key, value in pairs(BRIEF) do
    brief[key] = value
  end
  return assert(agent:spawn_agent(role or "thinker", brief, { id = agent.id .. name })).id
end

-- What was called when the task ended is never answered.
function DO.abandoned(agent)
  local thinker = spawn(agent, "-thinker")
  tell(agent, thinker, { task_id = agent.id, requirement = "linger", description = "linger" },
    { type = "task", task_id = agent.id })
  agent:sleep(agent:random(20) * 500)
  agent:cancel(agent.id, "no")
  local reply = ask(agent, thinker, { text = "and now?" })
  expect("well", reply.text, "an answer after a call that was given up")
end

-- The time that the person takes is not the agent's.
function DO.patient(agent)
  local reply = ask(agent, spawn(agent, "-thinker"), { text = "ask the person" })
  expect("heard", reply.text, "an answer after a day's wait")
end

-- The limit of a task holds for all who work on it at once: one call may pass it.
function DO.limited(agent)
  for i = 1, CALLERS do
    tell(agent, spawn(agent, "-caller" .. i, "caller"), { text = "go" }, { task_id = agent.id })
  end
  agent:sleep(WALL_MS)
  local used = 0
  for _, row in ipairs(society.usage()) do
    used = used + (row.task_id == agent.id and row.input_tokens + row.output_tokens or 0)
  end
  expect(true, used > 0 and used < LIMIT + TOKENS, ("%d tokens of %d"):format(used, LIMIT))
end

-- They are stopped, so the run ends.
function DO.endless(agent)
  local one = spawn(agent, "-one")
  spawn(agent, "-two", "thinker", one)
  tell(agent, agent.id .. "-two", { text = "talk" })
end

local KINDS = { "abandoned", "patient", "limited", "endless" }
if ... then
  KINDS = { ... }
end

jobs.declare(DO, { default = function() end })

society.root {
  general = function(root, message)
    if message.payload.text == "go" then
      jobs.give(root, KINDS, JOBS)
    end
    jobs.note(root, message)
  end,
  default = function() end,
}

society.main(function(user)
  jobs.wait(user, JOBS, WALL_MS + 1, 100, function()
    for _, item in ipairs(society.inbox()) do
      assert(user:decide(item.id, { decision = "approve" }))
    end
  end)
end)
