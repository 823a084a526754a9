--- behaviour: an agent that thinks with a model. society.role{ behaviour = "llm" }.
--
-- A message is shown to the model with all that was said before; the model calls tools,
-- is told what came of them, and goes on until it has nothing more to call. What it says
-- then is the reply, if it sent none. Everything it does is an effect, so it goes on after
-- kill -9 where it was. What stops it, stops it with a name: the parent is told, and what
-- was said and done stays.

local guards = require("society.llm.guards")
local json = require("society.json")
local patience = require("society.llm.patience")
local retries = require("society.llm.retries")
local settings = require("society.llm.settings")
local talks = require("society.llm.talk")
local toolbox = require("society.llm.toolbox")
local usage = require("society.llm.usage")
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

-- What is left for the conversation, by estimate, once the prompt and the tools are in.
local function room_for_talk(system, tools)
  local taken = usage.estimate(system) + usage.estimate(json.encode(tools))
  return math.max(1, (settings.context_tokens or CONTEXT_TOKENS) - taken)
end

local function ask(agent, talk, head)
  local units = talk:units()
  local kept = agent:choose(units, head.tokens_left)
  return agent:chat({ system = head.system, history = window.ranges(units, kept),
    tools = head.tools, interruptible = interrupts() })
end

-- Calls the tools the model wants. Each call is answered, also those that a guard keeps
-- from being made.
local function call_tools(handle, talk, answer, by_name, guard)
  local stop, worked = nil, false
  for _, call in ipairs(answer.tool_calls) do
    stop = stop or guard:before_call(call)
    local result, ok
    if stop then
      result, ok = stop.message, false
    else
      result, ok = toolbox.call(call, by_name, handle, talk)
    end
    worked = worked or ok
    talk:say({ role = "tool", tool_call_id = call.id, content = result })
  end
  guard:after_round(worked)
  return stop
end

local WITHHELD = {
  length = { error = "answer_cut", message = "the answer was cut before its first word; raise "
    .. "max_tokens" },
  content_filter = { error = "content_filter",
    message = "the model's server held the answer back" },
}

-- What the model says at last; silence that was not its own choice is an error.
local function last_word(answer)
  local text = answer.content or ""
  local err = text == "" and WITHHELD[answer.finish_reason]
  if err then
    return nil, err
  end
  return text
end

local EMPTY = { error = "empty_answer", message = "the model answered without a word and without "
  .. "a tool call, each time it was asked" }

-- Whether an answer is neither a word nor a deed, while somebody waits for one. Silence
-- is the model's right when nobody does, and once it has done something.
local function is_empty(answer, talk, guard)
  return not answer.tool_calls and not WITHHELD[answer.finish_reason]
    and not (answer.content or ""):find("%S") and not guard.has_worked and talk:is_awaited()
end

-- Thinks until the model has nothing more to call.
-- @treturn[1] string what it says at last
-- @treturn[2] nil
-- @treturn[2] table what stopped it
local function think(agent, talk, guard)
  local system, language = agent:context()
  local tools, by_name = toolbox.of(agent.role.id, language)
  local head = { system = system, tools = tools, tokens_left = room_for_talk(system, tools) }
  local handle = patience.watch(agent, function(ms) guard:waited(ms) end)
  local tries_left = settings.retries_max or retries.defaults.retries_max
  while true do
    if interrupts() then
      hear_more(agent, talk)
    end
    local stop = guard:before_round(agent:now())
    if stop then
      return nil, stop
    end
    local answer, err = ask(agent, talk, head)
    if answer and is_empty(answer, talk, guard) then
      if tries_left == 0 then
        return nil, EMPTY
      end
      tries_left = tries_left - 1
      agent:log("warn", "the model's answer was empty; it is asked again")
    elseif answer then
      talk:say({ role = "assistant", content = answer.content, tool_calls = answer.tool_calls })
      if not answer.tool_calls then
        return last_word(answer)
      end
      stop = call_tools(handle, talk, answer, by_name, guard)
      if stop then
        return nil, stop
      end
    elseif err.error ~= "interrupted" then
      return nil, err
    end
  end
end

-- Whether a message only tells that somebody was stopped or failed. One who is stopped
-- over it does not answer: two of them would tell each other for ever.
local function is_notice(message)
  local payload = message.payload
  if type(payload) ~= "table" then
    return false
  elseif message.type == "status_report" then
    return payload.status == "stopped"
  elseif message.type == "result" then
    return payload.status == "failed"
  end
  return message.reply_to ~= nil and payload.error ~= nil
end

local function sentence(agent, reason, text)
  return ("%s was stopped (%s): %s"):format(agent.id, reason, text or "")
end

-- Tells the parent why it stopped, once for each reason until it has succeeded again.
local function report(agent, reason, text)
  if agent.state.llm_stopped_by == reason then
    return
  end
  agent.state.llm_stopped_by = reason
  agent:send_message({ to = agent.parent or "user", type = "status_report", payload = {
    text = sentence(agent, reason, text), status = "stopped", guard = reason, agent = agent.id,
  } })
end

-- What an error says of the bound that was reached.
local BOUND = { "of", "what", "used", "limit", "retry_after_ms" }

-- Adds it to `told`.
local function with_bound(told, err)
  for _, name in ipairs(BOUND) do
    told[name] = err[name]
  end
  return told
end

-- Tells who gave the task why it stopped, and the parent, unless the reply does.
-- @treturn table? the reply to the message
local function give_up(agent, message, talk, err)
  local reason = err.guard or err.error
  local task = talk:find_task()
  local what = with_bound({ error = "stopped", guard = reason, message = err.message,
    text = sentence(agent, reason, err.message) }, err)
  agent:log("warn", "the agent was stopped: " .. reason,
    with_bound({ guard = reason, message = err.message }, err))
  local told = (is_notice(message) or not message.reply_to) and message.from or nil
  if task and not talk.answered[task.id] then
    agent:fail(task, what)
    told = task.from
  end
  if told ~= (agent.parent or "user") then
    report(agent, reason, err.message)
  end
  return not task and not is_notice(message) and what or nil
end

-- Who hears that one of its own was stopped may think about it, however long the talk
-- was that led there.
local function may_think(agent, message, guard)
  if message.type == "status_report" and is_notice(message) then
    return nil
  end
  return guard:before_talk(agent:idle_talk())
end

return function(agent, message)
  local talk = talks.open(agent, message)
  local guard = guards.new(agent:now())
  local text, err = nil, may_think(agent, message, guard)
  if not err then
    text, err = think(agent, talk, guard)
  end
  if not text then
    return give_up(agent, message, talk, err)
  end
  agent.state.llm_stopped_by = nil
  if text ~= "" and talk:open_question(message.from) then
    return text
  end
end
