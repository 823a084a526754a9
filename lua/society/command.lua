--- society.command: the commands of the program.
--
-- Each is a module society.command.NAME that declares its words and options as data (see
-- society.cli.arguments) and has a function run(arguments) that returns the exit code.
-- They run outside every sandbox, in a Lua state of the program's own.

local arguments = require("society.cli.arguments")
local program = require("society.program")

local M = {}

M.names = {
  "run", "sim", "test", "check", "inspect", "watch", "policy", "send", "inbox", "decide",
  "cancel", "terminate", "pause", "resume", "redeliver", "drop", "link", "call", "attach", "export",
  "import", "replay", "token", "open", "backup", "restore", "verify", "config", "repl", "demo",
  "init", "version", "help",
}

-- Commands that promise the same outcome each time.
local repeatable = { sim = true, test = true, replay = true }

--- Returns the command of that name, or nil.
function M.find(name)
  for _, known in ipairs(M.names) do
    if known == name then
      local command = require("society.command." .. name)
      command.name = name
      return command
    end
  end
  return nil
end

local function warn_of_seed(name)
  if repeatable[name] and not program.has_fixed_seed then
    program.complain("warning: this program was built with a Lua whose hash seed changes each "
      .. "time, so # of a table with holes may differ from run to run")
  end
end

--- Runs the command line `argv` (the program's name at 0) and returns the exit code.
function M.run(argv)
  local aliases = { ["--help"] = "help", ["-h"] = "help", ["--version"] = "version" }
  local name = aliases[argv[1]] or argv[1]
  if not name then
    require("society.cli.help").print()
    return arguments.USAGE
  end
  if name == "--complete" then
    return require("society.cli.completion").print(table.pack(table.unpack(argv, 2)))
  end
  local command = M.find(name)
  if not command then
    local near = program.nearest(name, M.names)
    program.complain(("unknown command '%s'; %ssee: society help"):format(name,
      near and ("did you mean '%s'? "):format(near) or ""))
    return arguments.USAGE
  end
  warn_of_seed(name)
  local given, code = arguments.parse(command, argv)
  return code or command.run(given)
end

return M
