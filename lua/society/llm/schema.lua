--- schema: checks a model's arguments against the schema of a tool.
--
-- It supports what tools use of JSON schema: type, properties, required, items, enum, true
-- and false. Other keywords are left to the tool.

local json = require("society.json")

local M = {}

local function is_array(value)
  return type(value) == "table" and json.encode(value):sub(1, 1) == "["
end

local TYPES = {
  string = function(value) return type(value) == "string" end,
  number = function(value) return type(value) == "number" end,
  integer = function(value) return type(value) == "number" and math.tointeger(value) ~= nil end,
  boolean = function(value) return type(value) == "boolean" end,
  array = is_array,
  object = function(value)
    return type(value) == "table" and value ~= json.null and not is_array(value)
  end,
}

local function one_of(value, list)
  for _, allowed in ipairs(list) do
    if allowed == value then
      return true
    end
  end
  return false
end

-- The allowed values as a model would write them.
local function listed(list)
  local texts = {}
  for index, allowed in ipairs(list) do
    texts[index] = type(allowed) == "string" and allowed or json.encode(allowed)
  end
  return table.concat(texts, ", ")
end

local check

-- 5.0 is an integer in JSON schema, and some models write it so; it becomes 5.
local function whole(value, schema)
  local is_wanted = type(schema) == "table" and schema.type == "integer"
  return is_wanted and math.type(value) == "float" and math.tointeger(value) or value
end

local function check_members(value, schema, path, faults)
  for _, name in ipairs(schema.required or {}) do
    if value[name] == nil or value[name] == json.null then
      faults[#faults + 1] = ("%s%s is missing"):format(path, name)
    end
  end
  for name, part in pairs(schema.properties or {}) do
    if value[name] ~= nil and value[name] ~= json.null then
      check(value[name], part, path .. name .. ".", faults)
      value[name] = whole(value[name], part)
    end
  end
end

local function check_table(value, schema, name, path, faults)
  local fits = TYPES[schema.type]
  if fits and not fits(value) then
    faults[#faults + 1] = ("%s must be of type %s"):format(name, schema.type)
    return
  end
  if schema.enum and not one_of(value, schema.enum) then
    faults[#faults + 1] = ("%s must be one of %s"):format(name, listed(schema.enum))
  end
  if schema.type == "object" then
    check_members(value, schema, path, faults)
  elseif schema.type == "array" and schema.items ~= nil then
    for index, item in ipairs(value) do
      check(item, schema.items, ("%s%d."):format(path, index), faults)
      value[index] = whole(item, schema.items)
    end
  end
end

check = function(value, schema, path, faults)
  local name = path == "" and "the arguments" or path:sub(1, -2)
  if type(schema) == "table" then
    check_table(value, schema, name, path, faults)
  elseif schema == false then
    faults[#faults + 1] = ("%s is not allowed"):format(name)
  end
end

local NAMES = { "array", "boolean", "integer", "null", "number", "object", "string" }

local function is_list_of_texts(list)
  if type(list) ~= "table" then
    return false
  end
  for key, value in pairs(list) do
    if math.type(key) ~= "integer" or type(value) ~= "string" then
      return false
    end
  end
  return true
end

-- A server refuses unknown types, and with them every call that offers the tool.
local function fault_of_type(given, path)
  local names = type(given) == "string" and { given } or given
  if not is_list_of_texts(names) or #names == 0 then
    return ("%s.type must be a type's name, or a list of some"):format(path)
  end
  for _, name in ipairs(names) do
    if not one_of(name, NAMES) then
      return ("%s.type: unknown type '%s'; there are %s"):format(path, name, listed(NAMES))
    end
  end
end

local fault_of

local function fault_of_each(parts, path)
  for name, part in pairs(parts) do
    local fault = fault_of(part, ("%s.%s"):format(path, tostring(name)))
    if fault then
      return fault
    end
  end
end

local function is_list(value)
  return type(value) == "table" and value[1] ~= nil
end

local function fault_of_parts(schema, path)
  local fault = fault_of_each(schema.properties or {}, path .. ".properties")
  for _, name in ipairs({ "items", "additionalProperties" }) do
    local part = schema[name]
    if not fault and part ~= nil then
      fault = (is_list(part) and fault_of_each or fault_of)(part, path .. "." .. name)
    end
  end
  for _, name in ipairs({ "anyOf", "oneOf", "allOf" }) do
    if not fault and is_list(schema[name]) then
      fault = fault_of_each(schema[name], path .. "." .. name)
    end
  end
  return fault
end

fault_of = function(schema, path)
  if type(schema) == "boolean" then
    return nil
  elseif type(schema) ~= "table" or schema == json.null then
    return ("%s is no schema: a table, true or false expected"):format(path)
  end
  for _, name in ipairs({ "properties", "enum" }) do
    if schema[name] ~= nil and (type(schema[name]) ~= "table" or schema[name] == json.null) then
      return ("%s.%s must be a table"):format(path, name)
    end
  end
  if schema.required ~= nil and not is_list_of_texts(schema.required) then
    return ("%s.required must be a list of names"):format(path)
  end
  return schema.type ~= nil and fault_of_type(schema.type, path) or fault_of_parts(schema, path)
end

--- Describes what is wrong with a schema; nil if nothing that matters here.
function M.fault(schema)
  return fault_of(schema, "parameters")
end

--- Lists what is wrong with a value; empty if it is valid. Converts whole numbers to integers
-- where the schema asks for them.
function M.faults(value, schema)
  local faults = {}
  check(value, schema, "", faults)
  return faults
end

return M
