--- society export: a society, running or stopped, in the format of another program.

local arguments = require("society.cli.arguments")
local ask = require("society.cli.ask")
local json = require("society.json")
local output = require("society.cli.output")
local program = require("society.program")

-- What the operation answers is one object with a text.
local function write_text(op)
  return function(state)
    local list, code = ask.ask(state, ask.request(op))
    if list then
      io.write(json.decode(program.member(program.rows(list)(), "text")))
    end
    return code
  end
end

local function write_object(op)
  return function(state)
    local list, code = ask.ask(state, ask.request(op))
    if list then
      io.write(program.rows(list)(), "\n")
    end
    return code
  end
end

-- The tables in their order. Those that grow with time are read by pages; of the others a
-- running society has more stored than its list shows.
local TABLES = {
  { "roles" }, { "agents" }, { "contacts" }, { "tasks", is_long = true },
  { "messages", is_long = true }, { "inbox", members = { state = "all" } },
  { "activity", is_long = true },
}

local function write_rows(name, list)
  for row in program.rows(list) do
    io.write('{"table":"', name, '",', row:sub(2), "\n")
  end
end

local function write_table(state, table)
  local name = table[1]
  if table.is_long then
    return ask.walk(state, name, {}, function(list) write_rows(name, list) end)
  end
  local _, failure = program.ask(state, ask.request("stats"))
  if failure ~= "no_such_file" then
    local rows, code = ask.ask(state, ask.request("rows", { table = name }))
    if rows then
      output.print_lines(rows)
    end
    return code
  end
  local list, code = ask.ask(state, ask.request(name, table.members))
  if list then
    write_rows(name, list)
  end
  return code
end

local function write_tables(state)
  for _, table in ipairs(TABLES) do
    local code = write_table(state, table)
    if code then
      return code
    end
  end
  return nil
end

local FORMATS = {
  { "org-json", "the contact registries of all agents, as JSON",
    write = write_object("registries") },
  { "dot", "agents and who waits for whom, for Graphviz", write = write_text("dot") },
  { "mermaid", "messages as a sequence diagram for Mermaid", write = write_text("mermaid") },
  { "jsonl", "every row that is stored, one JSON object per line", write = write_tables },
}

local M = {
  summary = "write a society, running or stopped, in another format",
  words = "FORMAT",
  min = 1, max = 1,
  options = { arguments.state },
  completes = { {} },
  lists = { { title = "formats" } },
  example = "society export dot | dot -Tsvg > society.svg",
}

local formats = {}
for index, format in ipairs(FORMATS) do
  formats[format[1]] = format
  M.completes[1][index] = format[1]
  M.lists[1][index] = format
end

function M.run(given)
  local format = formats[given.words[1]]
  if not format then
    return arguments.complain(M, "unknown format '%s'; the formats are %s", given.words[1],
      table.concat(M.completes[1], ", "))
  end
  return format.write(given.state) or arguments.DONE
end

return M
