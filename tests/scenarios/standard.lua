--- The standard scenario: 50 agents, 500 messages, the common kinds of waiting.
--
-- Root leads seven teams of six workers. A lead gives each worker its share and answers its
-- question; workers write notes to the neighbour they were told about, sleep and report;
-- root receives the leads' reports, broadcasts, and asks everybody at a checkpoint. Two
-- names tell the checkers more than the journal does (core/check): a payload's `once` is
-- sent only once ever, `state.handled` counts what was handled.

local society = require("society")

local TEAMS, WORKERS = 7, 6
local NOTES = 5 -- from each worker to its neighbour
local LONG_MS = 1000000000 -- longer than any clock is off
local PRIORITIES = { "low", "normal", "high", "normal", "urgent" }

local function brief(collaborators)
  return {
    objective = "do one share of the work", constraints = { "once each" }, inputs = "notes",
    outputs = "a report", completion_criteria = "the report was sent",
    collaborators = collaborators,
  }
end

local function count(agent)
  agent.state.handled = (agent.state.handled or 0) + 1
end

local function report(agent, to, share)
  assert(agent:send_message({
    to = to, type = "status_report",
    payload = { status = "done", text = "done", share = share, once = agent.id .. "/report" },
  }))
end

-- Notes of different priority, one of them late, to the neighbour.
local function write_notes(agent, neighbour, chance)
  for i = 1, NOTES do
    assert(agent:send_message({
      to = neighbour, priority = PRIORITIES[(i + chance) % #PRIORITIES + 1],
      delay_ms = i == chance and 500 or nil,
      payload = { text = "a note", once = agent.id .. "/note/" .. i, n = i },
    }))
  end
end

local function work(agent, message)
  local share, neighbour = message.payload.share, message.payload.neighbour
  count(agent)
  if neighbour then
    write_notes(agent, neighbour, agent:random(8))
  end
  local answer = assert(agent:request({
    to = message.from, payload = { ask = share }, timeout_ms = LONG_MS,
  }))
  assert(answer.payload.answer == share * 2)
  if share == 3 then
    agent:sleep(50)
  end
  report(agent, message.from, share)
end

local function answer_checkpoint(agent)
  count(agent)
  return { handled = agent.state.handled }
end

society.role({
  id = "worker", name = "worker", prompt = "does a share",
  behaviour = {
    collaboration_request = work,
    broadcast = count,
    checkpoint_request = answer_checkpoint,
    default = function(agent, message)
      count(agent)
      agent.state.notes = (agent.state.notes or 0) + (message.payload.n or 0)
    end,
  },
})

local function give_shares(agent)
  local before
  for i = 1, WORKERS do
    local id = agent.id .. "-" .. i
    assert(agent:spawn_agent("worker", brief(before and {
      { agentId = before, role = "worker", description = "takes notes" },
    }), { id = id }))
    assert(agent:send_message({
      to = id, type = "collaboration_request",
      payload = {
        reason = "a share", required_capability = "work", text = "work", share = i,
        neighbour = before, once = id .. "/share",
      },
    }))
    before = id
  end
end

local function thank(agent)
  for i = 1, WORKERS do
    agent:send_message({
      to = agent.id .. "-" .. i, priority = "urgent",
      payload = { text = "thanks", once = agent.id .. "/thanks/" .. i },
    })
  end
end

society.role({
  id = "lead", name = "lead", prompt = "leads a team",
  behaviour = {
    task_assignment = function(agent)
      count(agent)
      give_shares(agent)
    end,
    status_report = function(agent, message)
      local state = agent.state
      count(agent)
      state.reports = (state.reports or 0) + 1
      state.sum = (state.sum or 0) + message.payload.share
      if state.reports == WORKERS then
        thank(agent)
        report(agent, "root", state.sum)
      end
    end,
    broadcast = count,
    alert = count,
    checkpoint_request = answer_checkpoint,
    default = function(agent, message)
      count(agent)
      return { answer = message.payload.ask * 2 }
    end,
  },
})

-- Root's own request to itself is not counted before it is handled.
local function begin(root)
  for i = 1, TEAMS do
    assert(root:spawn_agent("lead", brief(), { id = "lead" .. i, message = brief() }))
  end
  for _ = 1, TEAMS do
    local message = assert(root:receive({ type = "status_report", timeout_ms = LONG_MS }))
    root.state.sum = (root.state.sum or 0) + message.payload.share
    count(root)
  end
  root:broadcast({ type = "broadcast", payload = { text = "all reports are in" } })
  root:sleep(1000) -- until the last late note is there
  return assert(root:checkpoint({ timeout_ms = LONG_MS }))
end

society.root({
  broadcast = count,
  alert = count, -- a jump of the clock makes teams seem late
  default = function(root)
    count(root)
    local barrier = begin(root)
    local handled = 0
    assert(#barrier.missing == 0)
    for _, answer in pairs(barrier.responses) do
      handled = handled + answer.handled
    end
    return { sum = root.state.sum, handled = handled }
  end,
})

society.main(function(user)
  local answer = assert(user:request({
    to = "root", payload = { text = "go" }, timeout_ms = LONG_MS,
  }))
  print("sum " .. answer.payload.sum, "handled " .. answer.payload.handled)
end)
