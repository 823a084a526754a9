--- field_cases: every field of the table of fields with every kind of value.
--
-- A case is { field, name, json, value, waits? }: the field's row, the name it is said by,
-- and the value as JSON and in Lua. Which values a field takes is not written here but in
-- good(), by kind, so a field that is added to the table has its cases.

local json = require("society.json")
local society = require("society")

local M = {}

local function quoted(text)
  return '"' .. text .. '"'
end

-- As JSON texts.
local VALUES = {
  "null", "true", "false",
  "0", "1", "-1", "-0.0", "0.5", "0.0004", "2.5", "1.0", "86400", "100000000000", "100000000001",
  "100000000000000", "100000000000001", "1e15", "1e308", "9223372036854775807",
  '""', '"x"', '"root"', '"a b"', '"a/b"', '"..x"', '"1"', '"true"', '"null"', '"ünï"',
  '"\\ud83d\\ude00"', '"\\u0061"', '"a\\u0000"', '"\\u0000"', '"line\\nbreak"',
  quoted(("y"):rep(64)), quoted(("y"):rep(65)), quoted(("z"):rep(97)), quoted(("z"):rep(98)),
  quoted(("k"):rep(256)), quoted(("k"):rep(257)), quoted(("é"):rep(128)), quoted(("é"):rep(129)),
  '"urgent"', '"high"', '"normal"', '"low"', '"P0"', '"P3"', '"P4"', '"p0"', '"URGENT"',
  '"2099-01-01T00:00:00Z"', '"2099-01-01T00:00:00.123+02:00"', '"2099-01-01"', '"tomorrow"',
  '"1969-12-31T00:00:00Z"', '"2099-02-30T00:00:00Z"', "4070908800000", "4070908800000.4",
  "[]", "{}", "[1]", '["root"]', '["root",7]', '["root",null]', '{"to":"root"}', '[["root"]]',
  quoted(("p"):rep(2000)),
}

local PRIORITIES = { urgent = 1, high = 1, normal = 1, low = 1, P0 = 1, P1 = 1, P2 = 1, P3 = 1 }
local TIMES = {
  ["2099-01-01T00:00:00Z"] = true, ["2099-01-01T00:00:00.123+02:00"] = true,
  ["1969-12-31T00:00:00Z"] = true,
}

local function is_number_to(value, least, most)
  return type(value) == "number" and value >= least and value <= most
end

local function is_key(value)
  return type(value) == "string" and #value <= 256 and not value:find("\0", 1, true)
end

local function is_receiver(value)
  if type(value) ~= "table" then
    return type(value) == "string" and #value <= 97 -- agent@host
  end
  for i = 1, #value do
    if type(value[i]) ~= "string" then
      return false
    end
  end
  return #value > 0
end

-- By kind: does such a field take the value? Everywhere null says nothing.
local GOOD = {
  answered = is_key,
  flag = function(value) return type(value) == "boolean" end,
  key = is_key,
  name = function(value) return type(value) == "string" end,
  payload = function() return true end,
  priority = function(value) return PRIORITIES[value] ~= nil end,
  receiver = is_receiver,
  seconds = function(value) return is_number_to(value, 5e-324, 1e11) end,
  sender = function() return true end,
  span = function(value) return is_number_to(value, 0, 1e14) end,
  time = function(value) return is_number_to(value, 0, 1e14) or TIMES[value] ~= nil end,
  type = function(value) return type(value) == "string" end,
}

--- Whether a reader takes the value of a case.
function M.is_good(case)
  return case.value == json.null or GOOD[case.field.kind](case.value)
end

--- The fields that can be said in a context: agent, broadcast, socket, file or wait.
function M.fields(context)
  local list = {}
  for _, field in ipairs(society.message_fields()) do
    if field.names[context] then
      list[#list + 1] = field
    end
  end
  return list
end

-- Who is left out, and not who is said to be nobody, is a door's own affair.
local function is_apart(field, text)
  return field.kind == "receiver" and text == "null"
end

--- Every value of every field that can be said in a context, by each of its names.
function M.all(context)
  local cases = {}
  for _, field in ipairs(M.fields(context)) do
    for _, name in ipairs(field.names[context]) do
      for _, text in ipairs(VALUES) do
        if not is_apart(field, text) then
          cases[#cases + 1] = { field = field, name = name, json = text,
            value = assert(json.decode("[" .. text .. "]"))[1] }
        end
      end
    end
  end
  return cases
end

--- Every value of every member of a payload that says something of the envelope.
function M.in_payload()
  local cases = {}
  for _, field in ipairs(society.message_fields()) do
    for _, name in ipairs(field.payload) do
      for _, text in ipairs(VALUES) do
        local payload = ('{"%s":%s}'):format(name, text)
        cases[#cases + 1] = { field = field, name = "payload", json = payload,
          value = assert(json.decode(payload)) }
      end
    end
  end
  return cases
end

--- What is said in a case, as JSON; `more` are further members.
function M.line(case, more)
  local parts = { ('"%s":%s'):format(case.name, case.json) }
  local field = case.name == "payload" and "payload" or case.field.name
  if field ~= "to" then
    parts[#parts + 1] = '"to":"root"'
  end
  if field ~= "payload" then
    parts[#parts + 1] = '"payload":"x"'
  end
  parts[#parts + 1] = more
  return "{" .. table.concat(parts, ",") .. "}"
end

--- The same as a table, with a receiver unless it is for all.
function M.options(case, is_for_all)
  local options = { [case.name] = case.value }
  local field = case.name == "payload" and "payload" or case.field.name
  if field ~= "to" and not is_for_all then
    options.to = "root"
  end
  if field ~= "payload" then
    options.payload = "x"
  end
  return options
end

--- A case in words.
function M.words(case)
  return ("%s = %.60s"):format(case.name, case.json)
end

return M
