--- society watch: the activity log as it happens.
--
-- Lines are read by their numbers from a cursor, so none is shown twice and none is left out,
-- also where the society ends and starts again meanwhile.

local arguments = require("society.cli.arguments")
local ask = require("society.cli.ask")
local json = require("society.json")
local output = require("society.cli.output")
local program = require("society.program")

local PAUSE_MS = 200
local PAGE = 1000
local DETAIL_BYTES_MAX = 200

local M = {
  summary = "show the activity of a society as it happens",
  options = {
    arguments.state,
    { "agent", value = "ID", text = "lines about one agent" },
    { "task", value = "ID", text = "lines that belong to one task" },
    { "type", value = "NAME", text = "lines of one event, or about messages of one type" },
    { "correlation", filter = "correlation_id", value = "ID", text = "lines of one request" },
    { "after", value = "LINE", kind = "number", text = "from the line after this one on" },
    arguments.json,
  },
  notes = "It goes on until it is interrupted, also across restarts of the society. Without\n"
    .. "--after it begins with what happens next.",
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

local function make_request(given, after, limit)
  local members = { after = after, limit = limit }
  for _, option in ipairs(M.options) do
    local value = option[1] ~= "after" and option[1] ~= "state" and option[1] ~= "json"
      and given[option[1]]
    if value then
      members[option.filter or option[1]] = value
    end
  end
  return ask.request("activity", members)
end

-- One page, the cursor after it and the last line there is; nil and an exit code if that can
-- never be.
local function read_page(given, after, limit)
  while true do
    local list, next_line, as_of = program.ask_page(given.state, make_request(given, after, limit))
    if list then
      return list, next_line > 0 and next_line or math.max(as_of, after), as_of
    elseif next_line == "refused" then
      local refusal = json.decode(as_of)
      program.complain(("%s: %s"):format(refusal.error, refusal.message))
      return nil, arguments.FAILED
    elseif next_line ~= "no_such_file" and next_line ~= "closed" then
      program.complain(as_of)
      return nil, ask.code_of(next_line)
    end
    program.pause(PAUSE_MS) -- it is down, or starts
  end
end

function M.run(given)
  if given.after and given.after < 0 then
    return arguments.complain(M, "--after needs 0 or more")
  end
  local cursor = given.after
  if not cursor then
    local list, code, last = read_page(given, 0, 1)
    if not list then
      return code
    end
    cursor = last
  end
  while true do
    local list, following = read_page(given, cursor, PAGE)
    if not list then
      return following
    end
    for row in program.rows(list) do
      if given.json then
        print(row)
      else
        print_line(row)
      end
    end
    io.stdout:flush()
    if following == cursor then
      program.pause(PAUSE_MS)
    end
    cursor = following
  end
end

return M
