--- society link: the link of a running society to another host.

local arguments = require("society.cli.arguments")
local ask = require("society.cli.ask")
local ids = require("society.cli.ids")
local output = require("society.cli.output")

local M = {
  summary = "reset the link to another host",
  words = "reset HOST",
  min = 2, max = 2,
  options = {
    { "force", text = "reset it even if it is up" },
    arguments.state,
    arguments.json,
  },
  notes = "`society inspect links` says why a link has stopped. A link stops when the state "
    .. "directory of one of the two hosts was put back to an older copy or replaced. After you "
    .. "have seen which messages that concerns, reset both ends: what was not acknowledged is "
    .. "sent again, under new numbers. HOST is the whole name.",
  completes = { { "reset" }, ids.completing("host") },
  example = "society link reset beta",
}

function M.run(given)
  local verb, host = table.unpack(given.words)
  if verb ~= "reset" then
    return arguments.complain(M, "'reset HOST' expected, not '%s'", verb)
  end
  local list, code = ask.ask(given.state,
    ask.request("link_reset", { host = host, force = given.force }))
  if not list then
    return code
  end
  if given.json then
    output.print_lines(list)
  else
    print(("%s: this end was reset; reset the other end as well, unless that is done"):format(host))
  end
  return arguments.DONE
end

return M
