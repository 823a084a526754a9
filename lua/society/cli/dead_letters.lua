--- society.cli.dead_letters: makes the commands redeliver and drop.

local arguments = require("society.cli.arguments")
local ask = require("society.cli.ask")
local output = require("society.cli.output")
local program = require("society.program")

local M = {}

-- msg_YYYYMMDD_HHMMSS_ and 15 hexadecimal digits.
local ID = "^msg_" .. ("%d"):rep(8) .. "_" .. ("%d"):rep(6) .. "_" .. ("%x"):rep(15) .. "$"

local function ids_of_dead_letters()
  local list = program.ask(arguments.state.default, ask.request("dead_letters"))
  local ids = {}
  for row in program.rows(list or "[]") do
    ids[#ids + 1] = (program.cells(row, { "id" }))
  end
  return ids
end

--- Makes the command; `words`: op, summary, done.
function M.make(words)
  local command = {
    summary = words.summary,
    words = "ID…",
    min = 1, max = 1000,
    options = { arguments.state, arguments.json },
    notes = "`society inspect dead-letters` lists the ids.",
    completes = { rest = ids_of_dead_letters },
    example = ("society %s msg_20260105_120000_00000000000000a"):format(words.op),
  }
  function command.run(given)
    -- All ids are checked before anything is done; then the first failure ends it.
    for _, id in ipairs(given.words) do
      if not id:find(ID) then
        return arguments.complain(command, "'%s' is not a message id", id)
      end
    end
    for _, id in ipairs(given.words) do
      local list, code = ask.ask(given.state, ask.request(words.op, { message_id = id }))
      if not list then
        return code
      end
      if given.json then
        output.print_lines(list)
      else
        print(("%s: %s"):format(id, words.done))
      end
    end
    return arguments.DONE
  end
  return command
end

return M
