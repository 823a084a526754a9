--- society.cli.ids: ids as people type them.
--
-- An id may be cut short as long as what is left fits one thing only. An exact id always
-- stands for itself, even if it begins others, and even if that thing has ended: a command
-- that refuses a task which is done must not find another task instead. Nor is a number cut
-- short: T1 never stands for T10, even if there is no T1.

local arguments = require("society.cli.arguments")
local ask = require("society.cli.ask")
local program = require("society.program")
local rows = require("society.cli.rows")

local M = {}

local CANDIDATES_MAX = 10 -- named when a prefix fits several
local COMPLETED_MAX = 200 -- offered by completion
local UNLIMITED = { agents = true, links = true }

-- Calls `take(id)` for agents that have ended. Returns an exit code if that failed.
local function each_ended(state, take)
  local stored, code = rows.stored(state, "agents")
  for _, row in ipairs(stored or {}) do
    if row.ended_ms then
      take(row.id)
    end
  end
  return code
end

-- Where ids are looked for: the lists, as { operation, members }, and the member with the id.
-- `exact` is the operation that knows a thing by its id even if it has ended, and the name of
-- its parameter. `is_short`: a list that has no pages. `counts(row)` tells which rows are meant,
-- `more(take)` gives ids that no list has, and is asked only if none of them has one that fits.
local KINDS = {
  agent = { noun = "agent", member = "id", is_named = true, exact = { "agent", "agent" },
    lists = { { "agents", {} } } },
  task = { noun = "open task", member = "task_id", is_named = true, exact = { "tasks", "task" },
    lists = { { "tasks", { type = "pending" } }, { "tasks", { type = "processing" } } } },
  item = { noun = "open item", member = "id", lists = { { "inbox", {} } } },
  message = { noun = "message", member = "id", exact = { "message", "message_id" },
    lists = { { "messages", {} } } },
  -- Those that have ended are only in the tables.
  anyone = { noun = "agent", member = "id", is_named = true, exact = { "agent", "agent" },
    lists = { { "agents", {} } }, more = each_ended },
  outside = { noun = "outside agent", member = "id", is_named = true, lists = { { "agents", {} } },
    counts = function(row) return program.member(row, "external") == "true" end },
  host = { noun = "host", member = "host", is_named = true,
    lists = { { "links", {}, is_short = true } } },
  chain = { noun = "chain", member = "correlation_id",
    lists = { { "messages", {} } } },
  letter_task = { noun = "dead letters' task", member = "task_id", is_named = true,
    lists = { { "dead_letters", {} } } },
  letter_chain = { noun = "dead letters' chain", member = "correlation_id",
    lists = { { "dead_letters", {} } } },
  letter = { noun = "dead letter", member = "id", lists = { { "dead_letters", {} } } },
}

-- Calls `take(page)` with all rows of a list. Returns an exit code if that failed.
local function walk(state, list, take)
  if not list.is_short then
    return ask.walk(state, list[1], list[2], take)
  end
  local page, code = ask.ask(state, ask.request(list[1], list[2]))
  if page then
    take(page)
  end
  return code
end

-- Calls `take(id)` for each id of the kind. Returns an exit code if that failed.
local function each_id(state, kind, take)
  for _, list in ipairs(kind.lists) do
    local function take_page(page)
      for row in program.rows(page) do
        local id = program.cells(row, { kind.member })
        if id and id ~= "" and (not kind.counts or kind.counts(row)) then
          take(id)
        end
      end
    end
    local code = walk(state, list, take_page)
    if code then
      return code
    end
  end
  return nil
end

-- Tells whether there is something with exactly this id, ended or not; or nil and an exit
-- code, after a complaint.
local function is_exact(state, kind, text)
  if not kind.exact then
    return false
  end
  local request = ask.request(kind.exact[1], { [kind.exact[2]] = text })
  local list, code = ask.ask(state, request, { may_refuse = true })
  if code then
    return nil, code
  end
  return list ~= nil and program.rows(list)() ~= nil
end

-- Tells whether the id begins with the text. Ids that people give, such as T10, do not begin
-- with half a number.
local function begins(kind, id, text)
  return id:sub(1, #text) == text
    and not (kind.is_named and text:find("%d$") and id:find("^%d", #text + 1))
end

-- The ids that begin with the text, in order and without repetition; or nil and a code. The
-- text itself, if it is one of them, comes alone.
local function find_all(state, kind, text)
  local found, seen = {}, {}
  local function take(id)
    if begins(kind, id, text) and not seen[id] then
      seen[id] = true
      found[#found + 1] = id
    end
  end
  local code = each_id(state, kind, take)
  if not code and #found == 0 and kind.more then
    code = kind.more(state, take)
  end
  if code then
    return nil, code
  end
  table.sort(found)
  return seen[text] and { text } or found
end

local function complain_of_many(command, kind, text, found)
  local names = table.concat(found, ", ", 1, math.min(#found, CANDIDATES_MAX))
  if #found > CANDIDATES_MAX then
    names = ("%s and %d more"):format(names, #found - CANDIDATES_MAX)
  end
  return arguments.complain(command, "'%s' begins the ids of %d %ss: %s", text, #found,
    kind.noun, names)
end

--- The id that `text` stands for; or nil and an exit code, after a complaint. A text that
-- begins no id is returned as it is: what it is given to knows best what to say.
function M.find(command, state, name, text)
  local kind = assert(KINDS[name])
  if text == "" then
    return text -- it begins every id, so it means none
  end
  local is_found, code = is_exact(state, kind, text)
  if code then
    return nil, code
  elseif is_found then
    return text
  end
  local found
  found, code = find_all(state, kind, text)
  if not found then
    return nil, code
  end
  if #found > 1 then
    return nil, complain_of_many(command, kind, text, found)
  end
  return found[1] or text
end

-- The rows of a list, of a society that runs or not; nothing else is said if there is none.
local function ask_quietly(state, request)
  local list, name = program.ask(state, request)
  return list or name == "no_such_file" and program.ask_stopped(state, request) or "[]"
end

-- Tells whether ids can be looked for: not if a process holds the society and does not answer.
-- What the ids are given to says that best. Returns nil and an exit code, after a complaint, if
-- the society must not be asked anything more.
local function can_look(state)
  local list, name, text = program.ask(state, ask.request("stats"))
  if list or name == "refused" then
    return true
  elseif name == "no_such_file" then
    return not program.is_held(state)
  end
  return nil, ask.complain(state, name, text)
end

--- The same, but the text itself where there is no society to ask.
function M.find_if_there(command, state, name, text)
  if ask_quietly(state, ask.request("stats")) == "[]" then
    return text
  end
  return M.find(command, state, name, text)
end

--- The filters of a request, changed to the ids that their texts stand for, where `names` says
-- which kind each has. Returns an exit code if that failed, after a complaint.
function M.find_all(command, state, members, names)
  local is_known, code
  for filter, name in pairs(names) do
    if members[filter] and is_known == nil then
      is_known, code = can_look(state)
      if code then
        return code
      end
    end
    if members[filter] and is_known then
      local id
      id, code = M.find(command, state, name, members[filter])
      if not id then
        return code
      end
      members[filter] = id
    end
  end
  return nil
end

--- Says which agents in the filters of a request there are not: what was looked for is empty,
-- and else nobody would know why. Agents on other hosts are not known here.
function M.complain_of_unknown(state, members, names)
  for _, filter in ipairs({ "agent", "from", "to" }) do
    local text = names[filter] == "anyone" and members[filter]
    if text and not text:find("@", 1, true) and is_exact(state, KINDS.anyone, text) == false then
      program.complain("no agent has the id " .. text)
    end
  end
end

--- A function that offers ids of the kind to completion: those in the state directory that is
-- given to it.
function M.completing(name)
  return function(_, state)
    local kind = KINDS[name]
    local ids, seen = {}, {}
    for _, list in ipairs(kind.lists) do
      local members = { limit = UNLIMITED[list[1]] == nil and COMPLETED_MAX or nil }
      for key, value in pairs(list[2]) do
        members[key] = value
      end
      local answer = ask_quietly(state, ask.request(list[1], members))
      for row in program.rows(answer) do
        local id = program.cells(row, { kind.member })
        if id and id ~= "" and not seen[id] and (not kind.counts or kind.counts(row)) then
          seen[id] = true
          ids[#ids + 1] = id
        end
      end
    end
    return ids
  end
end

return M
