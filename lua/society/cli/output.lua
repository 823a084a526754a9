--- society.cli.output: rows for people and for programs.

local program = require("society.program")

local M = {}

-- Characters that take two columns of a terminal.
local WIDE = {
  { 0x1100, 0x115F }, { 0x2E80, 0x303E }, { 0x3041, 0xA4CF }, { 0xAC00, 0xD7A3 },
  { 0xF900, 0xFAFF }, { 0xFE30, 0xFE6F }, { 0xFF00, 0xFF60 }, { 0xFFE0, 0xFFE6 },
  { 0x1F300, 0x1FAFF }, { 0x20000, 0x3FFFD },
}

local function width_of_character(character)
  if character >= 0x300 and character <= 0x36F then
    return 0
  end
  for _, span in ipairs(WIDE) do
    if character >= span[1] and character <= span[2] then
      return 2
    end
  end
  return 1
end

local function width_of(text)
  if not text:find("[\x80-\xFF]") then
    return #text
  end
  local width = 0
  for _, character in utf8.codes(text) do
    width = width + width_of_character(character)
  end
  return width
end

-- The beginning of a text that fits into `room` columns.
local function cut(text, room)
  for position, character in utf8.codes(text) do
    room = room - width_of_character(character)
    if room < 0 then
      return text:sub(1, position - 1)
    end
  end
  return text
end

-- One line, without control characters, at most `width_max` wide.
local function make_cell(text, column)
  local number = column.title == "DOLLARS" and tonumber(text)
  if number then
    return ("$%.6f"):format(number)
  end
  if text:find("[%c\x80-\xFF]") then
    text = program.harmless(text, " ", " "):gsub("\t", " ")
  end
  if width_of(text) > column.width_max then
    return cut(text, column.width_max - 1) .. "…"
  end
  return text
end

-- Cells of all rows, row by row, and the width of each column.
local function make_cells(list, columns)
  local names, widths, rows = {}, {}, {}
  for index, column in ipairs(columns) do
    names[index], widths[index] = column.member, 0
  end
  for row in program.rows(list) do
    local cells = { program.cells(row, names) }
    for index, column in ipairs(columns) do
      cells[index] = make_cell(cells[index], column)
      widths[index] = math.max(widths[index], width_of(cells[index]))
    end
    rows[#rows + 1] = cells
  end
  return rows, widths
end

--- Prints the objects of a JSON list as a table with aligned columns. A column without any
-- value is left out.
function M.print_table(list, columns)
  local rows, widths = make_cells(list, columns)
  local shown, titles = {}, {}
  for index, column in ipairs(columns) do
    titles[index] = column.title
    if widths[index] > 0 then
      widths[index] = math.max(widths[index], #column.title)
      shown[#shown + 1] = index
    end
  end
  local function print_row(cells)
    local parts = {}
    for place, index in ipairs(shown) do
      local padding = widths[index] + 2 - width_of(cells[index])
      parts[place] = cells[index] .. (place == #shown and "" or (" "):rep(padding))
    end
    io.write(table.concat(parts), "\n")
  end
  if #shown > 0 then
    print_row(titles)
  end
  for _, cells in ipairs(rows) do
    print_row(cells)
  end
end

--- Prints the members of each object of a JSON list, one per line.
function M.print_members(list)
  for row in program.rows(list) do
    for _, member in ipairs(program.members(row)) do
      io.write(("%-12s %s\n"):format(member[1], member[2]))
    end
  end
end

--- Prints each element of a JSON list as a line.
function M.print_lines(list)
  for row in program.rows(list) do
    io.write(row, "\n")
  end
end

--- A text as one word of the shell.
function M.quote(text)
  if text:find("^[%w_%-./=:,+@%%]+$") then
    return text
  end
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

--- Words of a command line: { "--policy", list } gives one for each text of the list.
function M.words(...)
  local words = {}
  for _, part in ipairs({ ... }) do
    if type(part) == "table" then
      for _, text in ipairs(part[2]) do
        words[#words + 1] = part[1] .. " " .. M.quote(text)
      end
    else
      words[#words + 1] = M.quote(part)
    end
  end
  return table.concat(words, " ")
end

--- At most `bytes` of a text, cut between characters.
function M.shorten(text, bytes)
  if #text <= bytes then
    return text
  end
  local last = bytes
  while last > 0 and (text:byte(last + 1) & 0xC0) == 0x80 do
    last = last - 1
  end
  return text:sub(1, last) .. "…"
end

return M
