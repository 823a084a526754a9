--- society.cli.settings: values of flags from variables and from society.conf.lua.
--
-- A flag wins over a variable, a variable over the file, the file over the default. Each value
-- keeps where it came from: { name, value, origin, where }. Lists of pairs, --policy and --set,
-- are settled pair by pair.

local conf_file = require("society.cli.conf_file")
local json = require("society.json")
local program = require("society.program")

local M = {}

M.LEVELS = { "debug", "info", "warn", "error", "none" }

-- What can be set: by name, as the flag is called. `pairs`: known names of its pairs.
M.list = {
  { "state", kind = "text" },
  { "http", kind = "text", takes_number = true },
  { "http-open", kind = "flag" },
  { "insecure", kind = "flag" },
  { "web", kind = "text" },
  { "redis", kind = "text" }, { "host", kind = "text" }, { "peers", kind = "text" },
  { "once", kind = "flag" },
  { "json", kind = "flag" },
  { "quiet", kind = "flag" },
  { "log", kind = "text", choices = M.LEVELS },
  { "policy", kind = "pairs", known = program.kinds },
  { "set", kind = "pairs", known = program.settings, is_json = true },
}

-- Variables with a meaning of their own.
local OTHERS = { SOCIETY_CONFIG = true, SOCIETY_HOME = true, SOCIETY_TRIAL_MS = true,
  SOCIETY_WATCHDOG_MS = true }

local TRUTH = { ["1"] = true, ["true"] = true, ["0"] = false, ["false"] = false }

local function key_of(setting)
  return (setting[1]:gsub("-", "_"))
end

function M.is_one_of(list, word)
  for _, each in ipairs(list) do
    if each == word then
      return true
    end
  end
  return false
end

--- «unknown KIND 'NAME'; did you mean 'X'?», or «…; the known ones are A, B».
function M.unknown(what, name, known)
  local near = program.nearest(name, known)
  return ("unknown %s '%s'; %s"):format(what, name, near and ("did you mean '%s'?"):format(near)
    or "the known ones are " .. table.concat(known, ", "))
end

-- A value as the flag would have it: a text, or a boolean; or nil and what was expected.
local function read_value(setting, value)
  if setting.kind == "flag" then
    if type(value) == "string" then
      value = TRUTH[value]
    end
    if type(value) ~= "boolean" then
      return nil, "must be true or false"
    end
    return value
  end
  if setting.takes_number and math.type(value) == "integer" then
    value = tostring(value)
  end
  if type(value) ~= "string" or value == "" then
    return nil, setting.takes_number and "must be a text or a number" or "must be a text"
  elseif setting.choices and not M.is_one_of(setting.choices, value) then
    return nil, ("must be " .. table.concat(setting.choices, ", ")):gsub(", ([^,]*)$", " or %1")
  end
  return value
end

-- A pair's value as behind KEY=, with texts like JSON as JSON; or nil and what was expected.
local function read_pair(setting, value)
  if type(value) == "string" and not (setting.is_json and json.decode(value) ~= nil) then
    return value
  elseif not setting.is_json then
    return nil, "a text expected"
  end
  local is_done, text = pcall(json.encode, value)
  if not is_done or not text then
    return nil, "a text, a number, a boolean or a table of them expected"
  end
  return text
end

-- Adds one value from a variable or the file. Returns nothing, or a sentence.
local function add(found, setting, value, origin, where)
  local text, why = read_value(setting, value)
  if text == nil then
    return ("%s: %s %s"):format(where, setting[1], why)
  end
  found[setting[1]] = { name = setting[1], value = text, origin = origin, where = where }
  return nil
end

local function add_pair(found, setting, key, value, origin, where)
  local name = setting[1] .. "." .. key
  found[name] = { name = name, value = value, origin = origin, where = where, setting = setting,
    key = key }
end

local function add_file_pairs(found, file, setting, entry)
  if type(entry.value) ~= "table" then
    return ("%s:%d: %s: a table such as { %s = … } expected"):format(file.path, entry.line,
      setting[1], setting.known[1])
  end
  local keys = {}
  for key in pairs(entry.value) do
    keys[#keys + 1] = key
  end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  for _, key in ipairs(keys) do
    local is_text = type(key) == "string" and key:find("^[%w_]+$")
    local line = is_text and conf_file.member_line(file, entry, key) or entry.line
    local where = ("%s:%d"):format(file.path, line)
    if not is_text or not M.is_one_of(setting.known, key) then
      return ("%s: %s: %s"):format(where, setting[1],
        M.unknown("name", tostring(key), setting.known))
    end
    local text, why = read_pair(setting, entry.value[key])
    if not text then
      return ("%s: %s.%s: %s"):format(where, setting[1], key, why)
    end
    add_pair(found, setting, key, text, "file", where)
  end
  return nil
end

local function file_names()
  local names = {}
  for index, setting in ipairs(M.list) do
    names[index] = key_of(setting)
  end
  return names
end

local function find_setting(key)
  for _, setting in ipairs(M.list) do
    if key_of(setting) == key then
      return setting
    end
  end
  return nil
end

local function add_file(found, file)
  local names = {}
  for name in pairs(file.values) do
    names[#names + 1] = name
  end
  table.sort(names, function(a, b) return file.values[a].last < file.values[b].last end)
  for _, name in ipairs(names) do
    local entry, setting = file.values[name], find_setting(name)
    local where = ("%s:%d"):format(file.path, entry.line)
    local why
    if not setting then
      why = where .. ": " .. M.unknown("name", name, file_names())
    elseif setting.kind == "pairs" then
      why = add_file_pairs(found, file, setting, entry)
    else
      why = add(found, setting, entry.value, "file", where)
    end
    if why then
      return why
    end
  end
  return nil
end

-- All variables there can be, for a suggestion.
local function variable_names()
  local names = {}
  for name in pairs(OTHERS) do
    names[#names + 1] = name
  end
  for _, setting in ipairs(M.list) do
    local name = "SOCIETY_" .. key_of(setting):upper()
    if setting.kind ~= "pairs" then
      names[#names + 1] = name
    end
    for _, key in ipairs(setting.known or {}) do
      names[#names + 1] = name .. "_" .. key:upper()
    end
  end
  table.sort(names)
  return names
end

local function add_variable(found, name, value)
  local rest = name:match("^SOCIETY_(.+)$"):lower()
  local setting = find_setting(rest)
  if setting and setting.kind ~= "pairs" then
    return add(found, setting, value, "variable", name)
  end
  local kind, key = rest:match("^(%l+)_(.+)$")
  setting = kind and find_setting(kind)
  if setting and setting.kind == "pairs" and M.is_one_of(setting.known, key) then
    add_pair(found, setting, key, value, "variable", name)
    return nil
  end
  local near = program.nearest(name, variable_names())
  return ("unknown variable %s; %s"):format(name, near and ("did you mean %s?"):format(near)
    or "`society config` lists what can be set")
end

-- An empty variable counts as not set.
local function add_variables(found)
  local variables = program.variables("SOCIETY_")
  table.sort(variables, function(a, b) return a[1] < b[1] end)
  for _, variable in ipairs(variables) do
    local name, value = variable[1], variable[2]
    local why = not OTHERS[name] and name == name:upper() and value ~= ""
      and add_variable(found, name, value)
    if why then
      return why
    end
  end
  return nil
end

--- Everything that variables and the file say, by name; or nil and a sentence.
function M.read()
  local found = {}
  local named = os.getenv("SOCIETY_CONFIG")
  local file, why = conf_file.read(named ~= "" and named or nil)
  why = why or file and add_file(found, file)
  why = why or add_variables(found)
  if why then
    return nil, why
  end
  return found
end

local function pairs_of(found, setting)
  local list = {}
  for _, entry in pairs(found) do
    if entry.setting == setting then
      list[#list + 1] = entry
    end
  end
  table.sort(list, function(a, b) return a.key < b.key end)
  return list
end

-- Puts the pairs before those of flags, but for those whose key a flag names.
local function fill_pairs(given, rows, found, setting)
  local key = key_of(setting)
  local flags, list = {}, {}
  for _, text in ipairs(given[key] or {}) do
    flags[text:match("^[^=]*")] = true
  end
  for _, entry in ipairs(pairs_of(found, setting)) do
    if not flags[entry.key] then
      list[#list + 1] = entry.key .. "=" .. entry.value
      rows[#rows + 1] = entry
    end
  end
  for _, text in ipairs(given[key] or {}) do
    local name, value = text:match("^([^=]*)=?(.*)$")
    list[#list + 1] = text
    rows[#rows + 1] = { name = setting[1] .. "." .. name, value = value, origin = "flag",
      where = "--" .. setting[1] }
  end
  given[key] = list
end

--- Gives the options of a command their values from `found`, except where flags have given
-- them. `takes(setting)` returns the option of the command, or nil. Returns a row for each
-- value.
function M.fill(given, found, takes)
  local rows = {}
  for _, setting in ipairs(M.list) do
    local key, option, entry = key_of(setting), takes(setting), found[setting[1]]
    if option and setting.kind == "pairs" then
      fill_pairs(given, rows, found, setting)
    elseif option and given[key] ~= nil then
      rows[#rows + 1] = { name = setting[1], value = given[key], origin = "flag",
        where = "--" .. setting[1] }
    elseif entry then
      rows[#rows + 1] = entry
      given[key] = option and entry.value or given[key]
    else
      local fallback = option and option.default
      if setting.kind == "flag" then
        fallback = false
      end
      rows[#rows + 1] = { name = setting[1], origin = "default", value = fallback }
    end
  end
  return rows
end

return M
