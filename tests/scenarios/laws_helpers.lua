-- The helpers of laws.lua: agents that do as they are told, and how to tell them.

local society = require("society")

local LONG_MS = 1000000000
local BRIEF = {
  objective = "o", constraints = { "c" }, inputs = "i", outputs = "o", completion_criteria = "c",
}

local function expect(wanted, got, what)
  if wanted ~= got then
    error(("%s: %s, not %s"):format(what, tostring(got), tostring(wanted)), 0)
  end
end

local function error_of(_, err)
  return err and err.error
end

-- A helper of `agent`, which may know another one from its birth.
local function spawn(agent, name, known)
  local brief = { collaborators = known and {
    { agentId = known, role = "helper", description = "d" },
  } or nil }
  for key, value in pairs(BRIEF) do
    brief[key] = value
  end
  return assert(agent:spawn_agent("helper", brief, { id = agent.id .. name })).id
end

local function tell(agent, to, payload, options)
  options = options or {}
  options.to, options.payload = to, payload
  return assert(agent:send_message(options))
end

local function ask(agent, to, payload, options)
  options = options or {}
  options.to, options.payload, options.timeout_ms = to, payload, LONG_MS
  return assert(agent:request(options)).payload
end

-- The society's own time in ms, which never goes back: that of the id of a new message.
-- agent:now() follows a clock that may be set back while the society is down.
local function time_of(agent, to)
  local id = tell(agent, to, { order = "note", tag = "t" }).messageId
  local day, hour, minute, second, ms =
    id:match("^msg_(%d%d%d%d%d%d%d%d)_(%d%d)(%d%d)(%d%d)_(%d%d%d)")
  local midnight = os.time {
    year = day:sub(1, 4), month = day:sub(5, 6), day = day:sub(7, 8), hour = 0,
  }
  return (midnight + hour * 3600 + minute * 60 + second) * 1000 + ms
end

-- Two helpers that know each other; the first one does as it is told.
local function pair(agent, payload)
  local first = spawn(agent, "-first")
  local second = spawn(agent, "-second", first)
  ask(agent, second, { order = "greet", to = first })
  payload.to = second
  tell(agent, first, payload)
  return first, second
end

-- How their waits ended must be among the names of `wanted`.
local function expect_ends(agent, first, second, wanted)
  for _, id in ipairs { first, second } do
    local ended = ask(agent, id, { order = "state" }).ended
    expect(true, wanted[ended] == true, "the wait of " .. id .. " ended: " .. tostring(ended))
  end
end

-- Every item is decided once, and stays so.
local function decide(user, item, decided)
  expect(nil, decided[item.id], item.title .. " is asked again")
  local number = math.tointeger(tonumber(item.title:match("%d+")))
  decided[item.id] = number % 2 == 0 and "approve" or "reject"
  expect(true, assert(user:decide(item.id, { decision = decided[item.id] })).delivered, "delivered")
end

-- What helpers are told to do, by the member `order` of a payload.
local ORDERS = {}

function ORDERS.note(agent, payload)
  print(agent.id, payload.tag)
  agent.state.seen = (agent.state.seen or "") .. payload.tag
  return { seen = agent.state.seen }
end

function ORDERS.sleep_until(agent, payload)
  if payload.time_ms > agent:now() then
    agent:sleep(payload.time_ms - agent:now())
  end
end

-- Takes the reports that are left.
function ORDERS.take_all(agent, payload)
  ORDERS.sleep_until(agent, payload)
  while agent:receive { type = "status_report", timeout_ms = 1 } do
    agent.state.taken = (agent.state.taken or 0) + 1
  end
end

-- A wait for `to` is over: a report ends its own, if it waits for one.
local function note_end(agent, to, err)
  agent.state.ended = err or "answered"
  tell(agent, to, { status = "free" }, { type = "status_report" })
  return { ended = agent.state.ended }
end

-- Waits for `to` in one way or another; what came of it is the answer.
function ORDERS.ask(agent, payload)
  local err = error_of(agent:request {
    to = payload.to, payload = { order = "nothing" }, timeout_ms = LONG_MS,
  })
  return note_end(agent, payload.to, err)
end

function ORDERS.receive(agent, payload)
  local err = error_of(agent:receive {
    from = payload.to, type = not payload.any and "status_report" or nil, timeout_ms = LONG_MS,
  })
  return note_end(agent, payload.to, err)
end

-- Waits for `to`, which a task for it is on its way to.
function ORDERS.promise(agent, payload)
  tell(agent, payload.to, { task_id = payload.task_id, requirement = "r" },
    { type = "task", delay_ms = LONG_MS })
  return ORDERS.receive(agent, payload)
end

function ORDERS.checkpoint(agent, payload)
  local err = error_of(agent:checkpoint {
    agents = { payload.to }, payload = { is_late = payload.is_late }, timeout_ms = LONG_MS,
  })
  return note_end(agent, payload.to, err)
end

function ORDERS.spawn(agent)
  local err = error_of(agent:spawn_agent("asks_parent", BRIEF, {
    id = agent.id .. "-child", message = { parent = agent.id }, wait = true,
  }))
  return { ended = err or "answered" }
end

-- Answers a request that went to somebody else.
function ORDERS.forge(agent, payload)
  agent.state.forged = error_of(agent:reply(payload.id, { text = "forged" })) or "accepted"
end

-- Lets another agent answer first.
function ORDERS.be_slow(agent, payload, message)
  tell(agent, payload.to, { order = "forge", id = message.id })
  agent:sleep(2000)
  return { text = "own" }
end

function ORDERS.greet(agent, payload)
  tell(agent, payload.to, { text = "hello" })
  return {}
end

-- A turn that may be rolled back: it removes a contact, and tells people.
function ORDERS.forget(agent, payload)
  assert(agent:remove_contact(payload.to))
  print(agent.id, "does not know", payload.to)
end

function ORDERS.nothing()
  return {}
end

function ORDERS.state(agent)
  local state = agent.state
  return { forged = state.forged, decisions = state.decisions, ended = state.ended }
end

function ORDERS.stop(agent)
  agent:sleep(300)
  agent:stop()
end

-- Asks the person and does not wait: the decision is a message.
function ORDERS.escalate(agent, payload)
  assert(agent:escalate { title = payload.title, wait = false })
end

-- An answer that is late is followed by a question.
local function answer_checkpoint(agent, message)
  if not message.payload.is_late then
    return {}
  end
  tell(agent, message.from, { checkpoint_id = message.payload.checkpoint_id },
    { type = "checkpoint_response", delay_ms = 5000 })
  ORDERS.ask(agent, { to = message.from })
end

society.role {
  id = "helper", name = "helper", prompt = "helps",
  behaviour = {
    general = function(agent, message)
      if message.payload.order then
        return ORDERS[message.payload.order](agent, message.payload, message)
      end
    end,
    decision = function(agent, message)
      agent.state.decisions = (agent.state.decisions or "") .. message.payload.decision
    end,
    checkpoint_request = answer_checkpoint,
    status_report = function() end,
  },
}

-- Does its task only after its parent, which waits for that, has answered.
society.role {
  id = "asks_parent", name = "asks_parent", prompt = "asks",
  behaviour = {
    task_assignment = function(agent, message)
      agent:request {
        to = message.payload.parent, payload = { order = "nothing" }, timeout_ms = LONG_MS,
      }
      agent:complete(message, { ok = true })
    end,
  },
}

return {
  BRIEF = BRIEF, LONG_MS = LONG_MS, ask = ask, decide = decide, expect = expect,
  expect_ends = expect_ends, pair = pair, spawn = spawn, tell = tell, time_of = time_of,
}
