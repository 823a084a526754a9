--- answer: the form of a model's message, whichever provider returned it.

local clean = require("society.llm.clean")
local texts = require("society.llm.texts")

local M = {}

--- Maximum tool calls in one answer.
M.calls_max = 256

--- Maximum bytes of an error that quotes a server.
M.message_bytes_max = 600

local function fault_of_call(call, index)
  if type(call) ~= "table" then
    return ("tool call %d is no table"):format(index)
  end
  for _, name in ipairs({ "id", "name", "arguments" }) do
    if type(call[name]) ~= "string" then
      return ("tool call %d: '%s' is no text"):format(index, name)
    end
  end
end

local function fault_of_calls(calls)
  if type(calls) ~= "table" or #calls == 0 and next(calls) ~= nil then
    return "tool_calls is no list"
  end
  for index, call in ipairs(calls) do
    local fault = fault_of_call(call, index)
    if fault then
      return fault
    end
  end
end

local function is_count(number)
  return type(number) == "number" and number >= 0 and number < 1e15
end

--- The token usage a server reports; nil if it is malformed.
function M.usage(input_tokens, output_tokens)
  if not is_count(input_tokens) or not is_count(output_tokens) then
    return nil
  end
  input_tokens, output_tokens = math.tointeger(input_tokens), math.tointeger(output_tokens)
  return input_tokens and output_tokens
    and { input_tokens = input_tokens, output_tokens = output_tokens } or nil
end

local function fault_of_usage(used)
  if type(used) ~= "table" or not is_count(used.input_tokens) or not is_count(used.output_tokens)
  then
    return "usage must be { input_tokens, output_tokens }, numbers from 0 on"
  end
end

--- Describes what is wrong with a message; nil if it is valid.
function M.fault(message)
  if type(message) ~= "table" then
    return "the answer is no table"
  end
  for _, name in ipairs({ "content", "model", "finish_reason" }) do
    if message[name] ~= nil and type(message[name]) ~= "string" then
      return ("the answer's '%s' is no text"):format(name)
    end
  end
  return message.tool_calls ~= nil and fault_of_calls(message.tool_calls)
    or message.usage ~= nil and fault_of_usage(message.usage) or nil
end

--- The error for a provider that raised or returned nonsense.
function M.broken(text)
  return { error = "provider_failed", message = clean(text), retryable = false }
end

--- Limits how much of a server's text an error quotes. Keys are removed first: one that was
-- cut in two would no longer be found.
function M.bound(err, host)
  if err.status and type(err.message) == "string" then
    local text = host.scrub and host.scrub(err.message) or err.message
    err.message = texts.cut(text, M.message_bytes_max)
  end
end

--- Copies a value from a provider or a script as plain data, so that its origin can no
-- longer change it and metatables have no effect.
-- @treturn[1] any the copy
-- @treturn[2] nil
-- @treturn[2] string what is wrong with it
function M.plain(value, host)
  if not host.plain then
    return value
  end
  return host.plain(value)
end

--- Copies a provider's answer as plain data.
-- @return the message, or nil
-- @return the provider's error
-- @treturn table? the error, if they cannot be copied
function M.taken(message, err, host)
  if type(message) ~= "table" and type(err) ~= "table" then
    return message, err
  end
  local copy, fault = M.plain(message or err, host)
  if fault then
    return nil, nil, M.broken(fault)
  elseif message then
    return copy
  end
  return nil, copy
end

-- The call as a provider sees it.
local function view(call)
  return { id = call.id, agent = call.agent, role = call.role, turn = call.turn,
    number = call.number, chat = call.chat }
end

--- The answer of a provider without a server.
-- @treturn table its message, or nil
-- @treturn table the error, or nil
-- @treturn number the delay of the answer in ms
function M.at_once(call, host, late_ms)
  local found = call.found
  local ok, message, more = pcall(found.provider.answer, view(call), found.settings,
    found.host or host)
  if not ok then
    return nil, M.broken(message)
  end
  local answer, err, fault = M.taken(message, more, host)
  if not answer then
    return nil, fault or err
  end
  return answer, nil, (type(more) == "number" and more or 1) + late_ms
end

--- The provider's message or error, validated: whatever it returns, the call is settled.
function M.check(message, err)
  if type(message) == "table" then
    local fault = M.fault(message)
    if fault then
      return nil, M.broken(fault)
    elseif message.tool_calls and #message.tool_calls > M.calls_max then
      return nil, { error = "answer_too_large", retryable = false,
        message = ("the model calls %d tools at once; the limit is %d"):format(
          #message.tool_calls, M.calls_max) }
    end
    return message
  elseif type(err) ~= "table" or type(err.error) ~= "string" then
    return nil, M.broken("the provider gave neither a message nor an error")
  end
  return nil, err
end

return M
