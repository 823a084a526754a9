--- society.cli.dead_letters: makes the commands redeliver and drop.
--
-- Either is about the letters with the given ids, or about all that fit a filter.

local arguments = require("society.cli.arguments")
local ask = require("society.cli.ask")
local ids = require("society.cli.ids")
local output = require("society.cli.output")
local program = require("society.program")

local M = {}

-- msg_YYYYMMDD_HHMMSS_ and 15 hexadecimal digits.
local ID = "^msg_" .. ("%d"):rep(8) .. "_" .. ("%d"):rep(6) .. "_" .. ("%x"):rep(15) .. "$"

local AGE_SECONDS = { s = 1, m = 60, h = 3600, d = 86400 }

-- The filters, and the members of a request that they become.
local FILTERS = {
  agent = "agent", from = "from", to = "to", type = "type", reason = "reason", task = "task",
  correlation = "correlation_id", since = "since", ["until"] = "until", older = "until",
}
local NAMES = { "agent", "from", "to", "type", "reason", "task", "correlation", "since", "until",
  "older" }

-- Filters whose values may be cut short, by their members, and what they name.
local NAMED = { agent = "anyone", from = "anyone", to = "anyone", task = "letter_task",
  correlation_id = "letter_chain" }

local function filters_offered(words, state)
  return require("society.cli.offers").letter_filters(NAMES)(words, state)
end

-- The value of a filter as the request has it, or nil.
local function read_value(name, text)
  if name == "older" then
    local count, unit = text:match("^(%d+)([smhd])$")
    return count and (os.time() - tonumber(count) * AGE_SECONDS[unit]) * 1000
  end
  if name == "since" or name == "until" then
    return program.parse_time(text)
  end
  return text ~= "" and text or nil
end

-- The filter as members of a request; or nil and an exit code.
local function read_filter(command, words)
  local members = {}
  for _, word in ipairs(words) do
    local name, text = word:match("^(%w+)=(.*)$")
    local member = FILTERS[name]
    local value = member and read_value(name, text)
    if member and value == nil then
      return nil, arguments.complain(command, "--filter %s: '%s' is not a value for it", name, text)
    elseif member and members[member] ~= nil then
      return nil, arguments.complain(command, "--filter %s: it is said twice", name)
    elseif member then
      members[member] = value
    elseif word ~= "all" then
      return nil, arguments.complain(command,
        "--filter expects NAME=VALUE with one of %s, or all; not '%s'",
        table.concat(NAMES, ", "), word)
    end
  end
  return members
end

-- Has all letters that fit changed, and says how many.
local function change_all(command, words, given)
  local members, code = read_filter(command, given.filter)
  code = code or ids.find_all(command, given.state, members, NAMED)
  if code then
    return code
  end
  if next(members) == nil and not given.expected then
    return arguments.complain(command, "--filter all needs --expected N, the number of all")
  end
  local list
  list, code = ask.ask(given.state,
    ask.request(words.op, { filter = members, expected = given.expected }))
  if not list then
    return code
  end
  if given.json then
    output.print_lines(list)
    return arguments.DONE
  end
  for row in program.rows(list) do
    local count, skipped = program.cells(row, { "count", "skipped" })
    print(("%s %s%s"):format(count, words.done,
      skipped and skipped ~= "" and (", %s left: their receivers ended"):format(skipped) or ""))
  end
  return arguments.DONE
end

-- The whole id of a dead letter; or nil and an exit code.
local function find_id(command, state, text)
  if text:find(ID) then
    return text
  end
  local id, code
  if text:find("^msg_[%x_]*$") then
    id, code = ids.find(command, state, "letter", text)
  end
  if not code and not (id and id:find(ID)) then
    code = arguments.complain(command, "'%s' is not a message id, nor does it begin the id of a "
      .. "dead letter", text)
  end
  return not code and id or nil, code
end

-- All ids are checked before anything is done; then the first failure ends it.
local function change_each(command, words, given)
  for index, text in ipairs(given.words) do
    local id, code = find_id(command, given.state, text)
    if not id then
      return code
    end
    given.words[index] = id
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

--- Makes the command; `words`: op, summary, done.
function M.make(words)
  local command = {
    summary = words.summary,
    words = "[ID…]",
    min = 0, max = 1000,
    options = {
      { "filter", value = "NAME=VALUE", kind = "list", completes = filters_offered,
        text = "all dead letters that fit; repeatable" },
      { "expected", value = "N", kind = "number",
        text = "do nothing unless so many fit the filter" },
      arguments.state, arguments.json,
    },
    notes = "`society inspect dead-letters` lists the ids; the beginning of an id is enough if it "
      .. "fits only one. The filters are "
      .. table.concat(NAMES, ", ") .. " (such as 7d), or all.",
    completes = { rest = ids.completing("letter") },
    example = ("society %s msg_20260105_120000_00000000000000a"):format(words.op),
  }
  function command.run(given)
    local has_filter = #given.filter > 0
    if has_filter == (#given.words > 0) then
      return arguments.complain(command, "expects either ids or --filter")
    elseif has_filter then
      return change_all(command, words, given)
    elseif given.expected then
      return arguments.complain(command, "--expected goes with --filter")
    end
    return change_each(command, words, given)
  end
  return command
end

return M
