--- society decide: decides an item of the inbox.

local arguments = require("society.cli.arguments")
local ask = require("society.cli.ask")
local ids = require("society.cli.ids")
local json = require("society.json")
local output = require("society.cli.output")
local program = require("society.program")

local DECISIONS = { "approve", "modify", "reject" }

local M = {
  summary = "decide an item of the inbox",
  words = "ITEM [approve|modify|reject]",
  min = 1, max = 2,
  options = {
    { "choice", value = "OPTION", completes = arguments.offer("choices"),
      text = "one of the item's options; approves by itself" },
    { "comment", value = "TEXT", text = "the reason; sent to the agent that asked" },
    { "changes", value = "JSON", text = "an object or a list; required by modify" },
    arguments.state,
    arguments.json,
  },
  notes = "ITEM is the item's id, or the beginning of it if it fits only one open item.",
  completes = { ids.completing("item"), DECISIONS },
  example = "society decide item_20260105_120000_0000000000000a modify --changes '{\"limit\":10}'",
}

local function check_words(given)
  local decision = given.words[2]
  if not decision and not given.choice then
    return arguments.complain(M, "expected approve, modify or reject, or --choice OPTION")
  end
  if decision and decision ~= "approve" and decision ~= "modify" and decision ~= "reject" then
    return arguments.complain(M, "expected approve, modify or reject, not '%s'", decision)
  end
  local code = arguments.check_text(M, "the comment", given.comment)
    or arguments.check_text(M, "the choice", given.choice)
  if code or not given.changes then
    return code
  end
  return arguments.check_json(M, "--changes", given.changes)
end

-- "approve: pm has its answer", or how else the decision reached the agent.
local function print_result(list)
  local result = json.decode(program.rows(list)())
  local decision = result.decision
  if result.choice ~= nil then
    decision = ("%s %s"):format(decision, ask.as_text(result.choice))
  end
  if not result.delivered then
    print(("%s: recorded; %s, who asked, has ended"):format(decision, result.agent))
  elseif result.messageId then
    print(("%s: sent to %s as %s"):format(decision, result.agent, result.messageId))
  else
    print(("%s: %s has its answer"):format(decision, result.agent))
  end
end

function M.run(given)
  local code = check_words(given)
  if code then
    return code
  end
  local id
  id, code = ids.find(M, given.state, "item", given.words[1])
  if not id then
    return code
  end
  local members = {
    item_id = id, decision = given.words[2],
    choice = given.choice, comment = given.comment,
  }
  local list
  list, code = ask.ask(given.state, ask.request("decide", members, { changes = given.changes }))
  if not list then
    return code
  end
  if given.json then
    output.print_lines(list)
  else
    print_result(list)
  end
  return arguments.DONE
end

return M
