--- society.cli.hold: makes the commands pause and resume, which differ in a few words.

local arguments = require("society.cli.arguments")
local ask = require("society.cli.ask")
local ids = require("society.cli.ids")
local json = require("society.json")
local output = require("society.cli.output")
local program = require("society.program")

local M = {}

-- "worker_3 is paused", or how many are.
local function print_result(given, list, words)
  local count = json.decode(program.rows(list)()).count
  if given.all or given.subtree then
    print(("%d %s %s"):format(count, count == 1 and "agent" or "agents", words.done))
  elseif count == 0 then
    print(("%s %s"):format(given.words[1], words.unchanged))
  else
    print(("%s is %s"):format(given.words[1], words.done))
  end
end

-- The agent that is meant, or All; or nil and an exit code.
local function find_agent(command, given)
  if given.all then
    return "All"
  end
  local id, code = ids.find(command, given.state, "agent", given.words[1])
  given.words[1] = id
  return id, code
end

--- Makes the command; `words`: op, summary, example, done, unchanged.
function M.make(words)
  local command = {
    summary = words.summary,
    words = "[ID]",
    max = 1,
    options = {
      { "all", text = "every agent; the user's end is never paused" },
      { "subtree", text = "the agent and all below it" },
      { "reason", value = "TEXT", text = "the reason, for the activity log" },
      arguments.state,
      arguments.json,
    },
    notes = "ID may be the beginning of an id if it fits only one agent.",
    completes = { ids.completing("agent") },
    example = words.example,
  }
  function command.run(given)
    if (given.all and #given.words > 0) or (not given.all and #given.words ~= 1) then
      return arguments.complain(command, "expected the ID of an agent, or --all")
    end
    local code = arguments.check_text(command, "the reason", given.reason)
    if code then
      return code
    end
    local id, list
    id, code = find_agent(command, given)
    if not id then
      return code
    end
    list, code = ask.ask(given.state, ask.request(words.op, {
      agent = id, reason = given.reason,
      subtree = given.subtree or false,
    }))
    if not list then
      return code
    end
    if given.json then
      output.print_lines(list)
    else
      print_result(given, list, words)
    end
    return arguments.DONE
  end
  return command
end

return M
