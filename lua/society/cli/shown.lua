--- society.cli.shown: Lua values as the repl shows them.

local json = require("society.json")
local output = require("society.cli.output")
local program = require("society.program")

local M = {}

local DEPTH_MAX = 8

local WORDS = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or
  repeat return then true until while]]):gmatch("%S+") do
  WORDS[word] = true
end

local columns = {}
for _, subject in ipairs(program.subjects) do
  columns[subject.name] = subject.columns
end

local function key_text(key)
  if type(key) == "string" and key:find("^[%a_][%w_]*$") and not WORDS[key] then
    return key
  end
  return "[" .. (type(key) == "string" and ("%q"):format(key) or tostring(key)) .. "]"
end

local function sorted_keys(value)
  local keys = {}
  for key in pairs(value) do
    if not (math.type(key) == "integer" and key >= 1 and key <= #value) then
      keys[#keys + 1] = key
    end
  end
  table.sort(keys, function(a, b)
    return tostring(a) < tostring(b)
  end)
  return keys
end

local function put(value, indent, depth)
  if type(value) == "string" then
    return '"' .. program.harmless(value, "\\n", "?"):gsub('"', '\\"') .. '"'
  elseif value == json.null then
    return "json.null"
  elseif type(value) ~= "table" then
    return tostring(value)
  elseif next(value) == nil then
    return "{}"
  elseif depth == DEPTH_MAX then
    return "{ … }"
  end
  local inner = indent .. "  "
  local lines = {}
  for _, element in ipairs(value) do
    lines[#lines + 1] = inner .. put(element, inner, depth + 1) .. ","
  end
  for _, key in ipairs(sorted_keys(value)) do
    lines[#lines + 1] = ("%s%s = %s,"):format(inner, key_text(key),
      put(value[key], inner, depth + 1))
  end
  return "{\n" .. table.concat(lines, "\n") .. "\n" .. indent .. "}"
end

--- Prints a value; a list that came from an operation with columns as a table.
function M.print(value, operation)
  if operation and columns[operation] and #value > 0 then
    output.print_table(assert(json.encode(value)), columns[operation])
  else
    print(put(value, "", 0))
  end
end

return M
