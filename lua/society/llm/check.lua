--- check: validates the tables inside society.config{ llm = … }.
--
-- This happens once, when the settings are made, so that an agent does not run into a typo in
-- the middle of its work.

local clean = require("society.llm.clean")
local guards = require("society.llm.guards")
local json = require("society.json")
local schema = require("society.llm.schema")
local verbs = require("society.llm.verbs")

local function unknown(what, name, names)
  table.sort(names)
  return ("unknown %s '%s'; there are %s"):format(what, tostring(name), table.concat(names, ", "))
end

-- Lists must be plain: an entry with a name would never be found.
local function fault_of_list(name, given)
  local count = 0
  for _ in pairs(given) do
    count = count + 1
  end
  return count ~= #given and ("%s is a list, without names before its entries"):format(name) or nil
end

local function check_guards(given)
  local names = {}
  for name in pairs(guards.defaults) do
    names[#names + 1] = name
  end
  for name, value in pairs(given) do
    if guards.defaults[name] == nil then
      return unknown("guard", name, names)
    elseif value ~= false and (math.type(value) ~= "integer" or value < 1) then
      return ("guards.%s must be a whole number above 0, or false"):format(name)
    end
  end
end

-- The names of the verbs, or of those that a model has unless `verbs` says otherwise.
local function verb_names(is_default)
  local names = {}
  for _, verb in ipairs(verbs.list) do
    if not (is_default and verb.is_extra) then
      names[#names + 1] = verb.name
    end
  end
  return names
end

local function check_verb_list(title, given)
  local known, names = {}, verb_names()
  for _, name in ipairs(names) do
    known[name] = true
  end
  for _, name in pairs(given) do
    if not known[name] then
      return unknown("verb", name, names)
    end
  end
  return fault_of_list(title, given)
end

-- One list, or lists by role and as `default`. Roles may be created later, so any id will do.
local function lists_of_verbs(given)
  for _, list in pairs(given) do
    if type(list) ~= "table" then
      return { verbs = given }
    end
  end
  local lists = {}
  for role, list in pairs(given) do
    lists[("verbs[%q]"):format(role)] = list
  end
  return lists
end

local function check_verbs(given)
  for title, list in pairs(lists_of_verbs(given)) do
    local fault = check_verb_list(title, list)
    if fault then
      return fault
    end
  end
  if type(given[1]) == "table" then
    return "verbs by role need the ids of the roles: { ROLE = { VERB, … }, default = { … } }"
  end
end

-- A tool is sent to the model's server as JSON, and its arguments are checked against its
-- schema: both must work before an agent needs them.
local function check_schema(tool)
  local ok, text, fault = pcall(json.encode, { description = tool.description,
    parameters = tool.parameters })
  if not ok or not text then
    return clean(ok and fault.message or text)
  elseif tool.parameters and json.encode(tool.parameters):sub(1, 1) ~= "{" then
    return "parameters must be an object of JSON schema, not a list"
  end
  return tool.parameters and schema.fault(tool.parameters)
end

local function check_parts(tool)
  return check_schema(tool) or fault_of_list("roles", tool.roles or {})
end

local FIELDS = { description = "string", parameters = "table", roles = "table" }

local function check_tool(tool, index)
  if type(tool) ~= "table" or type(tool.name) ~= "string" or tool.name == "" then
    return ("tools[%s] must be a table with a name"):format(tostring(index))
  elseif not tool.name:match("^[%w_-]+$") or #tool.name > 64 then
    return ("the tool '%s': a name is made of letters, digits, _ and -, 64 at most"):format(
      tool.name)
  elseif type(tool.run) ~= "function" then
    return ("the tool '%s' needs a function 'run'"):format(tool.name)
  end
  for name, kind in pairs(FIELDS) do
    if tool[name] ~= nil and type(tool[name]) ~= kind then
      return ("the tool '%s': '%s' must be a %s"):format(tool.name, name, kind)
    end
  end
  local fault = check_parts(tool)
  return fault and ("the tool '%s': %s"):format(tool.name, fault)
end

-- Whether two tools share a role.
local function overlap(one, other)
  if not one.roles or not other.roles then
    return true
  end
  for _, role in ipairs(one.roles) do
    for _, same in ipairs(other.roles) do
      if role == same then
        return true
      end
    end
  end
  return false
end

-- Whether a role that may use the tool also has a verb of its name.
local function is_verb_too(tool, wanted)
  local roles = tool.roles
  if not roles then
    roles = { "" } -- one that no list names
    for role in pairs(wanted or {}) do
      roles[#roles + 1] = role
    end
  end
  for _, role in ipairs(roles) do
    for _, name in ipairs(verbs.chosen(wanted, role) or verb_names(true)) do
      if name == tool.name then
        return true
      end
    end
  end
  return false
end

-- Model servers refuse two tools of one name.
local function check_twice(tools, wanted)
  local seen = {}
  for _, tool in ipairs(tools) do
    local is_twice = is_verb_too(tool, wanted)
    for _, other in ipairs(seen[tool.name] or {}) do
      is_twice = is_twice or overlap(tool, other)
    end
    if is_twice then
      return ("the tool '%s' is there twice, or is a verb of the society; choose another name, "
        .. "or leave the verb out by 'verbs'"):format(tool.name)
    end
    seen[tool.name] = seen[tool.name] or {}
    table.insert(seen[tool.name], tool)
  end
end

local function check_tools(given, settings)
  for index, tool in pairs(given) do
    local fault = check_tool(tool, index)
    if fault then
      return fault
    end
  end
  return fault_of_list("tools", given) or check_twice(given, settings.verbs)
end

local function is_provider(value)
  if type(value) ~= "table" or type(value.defaults) ~= "table"
    or type(value.environment) ~= "table" then
    return false
  end
  return type(value.answer) == "function"
    or type(value.request) == "function" and type(value.reader) == "function"
end

-- Detects a missing or invalid provider before it is used.
local function check_provider(name, _, load)
  if name == "auto" then
    return nil
  end
  local is_own = name:find(".", 1, true)
  local ok, provider = pcall(is_own and load or require, is_own and name or "society.llm." .. name)
  if not ok and is_own then
    return ("provider '%s': %s"):format(name, clean(provider))
  elseif not ok then
    return unknown("provider", name, { "anthropic", "auto", "openai", "replay", "scripted" })
      .. "; a provider of your own is the name of a module with a dot in it"
  elseif not is_provider(provider) then
    return ("provider '%s' is incomplete: it needs the tables 'defaults' and 'environment' and the "
      .. "functions 'request' and 'reader'"):format(name)
  end
end

local function check_base_url(given)
  if not given:match("^https?://[^/%s]+[^%s]*$") then
    return ("base_url must be the http:// or https:// address of a server, got '%s'"):format(given)
  end
end

local function check_key_env(given)
  if not given:match("^[%a_][%w_]*$") then
    return ("key_env must be the name of a variable of the environment, got '%s'"):format(given)
  end
end

local function check_on_message(given)
  if given ~= "wait" and given ~= "interrupt" then
    return ("on_message must be 'wait' or 'interrupt', got '%s'"):format(given)
  end
end

-- Members of a request that the host sets.
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
        return ("%s: %s"):format(name, unknown("field", field, { "input", "output" }))
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
  { "on_message", check_on_message }, { "prices", check_prices }, { "options", check_options },
  { "provider", check_provider }, { "base_url", check_base_url }, { "key_env", check_key_env } }

--- Describes what is wrong; nil if the settings are valid.
-- @tparam table settings
-- @tparam function load loads a module of the app by name, for custom providers
return function(settings, load)
  for _, check in ipairs(CHECKS) do
    local given = settings[check[1]]
    local fault = given ~= nil and check[2](given, settings, load)
    if fault then
      return fault
    end
  end
  return nil
end
