--- society terminate: ends an agent of a running society.

local arguments = require("society.cli.arguments")
local ask = require("society.cli.ask")
local ids = require("society.cli.ids")
local output = require("society.cli.output")
local program = require("society.program")

local M = {
  summary = "end an agent, once its mailbox is empty or at once",
  words = "AGENT",
  min = 1, max = 1,
  options = {
    { "force", text = "end it at once; its messages become dead letters" },
    { "reason", value = "TEXT", text = "the reason, for the activity log" },
    arguments.state,
    arguments.json,
  },
  notes = "AGENT is the agent's id, or the beginning of it if it fits only one agent. The policy "
    .. "supervision decides what happens to its children. user and root cannot be ended.",
  completes = { ids.completing("agent") },
  example = "society terminate worker_3 --force --reason 'it repeats itself'",
}

function M.run(given)
  local code = arguments.check_text(M, "the reason", given.reason)
  if code then
    return code
  end
  local id, list
  id, code = ids.find(M, given.state, "agent", given.words[1])
  if not id then
    return code
  end
  list, code = ask.ask(given.state, ask.request("terminate",
    { agent = id, force = given.force or false, reason = given.reason }),
    { needs_running = "and terminate needs one" })
  if not list then
    return code
  end
  if given.json then
    output.print_lines(list)
    return arguments.DONE
  end
  for row in program.rows(list) do
    local agent, is_forced = program.cells(row, { "id", "is_forced" })
    print(agent .. (is_forced == "true" and " has ended" or " ends when its mailbox is empty"))
  end
  return arguments.DONE
end

return M
