--- society help: explains the commands, or one of them.

local arguments = require("society.cli.arguments")
local help = require("society.cli.help")
local program = require("society.program")

local M = {
  summary = "explain the commands, or one of them",
  words = "[COMMAND]",
  max = 1,
  completes = { function() return require("society.command").names end },
  example = "society help run",
}

function M.run(given)
  local name = given.words[1]
  local command = name and require("society.command").find(name)
  if name and not command then
    local near = program.nearest(name, require("society.command").names)
    program.complain(("unknown command '%s'; %ssee: society help"):format(name,
      near and ("did you mean '%s'? "):format(near) or ""))
    return arguments.USAGE
  end
  help.print(command)
  return arguments.DONE
end

return M
