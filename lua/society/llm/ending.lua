--- ending: how handling a message ends for those who wait for it.
--
-- Whoever was not answered receives the last text of the model, or the reason why it was
-- stopped: for the message being handled and for those that arrived meanwhile. A task ends
-- with it, so that nobody waits forever.

local M = {}

-- The messages at hand that need an answer: tasks, those whose sender waits, and the first
-- plain one of each sender. Answers are not answered: two agents would never stop.
local function due(talk)
  local list, heard = {}, {}
  for _, open in ipairs(talk:open()) do
    local is_plain = not talk.is_task(open) and not open.wants_reply
    local is_silent = open.from == nil or open.from == "system" or open.reply_to ~= nil
    if not is_plain or not is_silent and not heard[open.from] then
      list[#list + 1] = open
      heard[open.from or ""] = true
    end
  end
  return list
end

-- Answers one message at hand; false if that fails.
local function tell(agent, done, err)
  if not done then
    agent:log("warn", "an answer was not taken", { error = err.error, message = err.message })
  end
  return done ~= nil
end

--- Sends the final text to everybody who waits.
-- @treturn string? the reply to the message being handled
function M.say(agent, message, talk, text)
  local own = nil
  for _, open in ipairs(due(talk)) do
    if talk.is_task(open) then
      tell(agent, agent:complete(open, text))
    elseif open.id == message.id then
      own = text
    else
      tell(agent, agent:reply(open, text))
    end
  end
  return own
end

--- Whether a message only reports that an agent was stopped or failed. An agent stopped
-- while handling it does not answer: two of them would notify each other forever.
function M.is_notice(message)
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

-- Alerts the parent why it stopped, once per reason until it has succeeded again.
local function report(agent, reason, text)
  if agent.state.llm_stopped_by == reason then
    return
  end
  agent.state.llm_stopped_by = reason
  agent:send_message({ to = agent.parent or "user", type = "status_report", payload = {
    text = sentence(agent, reason, text), status = "stopped", guard = reason, agent = agent.id,
  } })
end

-- The members of an error that describe the limit.
local BOUND = { "of", "what", "used", "limit", "retry_after_ms" }

-- Copies them to `told`.
local function with_bound(told, err)
  for _, name in ipairs(BOUND) do
    told[name] = err[name]
  end
  return told
end

--- Notifies everybody who waits, and the parent unless it is among them, why it stopped.
-- @treturn table? the reply to the message being handled
function M.give_up(agent, message, talk, err)
  local reason = err.guard or err.error
  local what = with_bound({ error = "stopped", guard = reason, message = err.message,
    text = sentence(agent, reason, err.message) }, err)
  agent:log("warn", "the agent was stopped: " .. reason,
    with_bound({ guard = reason, message = err.message }, err))
  local told, own = {}, nil
  for _, other in ipairs(talk.messages) do
    told[other.from or ""] = told[other.from or ""] or M.is_notice(other)
  end
  for _, open in ipairs(due(talk)) do
    local is_told = true
    if talk.is_task(open) then
      is_told = tell(agent, agent:fail(open, what))
    elseif M.is_notice(open) then
      is_told = false
    elseif open.id == message.id then
      own = what
    else
      is_told = tell(agent, agent:reply(open, what))
    end
    told[open.from] = told[open.from] or is_told
  end
  if not told[agent.parent or "user"] then
    report(agent, reason, err.message)
  end
  return own
end

return M
