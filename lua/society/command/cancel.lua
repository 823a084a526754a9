--- society cancel: cancels a task and all below it.

local arguments = require("society.cli.arguments")
local ask = require("society.cli.ask")
local ids = require("society.cli.ids")
local output = require("society.cli.output")
local program = require("society.program")

local M = {
  summary = "cancel a task and all its subtasks",
  words = "TASK",
  min = 1, max = 1,
  options = {
    { "reason", value = "TEXT", text = "the reason; sent to the owner of the task" },
    arguments.state,
    arguments.json,
  },
  notes = "TASK is the task's id, or the beginning of it if it fits only one open task. A queued "
    .. "task does not start; a running one stops at its next effect.",
  completes = { ids.completing("task") },
  example = "society cancel T3 --reason 'the customer called it off'",
}

function M.run(given)
  local code = arguments.check_text(M, "the reason", given.reason)
  if code then
    return code
  end
  local id, list
  id, code = ids.find(M, given.state, "task", given.words[1])
  if not id then
    return code
  end
  list, code = ask.ask(given.state, ask.request("cancel", { task = id, reason = given.reason }))
  if not list then
    return code
  end
  if given.json then
    output.print_lines(list)
    return arguments.DONE
  end
  for row in program.rows(list) do
    print(("%s (%s): cancelled"):format(program.cells(row, { "task_id", "agent" })))
  end
  return arguments.DONE
end

return M
