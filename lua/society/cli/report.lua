--- society.cli.report: what a backup or a check has found, for people or as JSON.

local arguments = require("society.cli.arguments")
local ask = require("society.cli.ask")
local json = require("society.json")
local program = require("society.program")

local M = {}

local function size_of(bytes)
  if bytes < 1000000 then
    return ("%.0f KB"):format(bytes / 1000)
  end
  return ("%.1f MB"):format(bytes / 1000000)
end

--- Prints the report, or complains; returns the exit code. `head` says what was done.
function M.finish(given, head, path, report, name, text)
  if not report then
    if name == "no_such_file" and path == given.state
      and not program.complete_path(path .. "/society.db") then
      text = ("there is no society in %s; --state DIR names another"):format(path)
    end
    program.complain(text)
    return ask.code_of(name)
  end
  if given.json then
    report.path = path
    print((json.encode(report)))
  else
    print(("%s: %s, %d lines of activity, %d records to load"):format(head,
      size_of(report.bytes), report.line, report.records))
  end
  return arguments.DONE
end

return M
