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

local function list_of(names)
  local last = names[#names]
  return #names == 1 and last or table.concat(names, ", ", 1, #names - 1) .. " and " .. last
end

--- Says what comes of starting an older copy of a host that others know. `head` says what it is.
function M.warn_of_peers(report, head)
  if not report or not report.peers or #report.peers == 0 then
    return
  end
  program.complain(("%s is the host %s, and %s may know what it did later: the links between "
    .. "them will stop (state_rolled_back, peer_rolled_back) until both ends are reset with "
    .. "`society link reset HOST`"):format(head, report.host, list_of(report.peers)))
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
    report.peers = report.peers and json.array(report.peers)
    print((json.encode(report)))
  else
    print(("%s: %s, %d %s of activity, %d %s to load"):format(head, size_of(report.bytes),
      report.line, report.line == 1 and "line" or "lines",
      report.records, report.records == 1 and "record" or "records"))
  end
  return arguments.DONE
end

return M
