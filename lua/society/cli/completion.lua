--- society.cli.completion: what can be typed next, for docs/completion.bash.
--
-- `society --complete WORD…` prints what may follow these words, one per line. The line
-- <directory> stands for a directory, <lua> for a directory or a file *.lua.

local arguments = require("society.cli.arguments")
local commands = require("society.command")
local settings = require("society.cli.settings")

local M = {}

local function find_option(command, word)
  for _, option in ipairs(command.options or {}) do
    if "--" .. option[1] == word then
      return option
    end
  end
  return nil
end

-- The state directory that the command would use.
local function state_of(words)
  local state
  for index, word in ipairs(words) do
    state = word == "--state" and words[index + 1] or word:match("^%-%-state=(.*)$") or state
  end
  local found = not state and settings.read()
  return state or found and found.state and found.state.value or arguments.state.default
end

local function print_each(candidates, words, all)
  if type(candidates) == "function" then
    candidates = candidates(words, state_of(all or words))
  end
  if type(candidates) == "string" then
    candidates = { candidates }
  end
  for _, word in ipairs(candidates or {}) do
    if not word:find("%c") then -- texts of agents may have line breaks
      print(word)
    end
  end
end

-- The words of the command that are no options or values of them.
local function plain_words(command, words)
  local plain = {}
  local at = 2
  while words[at] do
    local option = find_option(command, words[at])
    if option and option.value then
      at = at + 1
    elseif not option then
      plain[#plain + 1] = words[at]
    end
    at = at + 1
  end
  return plain
end

--- Prints the candidates behind `words`, which begin with the command. Returns the exit code.
function M.print(words)
  if #words == 0 then
    print_each(commands.names)
    return 0
  end
  local command = commands.find(words[1])
  if not command then
    return 0
  end
  local option = find_option(command, words[#words])
  if option and option.value then
    print_each(option.completes, words)
    return 0
  end
  local plain = plain_words(command, words)
  local completes = command.completes or {}
  print_each(completes[#plain + 1] or completes.rest, plain, words)
  for _, each in ipairs(command.options or {}) do
    print("--" .. each[1])
  end
  return 0
end

return M
