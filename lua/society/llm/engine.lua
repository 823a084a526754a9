--- engine: the life of model calls, from request to answer.
--
-- The host reports events (a call starts, bytes arrive, a timer fires) and carries out the
-- returned actions: { "send", id, request }, { "wake", id, at_ms, why? },
-- { "answer", id, message, err, spent, tries } and { "spent", id, spent } for attempts without
-- an answer. Nothing here must survive a crash: calls start over.
--
-- A call waits until it fits the limits (society.llm.budget), then for its turn
-- (society.llm.limiter), and is sent. A failure that may pass is retried with exponential
-- back-off and jitter, not before the server allows it.

local answers = require("society.llm.answer")
local budget = require("society.llm.budget")
local json = require("society.json")
local limiter = require("society.llm.limiter")
local providers = require("society.llm.providers")
local retries = require("society.llm.retries")
local troubles = require("society.llm.troubles")
local usage = require("society.llm.usage")

local M = {}

local Engine = {}
Engine.__index = Engine

--- Makes an engine.
-- @tparam table settings of society.config{ llm = … }
-- @tparam table host random() in [0, 1), getenv(name), has_key(name), now() in ms,
--   trouble(), read() of the recording to replay, append(text) to the one being recorded;
--   provider(name), the app's module of that name; plain(value), a copy of it as data;
--   scrub(text), the text without keys; room(id), the limits on that call. The last four
--   are optional
function M.new(settings, host)
  local self = { settings = settings, host = host, calls = {}, providers = {}, parked = {},
    budget = budget.new(), provider = settings.provider or "openai" }
  for name, value in pairs(retries.defaults) do
    self[name] = settings[name] or value
  end
  self.limiter = limiter.new(settings, host.now())
  return setmetatable(self, Engine)
end

local function record(self, call, message)
  self.host.append(require("society.llm.replay").line(call, message) .. "\n")
end

-- Re-examines calls that wait for the limits, once ended ones are counted.
local function wake_parked(self, actions)
  if self.parked[1] then
    actions[#actions + 1] = { "wake", self.parked[1], self.host.now() }
  end
end

local function answer(self, actions, call, message, err)
  self.calls[call.id] = nil
  if message and self.settings.record and not call.found.provider.is_written then
    local ok, text = pcall(record, self, call, message)
    if not ok then
      message, err = nil, answers.broken(text)
    end
  end
  if message then
    message.role = "assistant"
    message.model = message.model or call.chat.model or call.found.settings.model or "none"
    message.usage = message.usage or usage.bound(call, {
      input_tokens = call.tokens, output_tokens = usage.of_message(message), is_estimated = true,
    })
    message.cost_micros = usage.cost_micros(message.model, message.usage, self.settings.prices)
  else
    err.tries = call.tries
    answers.bound(err, self.host)
  end
  actions[#actions + 1] = { "answer", call.id, message, err, call.spent, call.tries }
  if self.budget:release(call.id) then
    wake_parked(self, actions)
  end
end

-- Queues the calls that fit their limits. A call that waits for a limit keeps later ones
-- from using it.
local function admit(self, actions)
  local left, shut = {}, {}
  for _, id in ipairs(self.parked) do
    local call = self.calls[id]
    local verdict, more = "wait", call.waits_for
    if not shut[more] and not shut.society then
      verdict, more = self.budget:take(id, self.host.room and self.host.room(id) or {}, call.wanted)
    end
    if verdict == "go" then
      call.state = "waiting"
      self.limiter:ask(id, call.agent, call.tokens)
    elseif verdict == "wait" then
      left[#left + 1] = id
      call.waits_for, shut[more or "society"] = more, true
    else
      answer(self, actions, call, nil, more)
    end
  end
  self.parked = left
end

-- The maximum usage of a call: the estimated input and the longest possible answer.
local function wanted_by(self, call)
  local settings = call.found.settings
  local most = { input_tokens = call.tokens,
    output_tokens = call.chat.max_tokens or settings.max_tokens or budget.output_tokens }
  return { tokens = most.input_tokens + most.output_tokens,
    cost_micros = usage.cost_micros(call.chat.model or settings.model or "", most,
      self.settings.prices) }
end

-- An attempt has ended, with a message or an error.
local function settle(self, actions, call, message, err)
  local now_ms = self.host.now()
  message, err = answers.check(message, err)
  local used = message and message.usage
  used = used and call.status and usage.bound(call, used) or used
  self.limiter:ended(call.id, used and used.input_tokens + used.output_tokens)
  if message then
    self.limiter:praise()
    return answer(self, actions, call, message)
  end
  if err.error == "rate_limited" then
    self.limiter:refused(now_ms, err.retry_after_ms)
  end
  if not err.retryable or call.tries > self.retries_max then
    return answer(self, actions, call, nil, err)
  end
  local pause = retries.pause_ms(self, call.tries, err, self.host.random())
  if err.retry_after_ms and retries.is_too_late(call, now_ms + pause) then
    return answer(self, actions, call, nil, err)
  end
  call.state = "pausing"
  local why = ("%s; try %d after %d ms"):format(err.error, call.tries + 1, pause)
  actions[#actions + 1] = { "wake", call.id, now_ms + pause, why }
end

-- Defers answers that are known already: a call is never answered before it has begun.
local function tell_later(self, actions, call, message, err, delay_ms)
  call.state, call.result = "known", { message, err }
  actions[#actions + 1] = { "wake", call.id, self.host.now() + (delay_ms or 1) }
end

local function send(self, actions, call)
  local provider, settings = call.found.provider, call.found.settings
  call.tries = call.tries + 1
  local err, late_ms = troubles.draw(call.tries, self.retries_max, self.host)
  if err then
    return tell_later(self, actions, call, nil, err)
  end
  if provider.answer then
    return tell_later(self, actions, call, answers.at_once(call, self.host, late_ms))
  end
  local ok, request, fault = pcall(provider.request, call.chat, settings)
  if not ok or not request then
    return tell_later(self, actions, call, nil, ok and fault or answers.broken(request))
  end
  local made, reader = pcall(provider.reader, call.chat, settings)
  if not made then
    return tell_later(self, actions, call, nil, answers.broken(reader))
  end
  call.state, call.reader, call.status, call.heard = "sent", reader, nil, 0
  actions[#actions + 1] = { "send", call.id, request }
end

-- Releases every call that may start.
local function pump(self, actions)
  while true do
    local id, first, at_ms = self.limiter:next(self.host.now())
    local free_at_ms = self.limiter.free_at_ms
    if id then
      send(self, actions, self.calls[id])
    elseif first and retries.is_too_late(self.calls[first], free_at_ms) then
      self.limiter:drop(first)
      answer(self, actions, self.calls[first], nil, retries.braked(free_at_ms - self.host.now()))
    else
      if first and at_ms then
        actions[#actions + 1] = { "wake", first, at_ms }
      end
      return actions
    end
  end
end

--- A call begins: { id, agent, role, turn, number, chat, deadline_ms? }.
function Engine:begin(call)
  local actions = {}
  call.tries = 0
  self.calls[call.id] = call
  local ok, found = pcall(providers.find, self.providers, call.chat.provider or self.provider,
    self.settings, self.host)
  if not ok then
    answer(self, actions, call, nil, { error = "no_provider", message = tostring(found) })
    return actions
  end
  local err = providers.check_key(found, self.host)
  if err then
    answer(self, actions, call, nil, err)
    return actions
  end
  call.found = found
  call.tokens = usage.of_chat(call.chat, call.chat.tools and json.encode(call.chat.tools))
  call.wanted = wanted_by(self, call)
  call.state = "parked"
  self.parked[#self.parked + 1] = call.id
  admit(self, actions)
  return pump(self, actions)
end

-- Calls the reader. If it raises, the call has failed and later input is ignored.
local function read(self, id, method, ...)
  local call = self.calls[id]
  if call.fault then
    return nil
  end
  local ok, result, err = pcall(function(...)
    return call.reader[method](call.reader, ...)
  end, ...)
  if not ok then
    call.fault = answers.broken(result)
    return nil
  end
  result, err, call.fault = answers.taken(result, err, self.host)
  return result, err
end

--- The response begins.
function Engine:head(id, status, headers)
  self.calls[id].status = status
  read(self, id, "head", status, headers)
end

--- A piece of the response; returns its text.
function Engine:body(id, bytes)
  local call, text = self.calls[id], read(self, id, "put", bytes)
  text = type(text) == "string" and text or ""
  call.heard = call.heard + #text
  return text
end

--- The response is complete, or ended with an error.
function Engine:done(id, name, text)
  local call, actions = self.calls[id], {}
  local message, err
  if name then
    err = require("society.llm.failure").of_transfer(name, text)
  else
    message, err = read(self, id, "finish", self.host.now())
  end
  if call.fault then
    message, err = nil, call.fault
  end
  if not answers.check(message, err) then
    usage.lose(call, name, self.settings.prices)
  end
  call.reader, call.fault = nil, nil
  settle(self, actions, call, message, err)
  return pump(self, actions)
end

--- The timer of a call has fired.
function Engine:due(id)
  local call, actions = self.calls[id], {}
  if call.state == "known" then
    settle(self, actions, call, call.result[1], call.result[2])
  elseif call.state == "pausing" then
    call.state = "waiting"
    self.limiter:ask(call.id, call.agent, call.tokens)
  elseif call.state == "parked" then
    admit(self, actions)
  end
  return pump(self, actions)
end

--- The call was cancelled.
function Engine:cancel(id)
  local call, actions = self.calls[id], {}
  if call and call.state == "sent" then
    usage.lose(call, "timeout", self.settings.prices)
  end
  self.limiter:drop(id)
  self.calls[id] = nil
  for index, other in ipairs(self.parked) do
    if other == id then
      table.remove(self.parked, index)
    end
  end
  if self.budget:release(id) or call and call.state == "parked" then
    wake_parked(self, actions)
  end
  pump(self, actions)
  if call and call.spent then
    actions[#actions + 1] = { "spent", id, call.spent }
  end
  return actions
end

return M
