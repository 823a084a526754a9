--- check: what is wrong with society.config{ llm = … } inside its tables.
--
-- Asked once, when the settings are made, so that a slip of the pen is not found out by
-- an agent in the midst of its work.

local guards = require("society.llm.guards")
local verbs = require("society.llm.verbs")

local function list_of(names)
  table.sort(names)
  return table.concat(names, ", ")
end

local function check_guards(given)
  local names = {}
  for name in pairs(guards.defaults) do
    names[#names + 1] = name
  end
  for name, value in pairs(given) do
    if guards.defaults[name] == nil then
      return ("unknown guard '%s'; there are %s"):format(tostring(name), list_of(names))
    elseif value ~= false and (math.type(value) ~= "integer" or value < 1) then
      return ("guards.%s must be a whole number above 0, or false"):format(name)
    end
  end
end

local function check_verbs(given)
  local known, names = {}, {}
  for index, verb in ipairs(verbs) do
    known[verb.name], names[index] = true, verb.name
  end
  for _, name in pairs(given) do
    if not known[name] then
      return ("unknown verb '%s'; there are %s"):format(tostring(name), list_of(names))
    end
  end
end

local FIELDS = { description = "string", parameters = "table", roles = "table" }

local function check_tool(tool, index)
  if type(tool) ~= "table" or type(tool.name) ~= "string" or tool.name == "" then
    return ("tools[%s] must be a table with a name"):format(tostring(index))
  elseif type(tool.run) ~= "function" then
    return ("the tool '%s' needs a function 'run'"):format(tool.name)
  end
  for name, kind in pairs(FIELDS) do
    if tool[name] ~= nil and type(tool[name]) ~= kind then
      return ("the tool '%s': '%s' must be a %s"):format(tool.name, name, kind)
    end
  end
end

local function check_tools(given)
  for index, tool in pairs(given) do
    local fault = check_tool(tool, index)
    if fault then
      return fault
    end
  end
end

local function check_on_message(given)
  if given ~= "wait" and given ~= "interrupt" then
    return ("on_message must be 'wait' or 'interrupt', got '%s'"):format(given)
  end
end

local CHECKS = { { "guards", check_guards }, { "verbs", check_verbs }, { "tools", check_tools },
  { "on_message", check_on_message } }

--- Says what is wrong; nil if nothing is.
return function(settings)
  for _, check in ipairs(CHECKS) do
    local given = settings[check[1]]
    local fault = given ~= nil and check[2](given)
    if fault then
      return fault
    end
  end
  return nil
end
