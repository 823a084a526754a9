--- society export: a society, running or stopped, in the format of another program.

local arguments = require("society.cli.arguments")
local ask = require("society.cli.ask")
local program = require("society.program")

local FORMATS = {
  { "org-json", "the contact registries of all agents, as JSON", op = "registries",
    write = function(list) return program.rows(list)() end },
  { "dot", "agents and who waits for whom, for Graphviz", op = "graph",
    write = function(list) return require("society.export.dot").write(list) end },
  { "mermaid", "messages as a sequence diagram for Mermaid", op = "messages",
    write = function(list) return require("society.export.mermaid").write(list) end },
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
  local list, code = ask.ask(given.state, ask.request(format.op))
  if not list then
    return code
  end
  io.write((format.write(list):gsub("\n?$", "\n", 1)))
  return arguments.DONE
end

return M
