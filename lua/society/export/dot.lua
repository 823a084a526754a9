--- society.export.dot: a society as a picture, in the language of Graphviz.
--
-- Agents are boxes with the name of their role and their status; a dashed line goes from
-- parent to child, a bold one from an agent that waits to the one it waits for.

local json = require("society.json")
local program = require("society.program")

local M = {}

local COLOURS = {
  working = "palegreen",
  blocked_internal = "orange",
  blocked_user = "gold",
  paused = "lightblue",
  failed = "tomato",
  unresponsive = "tomato",
  ending = "lightgray",
  stopped = "gray",
}

local function escape(text)
  return (text:gsub('["\\]', "\\%0"):gsub("[%z\1-\31]", " "))
end

local function edge(from, to, style)
  return ('  "%s" -> "%s" [%s];'):format(escape(from), escape(to), style)
end

--- Makes the digraph of `list`, the answer of the operation `graph`, in order of birth.
function M.write(list)
  local graph = json.decode(program.rows(list)())
  local lines = { "digraph society {", "  node [shape=box, style=filled];" }
  local waits = {}
  for _, wait in ipairs(graph.waits) do
    waits[wait.agent] = wait
  end
  for _, agent in ipairs(graph.agents) do
    lines[#lines + 1] = ('  "%s" [label="%s\\n%s\\n%s", fillcolor=%s];'):format(escape(agent.id),
      escape(agent.id), escape(agent.role.name), agent.status, COLOURS[agent.status] or "white")
  end
  for _, agent in ipairs(graph.agents) do
    if agent.parent then
      lines[#lines + 1] = edge(agent.parent, agent.id, "style=dashed, arrowhead=none")
    end
    local wait = waits[agent.id]
    for _, target in ipairs(wait and wait.waits_for or {}) do
      lines[#lines + 1] = edge(agent.id, target, ('style=bold, label="%s"'):format(wait.kind))
    end
  end
  lines[#lines + 1] = "}\n"
  return table.concat(lines, "\n")
end

return M
