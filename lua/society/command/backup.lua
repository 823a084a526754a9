--- society backup: a verified copy of a society, running or stopped, in one file.

local arguments = require("society.cli.arguments")
local program = require("society.program")
local report = require("society.cli.report")

local M = {
  summary = "copy a society, running or stopped, to one file, and verify the copy",
  words = "FILE",
  min = 1, max = 1,
  options = {
    arguments.state,
    { "replace", text = "overwrite FILE if it exists" },
    arguments.json,
  },
  notes = "The copy holds everything that was durable when it began; the society keeps running. "
    .. "It does not include tokens for HTTP or files of the workflow directory. A copy of a "
    .. "running society made by cp, rsync or sqlite3 is refused later, because it may hold half "
    .. "of a commit.",
  completes = { "<file>" },
  example = "society backup monday.backup",
}

function M.run(given)
  local file = given.words[1]
  local found, name, text = program.backup(given.state, file, given.replace)
  return report.finish(given, file .. " is complete and verified",
    found and file or given.state, found, name, text)
end

return M
