--- society.cli.life: one agent, one message or one conversation, for people.

local ask = require("society.cli.ask")
local json = require("society.json")
local output = require("society.cli.output")
local program = require("society.program")

local M = {}

local LIFE = {
  { title = "TIME", member = "time", width_max = 24 },
  { title = "EVENT", member = "event", width_max = 20 },
  { title = "AGENT", member = "agent", width_max = 40 },
  { title = "OTHER", member = "other", width_max = 40 },
  { title = "DETAIL", member = "detail", width_max = 200 },
}

-- Prints the members of an object but for those in `apart`, one per line.
local function print_members(row, apart)
  for _, member in ipairs(program.members(row)) do
    if not apart[member[1]] then
      io.write(("%-16s %s\n"):format(member[1], program.harmless(member[2], "\n", " ")))
    end
  end
end

--- One agent: its members.
function M.agent(list)
  for row in program.rows(list) do
    print_members(row, {})
  end
end

-- Another message in one line.
local function print_other(row, name)
  local other = program.member(row, name)
  if other and other ~= "null" then
    local id, from, payload = program.cells(other, { "id", "from", "payload" })
    io.write(("%-16s %s from %s: %s\n"):format(name, id, from,
      program.harmless(payload, " ", " ")))
  end
end

--- One message: its members, its cause, its reply, then what happened to it, a line each.
function M.message(list, is_wide)
  for row in program.rows(list) do
    print_members(row, { life = true, reply = true, cause = true, caused_by = true })
    print_other(row, "cause")
    print_other(row, "reply")
    local life = program.member(row, "life")
    if life and life ~= "[]" then
      io.write("\n")
      output.print_table(life, LIFE, nil, is_wide)
    end
  end
end

-- The lines of one entry: who speaks, then what.
local function entry_lines(entry)
  local lines = {}
  local speaker = entry.role or "?"
  local content = entry.content
  if content ~= nil and content ~= json.null and content ~= "" then
    lines[#lines + 1] = ("%s: %s"):format(speaker, ask.as_text(content))
  end
  for _, call in ipairs(type(entry.tool_calls) == "table" and entry.tool_calls or {}) do
    lines[#lines + 1] = ("%s calls %s %s"):format(speaker, call.name, call.arguments)
  end
  if #lines == 0 then
    lines[1] = ("%s: %s"):format(speaker, json.encode(entry))
  end
  return lines
end

--- A conversation: what the model saw, said and called, oldest first.
function M.conversation(list)
  local object = json.decode(program.rows(list)())
  if object.first > 1 then
    io.write(("(%d earlier entries are not shown)\n"):format(object.first - 1))
  end
  for _, entry in ipairs(object.entries) do
    for _, line in ipairs(entry_lines(type(entry) == "table" and entry or { content = entry })) do
      io.write(program.harmless(line, "\n  ", " "), "\n")
    end
  end
end

return M
