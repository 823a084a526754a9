--- society export: a society, running or stopped, in the format of another program.

local arguments = require("society.cli.arguments")
local ask = require("society.cli.ask")
local json = require("society.json")
local program = require("society.program")
local rows = require("society.cli.rows")

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

-- A reader that has enough, such as head, must not end the program: its copy would stay.
local function write_lines(state)
  program.ignore_closed_pipes()
  local function check(_, reason)
    if reason then
      error({ reason = reason })
    end
  end
  local is_done, code = pcall(function()
    local code = rows.walk(state, function(line) check(io.write(line, "\n")) end)
    check(io.stdout:flush())
    return code
  end)
  if is_done then
    return code
  elseif type(code) ~= "table" then
    error(code, 0)
  elseif code.reason ~= "Broken pipe" then
    program.complain("stdout: " .. code.reason)
  end
  return arguments.FAILED
end

local FORMATS = {
  { "org-json", "the contact registries of all agents, as JSON",
    write = write_object("registries") },
  { "dot", "agents and who waits for whom, for Graphviz", write = write_text("dot") },
  { "mermaid", "messages as a sequence diagram for Mermaid", write = write_text("mermaid") },
  { "jsonl", "the whole society, one JSON object per line; `society import` reads it",
    write = write_lines },
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
