--- scripted: answers written in advance, so that tests and examples need no model and are
-- repeatable.
--
--     society.config { llm = { provider = "scripted", answers = {
--       "the first answer",
--       { tool_calls = { { name = "complete", arguments = { output = "done" } } } },
--       { expect = "how much is 6 * 7", content = "42" },
--     } } }
--
-- `answers` is a list for all calls in their order, a table of such lists by agent or
-- role, or a function(request). A call that does not match what an answer expects, or finds
-- no answer, fails and shows both.

local answer_rules = require("society.llm.answer")
local json = require("society.json")
local quoted = require("society.llm.texts").quoted

-- Scripted answers (is_written) are not from a model and are not recorded.
local M = { name = "scripted", environment = {}, defaults = { model = "scripted" },
  is_written = true }

local function mismatch(call, expected, found)
  return nil, {
    error = "script_mismatch", retryable = false,
    message = ("call %d of %s does not fit the script:\nexpected: %s\nfound:    %s"):format(
      call.turn, call.agent, expected, found),
  }
end

local function last_text(chat)
  local last = chat.messages[#chat.messages]
  return last and (last.content or "") or ""
end

-- Describes how a call differs from what an answer expects; nil if it matches.
local function misfit(expect, call)
  if expect == nil then
    return nil
  end
  if type(expect) == "string" then
    expect = { last = expect }
  end
  local found = { agent = call.agent, role = call.role, last = last_text(call.chat),
    system = call.chat.system or "", count = #call.chat.messages }
  for _, name in ipairs({ "agent", "role", "count" }) do
    if expect[name] ~= nil and expect[name] ~= found[name] then
      return ("%s = %s"):format(name, expect[name]), ("%s = %s"):format(name, found[name])
    end
  end
  for _, name in ipairs({ "last", "system" }) do
    if expect[name] ~= nil and not found[name]:find(expect[name], 1, true) then
      return ("%s holds %s"):format(name, quoted(expect[name])),
        ("%s = %s"):format(name, quoted(found[name]))
    end
  end
  return nil
end

local function calls_of(answer, call)
  local list = {}
  for index, tool in ipairs(answer.tool_calls or {}) do
    local arguments = tool.arguments
    if type(arguments) ~= "string" then
      arguments = json.encode(arguments or {})
    end
    list[index] = { id = tool.id or ("call_%d_%d"):format(call.turn, index), name = tool.name,
      arguments = arguments }
  end
  return #list > 0 and json.array(list) or nil
end

local function message_of(answer, call, settings)
  local calls = calls_of(answer, call)
  return {
    role = "assistant", content = answer.content or "", tool_calls = calls,
    finish_reason = answer.finish_reason or (calls and "tool_calls" or "stop"),
    model = call.chat.model or settings.model, usage = answer.usage,
  }
end

-- The request as the app's function sees it: copies, so that it cannot affect others.
local function shown(call, fields)
  fields.messages = json.decode(json.encode(json.array(call.chat.messages)))
  fields.tools = call.chat.tools and json.decode(json.encode(call.chat.tools))
  return fields
end

-- The answer for a call, from the common list or that of its agent or role.
local function pick(answers, call)
  if type(answers) == "function" then
    return answers(shown(call, { agent = call.agent, role = call.role, turn = call.turn,
      number = call.number, system = call.chat.system }))
  end
  local own = answers[call.agent] or answers[call.role]
  if own then
    return own[call.turn]
  end
  return answers[call.number]
end

-- The types of the fields of an answer; "any" is checked where it is used.
local FIELDS = { content = "string", tool_calls = "table", expect = "any", usage = "any",
  delay_ms = "number", finish_reason = "string", error = "string", message = "string",
  retryable = "boolean", retry_after_ms = "number" }
local CALL_FIELDS = { id = "string", name = "string", arguments = "any" }
local EXPECT_FIELDS = { agent = "string", role = "string", last = "string", system = "string",
  count = "number" }

-- Describes what is wrong with the fields of a table; nil if they are valid.
local function fault_of_fields(what, value, fields)
  for name, given in pairs(value) do
    local kind = fields[name]
    if not kind then
      return ("%s has an unknown field '%s'"):format(what, tostring(name))
    elseif kind ~= "any" and type(given) ~= kind then
      return ("%s: '%s' is a %s, not a %s"):format(what, name, type(given), kind)
    end
  end
end

local function fault_of_calls(calls)
  local count = 0
  for _ in pairs(calls) do
    count = count + 1
  end
  if count ~= #calls then
    return "tool_calls is no list"
  end
  for index, call in ipairs(calls) do
    local what = ("tool call %d"):format(index)
    if type(call) ~= "table" or call.name == nil then
      return ("%s must be { name, arguments?, id? }"):format(what)
    end
    local fault = fault_of_fields(what, call, CALL_FIELDS)
    if fault then
      return fault
    end
  end
end

-- Describes what is wrong with a scripted answer; nil if it is valid.
local function fault_of(answer)
  if type(answer) ~= "table" then
    return ("the answer is a %s; it is a text or { content?, tool_calls?, … }"):format(type(answer))
  end
  local expect = answer.expect
  local fault = fault_of_fields("the answer", answer, FIELDS)
    or answer.tool_calls and fault_of_calls(answer.tool_calls)
    or answer.usage ~= nil and answer_rules.fault({ usage = answer.usage })
  if fault or expect == nil or type(expect) == "string" then
    return fault or nil
  elseif type(expect) ~= "table" then
    return ("'expect' is a %s; it is a text or { agent?, role?, last?, system?, count? }"):format(
      type(expect))
  end
  return fault_of_fields("expect", expect, EXPECT_FIELDS)
end

-- The scripted answer, or nil and what is wrong with it.
local function written(settings, call, host)
  local answer = pick(settings.answers or {}, call)
  if type(answer) == "function" then
    answer = answer(shown(call, { agent = call.agent }))
  end
  if type(answer) == "string" then
    return { content = answer }
  end
  return answer_rules.plain(answer, host)
end

--- Answers at once.
-- @treturn[1] table the message
-- @treturn[1] number its delay in ms
-- @treturn[2] nil
-- @treturn[2] table the error
function M.answer(call, settings, host)
  local answer, fault = written(settings, call, host)
  if answer == nil and not fault then
    return mismatch(call, "no further call", ("last = %s"):format(quoted(last_text(call.chat))))
  end
  fault = fault or fault_of(answer)
  if fault then
    return mismatch(call, "an answer", fault)
  end
  local expected, found = misfit(answer.expect, call)
  if expected then
    return mismatch(call, expected, found)
  end
  if answer.error then
    return nil, { error = answer.error, message = answer.message or "the script says so",
      retryable = answer.retryable or false, retry_after_ms = answer.retry_after_ms }
  end
  return message_of(answer, call, settings), answer.delay_ms
end

return M
