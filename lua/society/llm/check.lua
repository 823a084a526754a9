--- check: what is wrong with society.config{ llm = … } inside its tables.
--
-- Asked once, when the settings are made, so that a slip of the pen is not found out by
-- an agent in the midst of its work.

local clean = require("society.llm.clean")
local guards = require("society.llm.guards")
local json = require("society.json")
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
  for index, verb in ipairs(verbs.list) do
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

-- What the host writes itself into every request.
local OWN = { "max_tokens", "messages", "model", "stream", "system", "tools" }

local function check_options(given)
  for _, name in ipairs(OWN) do
    if given[name] ~= nil then
      return ("options.%s: the host writes that itself"):format(name)
    end
  end
  for name in pairs(given) do
    if type(name) ~= "string" then
      return "options is a table with names, such as { top_p = 0.9 }"
    end
  end
  local ok, text, fault = pcall(json.encode, given)
  if not ok or not text then
    return ("options: %s"):format(clean(ok and fault.message or text))
  end
end

local function is_price(value)
  return type(value) == "number" and value >= 0 and value < math.huge
end

local function check_prices(given)
  for model, price in pairs(given) do
    local name = ("prices[%q]"):format(tostring(model))
    if type(model) ~= "string" then
      return ("%s: a model's name is a string"):format(name)
    elseif type(price) ~= "table" then
      return ("%s must be { input = dollars, output = dollars }, got %s"):format(name, type(price))
    end
    for field in pairs(price) do
      if field ~= "input" and field ~= "output" then
        return ("%s: unknown field '%s'; there are input, output"):format(name, tostring(field))
      end
    end
    for _, field in ipairs({ "input", "output" }) do
      if not is_price(price[field]) then
        return ("%s.%s must be a number of dollars for a million tokens, 0 or more, got %s"):format(
          name, field, type(price[field]) == "number" and tostring(price[field])
            or type(price[field]))
      end
    end
  end
end

local CHECKS = { { "guards", check_guards }, { "verbs", check_verbs }, { "tools", check_tools },
  { "on_message", check_on_message }, { "prices", check_prices }, { "options", check_options } }

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
