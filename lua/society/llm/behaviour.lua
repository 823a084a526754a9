--- behaviour: an agent that thinks with a model. society.role{ behaviour = "llm" }.
--
-- The model is shown a message with the conversation so far. It calls tools, receives their
-- results, and continues until it makes no more calls. Its last text goes to whoever still
-- waits for an answer. Everything it does is an effect, so it resumes after kill -9. A guard
-- that stops it has a name: the parent receives an alert, and the conversation is kept.

local ending = require("society.llm.ending")
local guards = require("society.llm.guards")
local json = require("society.json")
local patience = require("society.llm.patience")
local retries = require("society.llm.retries")
local settings = require("society.llm.settings")
local talks = require("society.llm.talk")
local texts = require("society.llm.texts")
local toolbox = require("society.llm.toolbox")
local usage = require("society.llm.usage")
local verbs = require("society.llm.verbs")
local window = require("society.llm.window")

local CONTEXT_TOKENS = 100000

local function interrupts()
  return settings.on_message == "interrupt"
end

-- Shows the model messages that arrived meanwhile, as many as can be answered.
local function hear_more(agent, talk, guard)
  while talk:can_hear() and not guard:before_effects(agent, 2 * talk:effects_needed()) do
    local message = agent:receive({ timeout_ms = 0 })
    if not message then
      return
    end
    talk:hear(message)
  end
end

-- The estimated tokens left for the conversation after the prompt and the tools.
local function room_for_talk(system, tools)
  local taken = usage.estimate(system) + usage.estimate(json.encode(tools))
  return math.max(1, (settings.context_tokens or CONTEXT_TOKENS) - taken)
end

local function ask(agent, talk, head, left_ms)
  local units = talk:units()
  local kept = window.whole(units, agent:choose(units, head.tokens_left))
  return agent:chat(patience.chat({ system = head.system, history = window.ranges(units, kept),
    tools = head.tools, interruptible = interrupts() and talk:can_hear() }, left_ms))
end

-- Executes the tool calls. Every call gets an answer, even if a guard prevents it. Together
-- the answers take at most `room` tokens: they go to the model as a unit, with the messages
-- at hand.
local function call_tools(mind, calls, room)
  local talk, guard = mind.talk, mind.guard
  local stop, worked = nil, false
  for index, call in ipairs(calls) do
    stop = stop or talk.full or guard:before_call(call)
      or guard:before_effects(mind.agent, talk:effects_needed() + #calls - index)
    if talk.full or stop and mind.agent:effects_left() <= talk:effects_needed() then
      break -- answers that are not kept leave out the call as well
    end
    local result, ok
    if stop then
      result, ok = stop.message, false
    else
      mind.agent:begin_tool(call.name, call.id, call.arguments)
      result, ok = toolbox.call(call, mind.by_name, mind.handle, talk)
      mind.agent:end_tool(result, not ok)
    end
    worked = worked or ok
    result = texts.fit(result, room // (#calls - index + 1) - usage.around)
    room = room - usage.around - usage.estimate(result)
    talk:say({ role = "tool", tool_call_id = call.id, content = result })
  end
  guard:after_round(worked)
  return stop
end

local WITHHELD = {
  length = { error = "answer_cut", message = "the answer was cut before its first word; raise "
    .. "max_tokens" },
  content_filter = { error = "content_filter",
    message = "the model's server withheld the answer" },
}

-- The final text of the model; silence that was not its own choice is an error.
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

-- Whether an answer has no text and no calls while somebody waits for one. A model may be
-- silent when nobody waits, or once it has acted.
local function is_empty(answer, talk, guard)
  return not answer.tool_calls and not WITHHELD[answer.finish_reason]
    and not (answer.content or ""):find("%S") and not guard.has_worked and talk:is_awaited()
end

local LEFT_OPEN = { error = "empty_answer", message = "the model said nothing more and left its "
  .. "task open" }

local GO_ON = {} -- instead of a last word

-- The ids of the open tasks in order of arrival, and whether the model had been reminded of
-- all of them. Marks them as reminded.
local function open_tasks(mind)
  local ids, is_reminded = {}, true
  for _, message in ipairs(mind.talk:open()) do
    if mind.talk.is_task(message) then
      ids[#ids + 1] = message.task_id or message.id
      is_reminded = is_reminded and mind.reminded[message.id]
      mind.reminded[message.id] = true
    end
  end
  return ids, is_reminded
end

-- A final text does not end an open task at once: the model is reminded, once per task, to
-- end it itself. After that its text becomes the result.
local function end_tasks(mind, text)
  local ids, is_reminded = open_tasks(mind)
  if #ids == 0 then
    return text
  elseif not is_reminded and (mind.by_name.complete or mind.by_name.fail) then
    local words = #ids == 1 and mind.words.task_open or mind.words.tasks_open
    mind.talk:say({ role = "user", content = words:format(table.concat(ids, ", ")) })
    return GO_ON
  elseif not text:find("%S") then
    return nil, LEFT_OPEN
  end
  return text
end

-- Handles an answer of the model.
-- @treturn[1] string its final text, or GO_ON
-- @treturn[2] nil
-- @treturn[2] table what stops it
local function take(mind, answer)
  local talk, guard = mind.talk, mind.guard
  if is_empty(answer, talk, guard) then
    if mind.tries_left <= 0 then
      return nil, EMPTY
    end
    mind.tries_left = mind.tries_left - 1
    mind.agent:log("warn", "the model's answer was empty; it is asked again")
    return GO_ON
  end
  local room = talk:say_answer(answer)
  if answer.tool_calls then
    local stop = talk.full or call_tools(mind, answer.tool_calls, room)
    if stop then
      return nil, stop
    end
    return GO_ON
  end
  local text, err = last_word(answer)
  if not text then
    return nil, err
  end
  return end_tasks(mind, text)
end

-- Everything a run of the model needs.
local function open_mind(agent, message)
  local guard = guards.new(agent:now())
  local system, language = agent:context()
  local tools, by_name = toolbox.of(agent.role.id, language)
  local head = { system = system, tools = tools, tokens_left = room_for_talk(system, tools) }
  local words = verbs.words(language)
  local talk = talks.open(agent, message, head.tokens_left, by_name.reply and words.request_id)
  return { agent = agent, talk = talk, guard = guard, by_name = by_name, head = head,
    words = words, handle = patience.watch(agent, guard, talk),
    reminded = {}, tries_left = settings.retries_max or retries.defaults.retries_max }
end

-- Runs the model until it makes no more calls.
-- @treturn[1] string its final text
-- @treturn[2] nil
-- @treturn[2] table what stopped it
local function think(mind)
  local agent, talk, guard = mind.agent, mind.talk, mind.guard
  while true do
    if interrupts() then
      hear_more(agent, talk, guard)
    end
    local now_ms = agent:now()
    local stop = talk.full or guard:before_round(now_ms)
      or guard:before_effects(agent, talk:effects_needed())
    if stop then
      return nil, stop
    end
    local text = GO_ON
    local answer, err = ask(agent, talk, mind.head, guard:left_ms(now_ms))
    if answer then
      text, err = take(mind, answer)
    elseif err.error == "timeout" and guard:left_ms(agent:now()) <= 0 then
      return nil, guard:overtime()
    elseif err.error ~= "interrupted" then
      return nil, err
    end
    if text ~= GO_ON then
      return text, err
    end
  end
end

-- An agent that is notified of a stopped child may think about it, however long the
-- preceding talk was.
local function may_think(agent, message, guard)
  if message.type == "status_report" and ending.is_notice(message) then
    return nil
  end
  return guard:before_talk(agent:idle_talk())
end

return function(agent, message)
  local mind = open_mind(agent, message)
  local text, err = nil, may_think(agent, message, mind.guard)
  if not err then
    text, err = think(mind)
  end
  if not text then
    return ending.give_up(agent, message, mind.talk, err)
  end
  agent.state.llm_stopped_by = nil
  if text ~= "" then
    return ending.say(agent, message, mind.talk, text)
  end
end
