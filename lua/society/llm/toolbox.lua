--- toolbox: the tools of one agent, and how its calls are executed.
--
-- Every failure is returned to the model as the result of its call, so that it can correct
-- itself: invalid JSON, arguments that do not fit, an unknown tool, a tool that raised. The
-- schema of an app's own tool is checked before it runs. That of a verb is only shown: the
-- society and its policies judge the arguments, and the model reads their error.

local clean = require("society.llm.clean")
local json = require("society.json")
local schema = require("society.llm.schema")
local settings = require("society.llm.settings")
local texts = require("society.llm.texts")
local verbs = require("society.llm.verbs")

local M = {}

--- Maximum bytes of a result that a model is shown.
M.result_bytes_max = 32768

local function is_listed(list, name)
  for _, other in ipairs(list) do
    if other == name then
      return true
    end
  end
  return false
end

--- The tools of an agent in that role: the society's verbs (only those that llm.verbs gives
-- it, if set) and the app's own.
-- @tparam string? language of the descriptions of the verbs
function M.of(role_id, language)
  local list, by_name = {}, {}
  local function add(tool)
    list[#list + 1] = { name = tool.name, description = tool.description,
      parameters = tool.parameters or { type = "object" } }
    by_name[tool.name] = tool
  end
  local chosen = verbs.chosen(settings.verbs, role_id)
  for _, tool in ipairs(verbs.of(language)) do
    if chosen and is_listed(chosen, tool.name) or not chosen and not tool.is_extra then
      add(tool)
    end
  end
  for _, tool in ipairs(settings.tools or {}) do
    if not tool.roles or is_listed(tool.roles, role_id) then
      add({ name = tool.name, description = tool.description, parameters = tool.parameters,
        run = tool.run }) -- and no more: a tool does not become a verb by saying so
    end
  end
  return json.array(list), by_name
end

local function names(by_name)
  local list = {}
  for name in pairs(by_name) do
    list[#list + 1] = name
  end
  table.sort(list)
  return json.array(list)
end

local OBJECT = { type = "object" }

-- The arguments of a call, or nil and what is wrong with its text.
local function read_object(given)
  local arguments, fault = json.decode(given == "" and "{}" or given)
  if arguments == nil then
    return nil, { error = "invalid_arguments", message = "the arguments are not JSON: "
      .. tostring(type(fault) == "table" and fault.message or fault) }
  elseif #schema.faults(arguments, OBJECT) > 0 then
    return nil, { error = "invalid_arguments",
      message = "the arguments must be one JSON object; correct them and call again" }
  end
  return arguments
end

local function misfit(faults, message)
  return { error = "invalid_arguments", details = json.array(faults), message = message
    or "the arguments do not fit the tool; correct what details says, and call again" }
end

-- Reads the arguments of a call. Those of a verb are left to the society, whose policies
-- decide what is wrong with them; null there means that an argument is not given.
local function read_arguments(tool, given)
  local arguments, fault = read_object(given)
  if not arguments then
    return nil, fault
  elseif tool.is_verb then
    for name, value in pairs(arguments) do
      arguments[name] = value ~= json.null and value or nil
    end
    return arguments
  end
  local ok, faults = pcall(schema.faults, arguments, tool.parameters or OBJECT)
  if not ok then
    return nil, { error = "tool_failed",
      message = "the tool's schema is broken: " .. clean(faults) }
  elseif #faults > 0 then
    return nil, misfit(faults)
  end
  return arguments
end

-- An error that the society's calls or tools return or raise.
local function as_error(err)
  if type(err) == "table" then
    return err
  end
  return { error = "tool_failed", message = clean(err) }
end

local function text_for_log(value)
  local text = tostring(value)
  return utf8.len(text) and text or "bytes that are not UTF-8"
end

local function state_of(agent)
  local ok, text = pcall(json.encode, agent.state)
  return ok and text or nil
end

-- What a tool writes to agent.state is committed only when the activation ends; progress
-- should be visible when the next message is sent.
local function run_own(tool, agent, arguments)
  local before = state_of(agent)
  local result, err = tool.run(agent, arguments)
  if state_of(agent) ~= before then
    agent:progress()
  end
  return result, err
end

-- A verb that raises was given bad arguments, unless a guard has stopped it.
local function verb_error(tool, arguments, raised)
  if type(raised) == "table" then
    return raised
  end
  local faults = schema.faults(arguments, tool.parameters)
  return misfit(faults, #faults == 0 and clean(raised) or nil)
end

local function run(tool, agent, arguments, talk)
  local ok, result, err = pcall(tool.is_verb and tool.run or function()
    return run_own(tool, agent, arguments)
  end, agent, arguments, talk)
  if not ok and tool.is_verb then
    return nil, verb_error(tool, arguments, result)
  elseif not ok then
    -- The position is for the author of the tool, not for the model.
    pcall(agent.log, agent, "warn", "a tool raised",
      { tool = tool.name, message = text_for_log(result) })
    return nil, as_error(result)
  elseif result == nil and err ~= nil then
    return nil, as_error(err)
  end
  return result == nil and "ok" or result
end

local function text_of(result)
  if type(result) == "string" then
    return utf8.len(result) and result or nil, "it is not UTF-8"
  end
  local ok, text, fault = pcall(json.encode, result)
  if ok and text then
    return text
  end
  return nil, tostring(type(fault) == "table" and fault.message or fault or text)
end

-- The text of a result for the model; and false if it cannot be shown.
local function shown(result)
  local text, fault = text_of(result)
  if not text then
    return json.encode({ error = "not_text",
      message = "what the tool gave cannot be shown: " .. fault }), false
  end
  return texts.cut(text, M.result_bytes_max), true
end

--- Executes one call of a model.
-- @treturn string the result as shown to it
-- @treturn boolean whether it worked
function M.call(call, by_name, agent, talk)
  local tool = by_name[call.name]
  if not tool then
    return shown({ error = "unknown_tool", tools = names(by_name),
      message = ("there is no tool %q"):format(call.name) }), false
  end
  local arguments, fault = read_arguments(tool, call.arguments)
  if not arguments then
    return shown(fault), false
  end
  local result, err = run(tool, agent, arguments, talk)
  if result == nil then
    return shown(err), false
  end
  return shown(result)
end

return M
