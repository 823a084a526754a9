--- society test: busted specs inside the host.
--
-- The arguments are busted's own. It returns the exit code unless busted has ended the
-- program itself.

local program = require("society.program")

local M = {
  summary = "run busted specs inside the host, in virtual time",
  words = "[BUSTED ARGUMENTS]",
  is_raw = true,
  notes = "Without a path, it runs the specs in tests/spec, or else those in spec.",
  completes = { rest = "<lua>" },
  example = "society test --filter greets spec/app_spec.lua",
}

-- Options of busted that take the word behind them.
local with_value = {}
for name in ([[
  -p -e -o -C -f -t -m -r -Xoutput -Xhelper --pattern --exclude-pattern --output --directory
  --config-file --coverage-config-file --tags --exclude-tags --filter --filter-out --lpath
  --cpath --run --repeat --seed --lang --loaders --helper --lua
]]):gmatch("%S+") do
  with_value[name] = true
end

local function names_a_path(words)
  local skip = false
  for _, word in ipairs(words) do
    if skip then
      skip = false
    elseif word:sub(1, 1) ~= "-" then
      return true
    else
      skip = with_value[word] or false
    end
  end
  return false
end

local function exists(path)
  local file = io.open(path)
  if file then
    file:close()
  end
  return file ~= nil
end

-- Modules of the host, then of the project, then those that are installed.
local function set_paths()
  package.path = package.path .. ";tests/support/?.lua;" .. program.installed_path
end

function M.run(given)
  local words = given.words
  for _, word in ipairs(words) do
    if word == "--help" then
      require("society.cli.help").print(M)
      return 0
    end
  end
  set_paths()
  if not names_a_path(words) and not exists(".busted") and exists("tests/spec") then
    words[#words + 1] = "tests/spec"
  end
  -- This process is the interpreter, whatever a configuration file names.
  table.insert(words, 1, "--ignore-lua")
  words[0] = "society test"
  _G.arg = words
  if not package.searchpath("busted.runner", package.path) then
    program.complain("busted is not installed; on Debian it is the package lua-busted")
    return 1
  end
  require("busted.runner")({ standalone = false })
  io.stdout:flush()
  return 0
end

return M
