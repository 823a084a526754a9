--- society inbox: `society inspect inbox` with fewer words.

local arguments = require("society.cli.arguments")

local M = {
  summary = "list the items that wait for your decision",
  options = {
    arguments.state,
    { "agent", value = "ID", text = "items of one agent",
      completes = require("society.cli.ids").completing("agent") },
    arguments.json,
  },
  example = "society inbox",
}

function M.run(given)
  local inspect = require("society.command").find("inspect")
  given.words = { "inbox" }
  return inspect.run(given)
end

return M
