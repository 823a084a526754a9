--- society.cli.arguments: the command line of one command, read as it declares.
--
-- A command declares:
--   words      how its words look in the usage, such as "APP.lua"
--   min, max   how many there may be (0, 0)
--   options    a list of { NAME, value?, kind?, text, completes?, default?, short? }: without
--              `value` it is a flag; `kind` is "number" or "list", else a text; `text` is its
--              help; `short` a letter that may stand for it: -e for --eval
--   rest       what follows `--`: "arguments" of the app, "words" that may begin with a
--              dash; nil: nothing may follow
--   is_raw     it reads its command line itself
--   is_configured  variables and society.conf.lua give values to its options
--              (society.cli.settings); for other commands only to --state
-- --name VALUE and --name=VALUE are the same. What was read is a table with the options by
-- name (`_` for `-`), `words`, `rest` and `program`, the program as it was called.

local json = require("society.json")
local program = require("society.program")

local M = { DONE = 0, FAILED = 1, USAGE = 2, DISK = 74 }

-- A function of society.cli.offers, which is read only for completion.
local function offer(name)
  return function(words, state)
    return require("society.cli.offers")[name](words, state)
  end
end

M.offer = offer

-- Options that several commands have.
M.state = { "state", value = "DIR", text = "the state directory (default .society)",
  default = ".society", completes = "<directory>" }
M.json = { "json", text = "print one JSON object per line" }
M.set = { "set", value = "KEY=VALUE", kind = "list",
  completes = offer("settings"), text = "override a setting of society.config; repeatable" }

M.policy = { "policy", value = "KIND=NAME", kind = "list", completes = offer("policies"),
  text = "put a policy in force; repeatable" }

--- Prints an error of a command and returns the exit code for wrong usage.
function M.complain(command, format, ...)
  program.complain(command.name .. ": " .. format:format(...))
  return M.USAGE
end

--- The usage of a command, on one line.
function M.usage(command)
  local parts = { "society " .. command.name }
  if command.words then
    parts[#parts + 1] = command.words
  end
  for _, option in ipairs(command.options or {}) do
    local value = option.value and " " .. option.value or ""
    parts[#parts + 1] = ("[--%s%s]%s"):format(option[1], value, option.kind == "list" and "…" or "")
  end
  if command.rest == "arguments" then
    parts[#parts + 1] = "[-- ARGS]"
  end
  return table.concat(parts, " ")
end

local function find_option(command, name)
  for _, option in ipairs(command.options or {}) do
    if option[1] == name then
      return option
    end
  end
  return nil
end

local function set_value(command, given, option, value)
  local key = option[1]:gsub("-", "_")
  if option.kind == "list" then
    given[key] = given[key] or {}
    table.insert(given[key], value)
  elseif option.kind == "number" then
    local number = value:find("^%d+$") and math.tointeger(tonumber(value))
    if not number then
      return M.complain(command, "--%s needs a whole number, not '%s'", option[1], value)
    end
    given[key] = number
  else
    given[key] = value
  end
  return nil
end

-- The word with the long name of an option in place of its letter.
local function lengthen(command, word)
  for _, option in ipairs(command.options or {}) do
    if option.short and word == "-" .. option.short then
      return "--" .. option[1]
    end
  end
  return word
end

-- Reads the option at argv[at]. Returns the index of its last word, or nil and a code.
local function take_option(command, given, argv, at)
  local word = lengthen(command, argv[at])
  local name, value = word:match("^%-%-([^=]*)=?(.*)$")
  local option = name and find_option(command, name)
  local has_value = word:find("=", 1, true) ~= nil
  if not option then
    return nil, M.complain(command, "unknown option '%s'; see: society help %s", argv[at],
      command.name)
  end
  if not option.value then
    if has_value then
      return nil, M.complain(command, "--%s takes no value", name)
    end
    given[name:gsub("-", "_")] = true
    return at
  end
  if not has_value then
    at = at + 1
    value = argv[at]
  end
  if not value or (value == "" and option == M.state) then
    return nil, M.complain(command, "--%s needs a value", name)
  end
  local code = set_value(command, given, option, value)
  if code then
    return nil, code
  end
  return at
end

local function set_defaults(command, given)
  for _, option in ipairs(command.options or {}) do
    local key = option[1]:gsub("-", "_")
    if given[key] == nil then
      given[key] = option.kind == "list" and {} or option.default
    end
  end
end

-- The option that a setting gives a value to, or nil.
local function find_configured(command, setting)
  local option = find_option(command, setting[1])
  local is_meant = option == M.state or command.is_configured and option and not option.is_own
  return is_meant and option or nil
end

-- Gives options that were not on the command line the values of variables and of the file.
-- Returns nothing, or an exit code.
local function take_settings(command, given)
  if not command.is_configured and find_option(command, "state") ~= M.state then
    return nil
  end
  local settings = require("society.cli.settings")
  local found, why = settings.read()
  if not found then
    program.complain(why)
    return M.USAGE
  end
  given.settings = settings.fill(given, found, function(setting)
    return find_configured(command, setting)
  end)
  return nil
end

local function take_rest(command, given, argv, first)
  local target = command.rest == "words" and given.words or given.rest
  table.move(argv, first, #argv, #target + 1, target)
end

-- Reads all of argv behind the command's name. Returns nothing, or an exit code.
local function take_all(command, given, argv)
  local at = 2
  while argv[at] do
    local word = argv[at]
    if word == "--help" or word == "-h" then
      require("society.cli.help").print(command)
      return M.DONE
    end
    if word == "--" then
      take_rest(command, given, argv, at + 1)
      return nil
    end
    if word:sub(1, 1) == "-" and word ~= "-" then
      local last, code = take_option(command, given, argv, at)
      if not last then
        return code
      end
      at = last
    else
      table.insert(given.words, word)
    end
    at = at + 1
  end
  return nil
end

--- Reads `argv`. Returns what was given, or nil and an exit code: after --help, or after a
-- line about what is wrong.
function M.parse(command, argv)
  local given = { words = {}, rest = {}, program = argv[0] }
  if command.is_raw then
    table.move(argv, 2, #argv, 1, given.words)
    return given
  end
  local code = take_all(command, given, argv) or take_settings(command, given)
  if code then
    return nil, code
  end
  set_defaults(command, given)
  if #given.words < (command.min or 0) or #given.words > (command.max or 0) then
    program.complain("usage: " .. M.usage(command))
    return nil, M.USAGE
  end
  return given
end

--- Checks that each text of the list is NAME=VALUE, as the option declares. Returns an exit
-- code after a line about the first that is not.
function M.check_pairs(command, list, option)
  for _, text in ipairs(list) do
    if not text:find("^[^=]+=") then
      return M.complain(command, "--%s expects %s, not '%s'", option[1], option.value, text)
    end
  end
  return nil
end

--- Checks that a text is UTF-8, without which it cannot be sent. Returns an exit code after a
-- line about what is wrong.
function M.check_text(command, what, text)
  local _, fault = utf8.len(text or "")
  if fault then
    return M.complain(command, "%s is not UTF-8: byte %d is wrong", what, fault)
  end
  return nil
end

--- Checks that a text is JSON. Returns an exit code after a line about what is wrong.
function M.check_json(command, what, text)
  local _, err = json.decode(text)
  return err and M.complain(command, "%s is not JSON: %s at byte %d", what,
    err.message or "too large", err.position)
end

return M
