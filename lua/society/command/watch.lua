--- society watch: the activity log as it happens.

local arguments = require("society.cli.arguments")
local ask = require("society.cli.ask")
local ids = require("society.cli.ids")
local news = require("society.cli.news")
local offers = require("society.cli.offers")
local output = require("society.cli.output")
local program = require("society.program")

local DETAIL_BYTES_MAX = 200

local M = {
  summary = "show the activity of a society as it happens",
  options = {
    arguments.state,
    { "agent", value = "ID", text = "lines about one agent",
      completes = ids.completing("agent") },
    { "task", value = "ID", text = "lines that belong to one task",
      completes = ids.completing("task") },
    { "type", value = "NAME", text = "lines of one event, or about messages of one type",
      completes = offers.values("activity", { "event", "type" }) },
    { "correlation", filter = "correlation_id", value = "ID", text = "lines of one request",
      completes = ids.completing("chain") },
    { "after", value = "LINE", kind = "number", text = "from the line after this one on" },
    arguments.json,
  },
  notes = "It runs until it is interrupted, also across restarts of the society. Without --after "
    .. "it begins with the next line.",
  example = "society watch --agent planner",
}

local function print_line(row)
  local time, line, agent, event, type, message, detail = program.cells(row,
    { "time", "line", "agent", "event", "type", "message_id", "detail" })
  local words = { time, line, agent, event }
  for _, word in ipairs({ type, message, output.shorten(detail, DETAIL_BYTES_MAX) }) do
    if word ~= "" then
      words[#words + 1] = program.harmless(word, "\n", " ")
    end
  end
  print(table.concat(words, " "))
end

-- The filters as members of a request.
local function filters_of(given)
  local members = {}
  for _, option in ipairs(M.options) do
    local value = option[1] ~= "after" and option[1] ~= "state" and option[1] ~= "json"
      and given[option[1]]
    if value then
      members[option.filter or option[1]] = value
    end
  end
  return members
end

-- The line to begin after: the last one there is, unless another is given; or nil and an exit
-- code.
local function find_cursor(given)
  if given.after then
    return given.after
  end
  local list, code, last = news.ask(given.state, ask.request("stats"))
  return list and last, code
end

function M.run(given)
  if given.after and given.after < 0 then
    return arguments.complain(M, "--after needs 0 or more")
  end
  local members = filters_of(given)
  local code = ids.find_all(M, given.state, members, { agent = "anyone", task = "task",
    correlation_id = "chain" })
  if code then
    return code
  end
  local cursor
  cursor, code = find_cursor(given)
  if not cursor then
    return code
  end
  return news.follow(given.state, "activity", members, cursor, function(list)
    for row in program.rows(list) do
      if given.json then
        print(row)
      else
        print_line(row)
      end
    end
  end)
end

return M
