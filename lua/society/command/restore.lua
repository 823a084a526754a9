--- society restore: a state directory made of a backup.

local arguments = require("society.cli.arguments")
local program = require("society.program")
local report = require("society.cli.report")

local M = {
  summary = "make a state directory of a backup",
  words = "FILE",
  min = 1, max = 1,
  options = { arguments.state, arguments.json },
  notes = "FILE is verified first. A directory that already has a society is refused. The "
    .. "restored society does not know what it did after the backup and may do it again. If it "
    .. "is a host that others know, their links stop until both ends are reset.",
  completes = { "<file>" },
  example = "society restore monday.backup --state restored",
}

function M.run(given)
  local found, name, text = program.restore(given.words[1], given.state)
  report.warn_of_peers(found, given.state)
  return report.finish(given, ("%s is restored and verified"):format(given.state),
    found and given.state or given.words[1], found, name, text)
end

return M
