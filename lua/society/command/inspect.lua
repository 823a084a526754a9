--- society inspect: looks at a society, running or stopped.
--
-- What there is to look at, with its filters and columns, is declared in
-- core/parts/subjects.c.

local arguments = require("society.cli.arguments")
local ask = require("society.cli.ask")
local ids = require("society.cli.ids")
local life = require("society.cli.life")
local news = require("society.cli.news")
local offers = require("society.cli.offers")
local output = require("society.cli.output")
local program = require("society.program")
local rows = require("society.cli.rows")

-- Values of --type for the subject: types, states and events.
local TYPES = { activity = { "event", "type" }, tasks = { "type", "state" } }

local function types_of(words, state)
  local subject = (words[2] or ""):gsub("-", "_")
  local names = TYPES[subject] or { "type" }
  return offers.values(TYPES[subject] and subject or subject == "dead_letters" and subject
    or "messages", names)(words, state)
end

-- The filters: how each is called on the command line, and its help.
local FILTERS = {
  { "agent", value = "ID", text = "rows about one agent", completes = ids.completing("agent") },
  { "task", value = "ID", text = "rows that belong to one task",
    completes = ids.completing("task") },
  { "type", value = "TYPE", text = "messages of one type, tasks of one type or state",
    completes = types_of },
  { "correlation", filter = "correlation_id", value = "ID", text = "rows of one request",
    completes = ids.completing("chain") },
  { "since", value = "TIME", text = "rows from this time on, such as 2026-01-05T12:00:00Z" },
  { "until", value = "TIME", text = "rows before this time" },
  { "from", value = "ID", text = "dead letters from one sender",
    completes = ids.completing("agent") },
  { "to", value = "ID", text = "dead letters to one receiver",
    completes = ids.completing("agent") },
  { "reason", value = "CODE", text = "dead letters that ended with one error, such as expired",
    completes = offers.reasons },
  { "limit", value = "N", kind = "number", text = "the latest N rows" },
}

-- Filters whose values may be cut short, and what they name.
local NAMED = { agent = "anyone", task = "task", from = "anyone", to = "anyone",
  correlation_id = "chain" }

-- Subjects that are one thing: the operation, its parameter, and how people see the answer.
local SINGLE = {
  { "agent", "one agent, alive or ended: inspect agent ID", param = "agent", kind = "anyone" },
  { "message", "one message and its whole life: inspect message ID", param = "message_id",
    kind = "message" },
  { "conversation", "what an agent's model saw, said and called: --agent ID", param = "agent",
    kind = "anyone", is_filter = true, has_ended = true },
}

local ENTRIES_BYTES_MAX = 1 << 20 -- of a conversation, as a living agent's is answered

-- Lists that may be long. They are asked for by pages.
local LONG = { activity = true, agents = true, dead_letters = true, messages = true,
  tasks = true, waits = true }

-- Those of which each row has a line in the order of events, so that none is shown twice.
local FOLLOWED = { activity = true, dead_letters = true, messages = true, tasks = true }

local M = {
  summary = "look at a society, running or stopped",
  words = "SUBJECT [ID]",
  min = 1, max = 2,
  options = { arguments.state,
    { "follow", text = "go on with what comes: activity, messages, tasks, dead-letters" },
    { "wide", text = "cut no cells; the terminal wraps long lines" } },
  notes = "A filter that does not apply to the subject is an error. The beginning of an ID is "
    .. "enough if it fits only one thing. On a terminal, tables are cut to its width.",
  completes = { {} },
  lists = { { title = "subjects" } },
  example = "society inspect messages --agent root --limit 20",
}

local subjects = {}
for _, subject in ipairs(program.subjects) do
  local name = subject.name:gsub("_", "-")
  subjects[name] = subject
  table.insert(M.completes[1], name)
  table.insert(M.lists[1], { name, subject.summary })
end
local singles = {}
for _, single in ipairs(SINGLE) do
  singles[single[1]] = single
  table.insert(M.completes[1], single[1])
  table.insert(M.lists[1], single)
end
M.completes[2] = function(words, state)
  local single = singles[words[1]]
  return single and not single.is_filter and ids.completing(single.kind)(words, state)
    or nil
end
table.move(FILTERS, 1, #FILTERS, #M.options + 1, M.options)
table.insert(M.options, arguments.json)

-- The filters as members of a request; or nil and an exit code.
local function read_filters(name, given)
  local members = {}
  for _, filter in ipairs(FILTERS) do
    local value = given[filter[1]]
    local member = filter.filter or filter[1]
    if value and not subjects[name].filters[member] then
      return nil, arguments.complain(M, "%s cannot be filtered by --%s", name, filter[1])
    end
    if value and filter.value == "TIME" then
      members[member] = program.parse_time(value)
      if not members[member] then
        return nil, arguments.complain(M,
          "--%s expects a time like 2026-01-05T12:00:00Z, not '%s'", filter[1], value)
      end
    else
      members[member] = value
    end
  end
  local code = ids.find_all(M, given.state, members, NAMED)
  if code then
    return nil, code
  end
  return members
end

local function find_code(name, given)
  if not subjects[name] then
    local near = program.nearest(name, M.completes[1])
    return arguments.complain(M, "unknown subject '%s'; %sthe subjects are %s", name,
      near and ("did you mean '%s'? "):format(near) or "", table.concat(M.completes[1], ", "))
  end
  if given.words[2] then
    return arguments.complain(M, "%s takes no ID; to filter: --agent ID", name)
  end
  if given.follow and not FOLLOWED[subjects[name].name] then
    return arguments.complain(M, "%s cannot be followed; activity can: --follow", name)
  end
  if given.limit and given.limit < 1 then
    return arguments.complain(M, "--limit needs 1 or more")
  end
  return nil
end

-- The id of the one thing to look at; or nil and an exit code.
local function find_single(single, given)
  local text = given.words[2]
  if single.is_filter then
    text = given.agent
  end
  if not text or (single.is_filter and given.words[2]) then
    return nil, arguments.complain(M, "%s needs %s", single[1],
      single.is_filter and "--agent ID" or "an ID")
  end
  if given.follow then
    return nil, arguments.complain(M, "%s cannot be followed; activity can: --follow", single[1])
  end
  for _, filter in ipairs(FILTERS) do
    if given[filter[1]] and not (single.is_filter and filter[1] == "agent") then
      return nil, arguments.complain(M, "%s cannot be filtered by --%s", single[1], filter[1])
    end
  end
  return ids.find(M, given.state, single.kind, text)
end

-- The conversation of an agent that has ended: only the tables have it. nil: there is none.
local function ended_conversation(state, id)
  local stored, code = rows.stored(state, "memories")
  if not stored then
    return nil, code
  end
  local entries, count, size = {}, 0, 0
  for index = #stored, 1, -1 do
    local row = stored[index]
    if row.agent == id then
      count, size = math.max(count, row.number), size + #row.entry
      if size <= ENTRIES_BYTES_MAX then
        table.insert(entries, 1, row.entry)
      end
    end
  end
  return count > 0 and ('[{"count":%d,"entries":[%s],"first":%d}]'):format(count,
    table.concat(entries, ","), count - #entries + 1) or nil
end

local function ask_single(single, state, id)
  local request = ask.request(single[1], { [single.param] = id })
  local list, code = ask.ask(state, request, { may_refuse = single.has_ended })
  if not list and not code then
    list, code = ended_conversation(state, id)
  end
  if list or code then
    return list, code
  end
  return ask.ask(state, request)
end

local function look_at_single(single, given)
  local id, code = find_single(single, given)
  if not id then
    return code
  end
  local list
  list, code = ask_single(single, given.state, id)
  if not list then
    return code
  end
  if given.json then
    output.print_lines(list)
  else
    life[single[1]](list, given.wide)
  end
  return arguments.DONE
end

-- Shows the list, or its latest rows, and then each row that comes.
local function follow(subject, given, members, show)
  local cursor = 0
  if members.limit then
    local list, code, last = news.ask(given.state, ask.request(subject.name, members))
    if not list then
      return code
    end
    show(list)
    io.stdout:flush()
    cursor, members.limit = last, nil
  end
  return news.follow(given.state, subject.name, members, cursor, show)
end

function M.run(given)
  local name = given.words[1]
  if singles[name] then
    return look_at_single(singles[name], given)
  end
  local code = find_code(name, given)
  if code then
    return code
  end
  local subject = subjects[name]
  local members, list, shape
  members, code = read_filters(name, given)
  if not members then
    return code
  end
  local is_empty = true
  local function show(found)
    is_empty = is_empty and program.rows(found)() == nil
    if given.json then
      output.print_lines(found)
    elseif subject.columns then
      shape = output.print_table(found, subject.columns, shape, given.wide)
    else
      output.print_members(found)
    end
  end
  if given.follow then
    return follow(subject, given, members, show)
  end
  if LONG[subject.name] and not given.limit then
    code = ask.walk(given.state, subject.name, members, show)
    if code then
      return code
    end
  else
    list, code = ask.ask(given.state, ask.request(subject.name, members))
    if not list then
      return code
    end
    show(list)
  end
  if is_empty then
    ids.complain_of_unknown(given.state, members, NAMED)
  end
  return 0
end

return M
