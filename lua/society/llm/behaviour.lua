--- behaviour: an agent that thinks with a model. society.role{ behaviour = "llm" }.
--
-- A message is shown to the model with all that was said before; the model calls tools,
-- is told what came of them, and goes on until it has nothing more to call. What it says
-- then is the reply, if it sent none. Everything it does is an effect, so it goes on after
-- kill -9 where it was. What stops it, stops it with a name: the parent is told, and what
-- was said and done stays.

local guards = require("society.llm.guards")
local settings = require("society.llm.settings")
local talks = require("society.llm.talk")
local toolbox = require("society.llm.toolbox")
local window = require("society.llm.window")

local CONTEXT_TOKENS = 100000

local function interrupts()
  return settings.on_message == "interrupt"
end

-- Messages that came meanwhile go to the model, too.
local function hear_more(agent, talk)
  while true do
    local message = agent:receive({ timeout_ms = 0 })
    if not message then
      return
    end
    talk:hear(message)
  end
end

local function ask(agent, talk, system, tools)
  local units = talk:units()
  local kept = agent:choose(units, settings.context_tokens or CONTEXT_TOKENS)
  return agent:chat({ system = system, history = window.ranges(units, kept), tools = tools,
    interruptible = interrupts() })
end

-- Calls the tools the model wants. Each call is answered, also those that a guard keeps
-- from being made.
local function call_tools(agent, talk, answer, by_name, guard)
  local stop, worked = nil, false
  for _, call in ipairs(answer.tool_calls) do
    stop = stop or guard:before_call(call)
    local result, ok
    if stop then
      result, ok = stop.message, false
    else
      result, ok = toolbox.call(call, by_name, agent, talk)
    end
    worked = worked or ok
    talk:say({ role = "tool", tool_call_id = call.id, content = result })
  end
  guard:after_round(worked)
  return stop
end

-- Thinks until the model has nothing more to call.
-- @treturn[1] string what it says at last
-- @treturn[2] nil
-- @treturn[2] table what stopped it
local function think(agent, talk)
  local system = agent:context()
  local tools, by_name = toolbox.of(agent.role.id)
  local guard = guards.new(agent:now())
  while true do
    if interrupts() then
      hear_more(agent, talk)
    end
    local stop = guard:before_round(agent:now())
    if stop then
      return nil, stop
    end
    local answer, err = ask(agent, talk, system, tools)
    if answer then
      talk:say({ role = "assistant", content = answer.content, tool_calls = answer.tool_calls })
      if not answer.tool_calls then
        return answer.content
      end
      stop = call_tools(agent, talk, answer, by_name, guard)
      if stop then
        return nil, stop
      end
    elseif err.error ~= "interrupted" then
      return nil, err
    end
  end
end

-- Tells the parent why it stopped, and who gave the task, unless the reply does.
local function give_up(agent, message, talk, err)
  local reason = err.guard or err.error
  local task = talk:find_task()
  agent:log("warn", "the agent was stopped: " .. reason, { guard = reason, message = err.message })
  local told = not message.reply_to and message.from or nil
  if task and not talk.answered[task.id] then
    agent:fail(task, { error = "stopped", guard = reason, message = err.message })
    told = task.from
  end
  local parent = agent.parent or "user"
  if told ~= parent then
    agent:send_message({ to = parent, type = "status_report", payload = {
      text = ("%s was stopped (%s): %s"):format(agent.id, reason, err.message or ""),
      status = "stopped", guard = reason, agent = agent.id,
    } })
  end
end

return function(agent, message)
  local talk = talks.open(agent, message)
  local text, err = think(agent, talk)
  if not text then
    give_up(agent, message, talk, err)
    if not talk:find_task() then
      return { error = "stopped", guard = err.guard or err.error, message = err.message }
    end
  elseif text ~= "" and talk:open_question(message.from) then
    return text
  end
end
