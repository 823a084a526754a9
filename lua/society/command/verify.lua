--- society verify: checks a state directory, or a backup.

local arguments = require("society.cli.arguments")
local program = require("society.program")
local report = require("society.cli.report")

local M = {
  summary = "check a society, running or stopped, or a backup",
  words = "[FILE]",
  max = 1,
  options = { arguments.state, arguments.json },
  notes = "Reads every page in use and compares its checksum, checks the structure of the "
    .. "database, and loads what a start would load. Nothing is changed. Damage ends with 74.",
  completes = { "<file>" },
  example = "society verify monday.backup",
}

function M.run(given)
  local file = given.words[1]
  local check = file and program.verify_file or program.verify_state
  local path = file or given.state
  return report.finish(given, path .. " is intact", path, check(path))
end

return M
