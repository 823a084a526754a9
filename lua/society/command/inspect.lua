--- society inspect: looks at a society, running or stopped.
--
-- What there is to look at, with its filters and columns, is declared in
-- core/parts/subjects.c.

local arguments = require("society.cli.arguments")
local ask = require("society.cli.ask")
local output = require("society.cli.output")
local program = require("society.program")

-- The filters: how each is called on the command line, and its help.
local FILTERS = {
  { "agent", value = "ID", text = "rows about one agent" },
  { "task", value = "ID", text = "rows that belong to one task" },
  { "type", value = "TYPE", text = "messages of one type, tasks of one type or state" },
  { "correlation", filter = "correlation_id", value = "ID", text = "rows of one request" },
  { "since", value = "TIME", text = "rows from this time on, such as 2026-01-05T12:00:00Z" },
  { "until", value = "TIME", text = "rows before this time" },
  { "from", value = "ID", text = "dead letters from one sender" },
  { "to", value = "ID", text = "dead letters to one receiver" },
  { "reason", value = "CODE", text = "dead letters that ended with one error, such as expired" },
  { "limit", value = "N", kind = "number", text = "the latest N rows" },
}

-- Lists that grow with time. They are asked for by pages.
local LONG = { activity = true, dead_letters = true, messages = true, tasks = true }

local M = {
  summary = "look at a society, running or stopped",
  words = "SUBJECT",
  min = 1, max = 1,
  options = { arguments.state },
  notes = "A filter that does not apply to the subject is an error.",
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
  return members
end

local function find_code(name, given)
  if not subjects[name] then
    return arguments.complain(M, "unknown subject '%s'; the subjects are %s", name,
      table.concat(M.completes[1], ", "))
  end
  if given.limit and given.limit < 1 then
    return arguments.complain(M, "--limit needs 1 or more")
  end
  return nil
end

function M.run(given)
  local name = given.words[1]
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
  local function show(rows)
    if given.json then
      output.print_lines(rows)
    elseif subject.columns then
      shape = output.print_table(rows, subject.columns, shape)
    else
      output.print_members(rows)
    end
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
  return 0
end

return M
