-- Agents that do at random everything mixed.lua does and more, including tasks, holds,
-- questions, models and outside agents, most of it at the wrong time or to the wrong agent.
-- Only the checkers judge. Words of SETTINGS after `--` configure the society:
--
--   society sim tests/scenarios/wild.lua --seeds 1..300 -- narrow open

local society = require("society")
local deeds = require("wild_deeds")

local config = { name = "wild", task_limit_ms = 3000, dedupe_window_ms = 20000 }

local SETTINGS = {
  narrow = function() -- limits that are reached
    config.mailbox_max, config.hops_max, config.no_progress_max = 6, 40, 12
    config.depth_max, config.children_max, config.agents_max = 4, 7, 12
  end,
  few_effects = function() config.effects_max = 200 end, -- fewer than the lines of a long log
  kept = function() config.history = "full" end,
  open = function() society.policy("contacts", "open") end,
  adopted = function()
    society.policy("supervision", "backoff", {
      children = "adopt", retries_max = 1, failures_max = 2,
    })
  end,
  confirmed = function() society.policy("introductions", "confirm") end,
  victim = function() -- of a deadlock: not the default one, in large cycles nobody who exists
    society.policy("deadlock", {
      kind = "deadlock", version = 1, defaults = {}, examples = {},
      victim = function(request)
        local last = request.cycle[#request.cycle]
        return #request.cycle > 2 and last or last.id
      end,
    })
  end,
}

for _, word in ipairs { ... } do
  assert(SETTINGS[word], "no setting is called " .. word)()
end

-- A model calls a tool every third time.
config.llm = { provider = "scripted", answers = function(call)
  local count = #(call.messages or {})
  if count % 3 == 1 then
    return { tool_calls = { { name = "send_message", arguments = {
      to = "root", payload = { text = "from a model", depth = deeds.DEPTH },
    } } } }
  end
  return { content = "thought " .. count }
end }

society.config(config)

local DEPTH, either, once_in, soon = deeds.DEPTH, deeds.either, deeds.once_in, deeds.soon
local BRIEF = {
  objective = "o", constraints = { "c" }, inputs = "i", outputs = "o", completion_criteria = "c",
}

local function act(agent, message)
  local depth = type(message.payload) == "table" and message.payload.depth
  agent.state.count = (agent.state.count or 0) + 1
  if type(depth) == "number" and depth < DEPTH then
    for _ = 1, agent:random(2) do
      either(agent, deeds.list)(agent, deeds.someone(agent), { depth = depth + 1 })
    end
  end
  if not once_in(agent, 3) then
    return { depth = DEPTH, count = agent.state.count }
  end
end

-- How a task ends. One that is left alone reaches its limit.
local ENDS = {
  function(agent, message) agent:complete(message, { ok = true }) end,
  function(agent, message) agent:fail(message, "no") end,
  function(agent, message) agent:fail(message, { code = 3 }, { retryable = true }) end,
  function() error("trouble with a task") end,
  function() return { depth = DEPTH } end,
  function() end,
}

local function work(agent, message)
  local finish = either(agent, ENDS)
  act(agent, message)
  if once_in(agent, 2) then
    agent:sleep(soon(agent, 1500))
  end
  return finish(agent, message)
end

-- Answers to introduction requests: immediately, late, with a refusal, or none.
local ANSWERS = {
  function(agent, message) agent:introduce(message, { target = deeds.someone(agent) }) end,
  function(agent, message) agent:decline(message, "no") end,
  function(agent, message)
    agent:sleep(soon(agent))
    agent:introduce(message, { target = deeds.someone(agent), usage_hint = "h" })
  end,
  function() end,
}

local function answer_introduction(agent, message)
  either(agent, ANSWERS)(agent, message)
end

society.role {
  id = "worker", name = "worker", prompt = "works",
  interface_spec = { services = "work", input_format = "i", output_format = "o", examples = {} },
  behaviour = { default = act, task = work, task_assign = work, task_assignment = work },
}

-- The host answers introduction requests for workers; a broker answers itself.
society.role {
  id = "broker", name = "broker", prompt = "knows others",
  behaviour = {
    default = act, task = work, task_assign = work, task_assignment = work,
    introduction_request = answer_introduction,
  },
}

society.role { id = "thinker", name = "thinker", prompt = "thinks", behaviour = "llm" }
society.role { id = "far", name = "far", prompt = "lives outside", behaviour = "external" }

local FIRST = { "worker", "worker", "broker", "far" }

local function begin(root)
  for i, role in ipairs(FIRST) do
    root:spawn_agent(role, BRIEF, { id = "w" .. i }) -- refused except the first time
    root:send_message { to = "w" .. i, payload = { depth = root:random(0, 1) } }
  end
end

local function note(root)
  root.state.noted = (root.state.noted or 0) + 1
end

society.root {
  delivery_failed = note, status_report = note, task_completion = note, result = note,
  task_complete = note, task = work, task_assign = work,
  alert = function(root, message)
    note(root)
    if message.payload.alert_type == "unresponsive" then
      deeds.resolve(root, message.payload.agent)
    end
  end,
  default = function(root, message)
    if message.from == "user" then
      begin(root)
    end
    return act(root, message)
  end,
}

-- What people do to the society. They do not always answer.
local ORDERS = {
  function(user) user:request { to = "root", payload = { depth = 1 }, timeout_ms = 4000 } end,
  function(user) user:send_message { to = "root", payload = { depth = 1 } } end,
  function(user) user:checkpoint { payload = { depth = 1 }, timeout_ms = 3000 } end,
}

local function decide(user, item)
  local decision = either(user, { "approve", "modify", "reject", "none" })
  if decision ~= "none" then
    user:decide(item.id, {
      decision = decision, changes = decision == "modify" and { x = 1 } or nil,
    })
  end
end

society.main(function(user)
  for _ = 1, 4 do
    either(user, ORDERS)(user)
    user:sleep(user:random(2000))
    for _, item in ipairs(society.inbox()) do
      decide(user, item)
    end
    user:resume("All") -- otherwise what is held would keep the run from ending
  end
end)
