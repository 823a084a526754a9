--- society.export.mermaid: messages as a sequence diagram for Mermaid.
--
-- Agents stand in the order in which they first sent or received; replies are dotted, dead
-- letters end with a cross.

local json = require("society.json")
local output = require("society.cli.output")
local program = require("society.program")

local M = {}

local TEXT_BYTES_MAX = 120

-- Characters that mean something to Mermaid become its entities.
local function escape(text)
  text = program.harmless(output.shorten(text, TEXT_BYTES_MAX), "\n", " ")
  text = text:gsub("[#;%%<>&]", function(character)
    return ("#%d;"):format(character:byte())
  end)
  return (text:gsub("\n", "<br/>"):gsub("\t", " "))
end

-- A payload by its text, or as JSON.
local function describe(payload)
  local text = program.member(payload, "text")
  local value = text and json.decode(text)
  return escape(type(value) == "string" and value or payload)
end

-- A number stands for each id, which Mermaid might take for one of its keywords.
local function number_of(agents, id)
  if not agents[id] then
    agents[#agents + 1] = id
    agents[id] = #agents
  end
  return agents[id]
end

local function arrow_of(status, reply_to)
  if status == "dead" or status == "expired" then
    return "-x"
  end
  return reply_to ~= "" and "-->>" or "->>"
end

--- Makes the diagram of `list`, the answer of the operation `messages`.
function M.write(list)
  local agents, arrows, lines = {}, {}, { "sequenceDiagram" }
  for row in program.rows(list) do
    local from, to, type, status, reply_to =
      program.cells(row, { "from", "to", "type", "status", "reply_to" })
    local sender = number_of(agents, from)
    arrows[#arrows + 1] = ("  p%d%sp%d: %s %s"):format(sender, arrow_of(status, reply_to),
      number_of(agents, to), escape(type), describe(program.member(row, "payload") or ""))
  end
  for number, id in ipairs(agents) do
    lines[#lines + 1] = ("  participant p%d as %s"):format(number, id)
  end
  table.move(arrows, 1, #arrows, #lines + 1, lines)
  return table.concat(lines, "\n") .. "\n"
end

return M
