--- society.cli.output: rows for people and for programs.

local program = require("society.program")

local M = {}

local NARROW = 12 -- columns; none is cut below that
local UNCUT = { ID = true, TIME = true }

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

-- One line, without control characters, at most `width_max` wide unless it `is_wide`.
local function make_cell(text, column, is_wide)
  local number = column.title == "DOLLARS" and tonumber(text)
  if number then
    return ("$%.6f"):format(number)
  end
  if text:find("[%c\x80-\xFF]") then
    text = program.harmless(text, " ", " "):gsub("\t", " ")
  elseif is_wide or #text <= column.width_max then
    return text
  end
  if not is_wide and width_of(text) > column.width_max then
    return cut(text, column.width_max - 1) .. "…"
  end
  return text
end

-- Cells of all rows, row by row, and the width of each column.
local function make_cells(list, columns, is_wide)
  local names, widths, rows = {}, {}, {}
  for index, column in ipairs(columns) do
    names[index], widths[index] = column.member, 0
  end
  local next_row = program.rows(list, names)
  local cells = { next_row() }
  while cells[1] do
    for index, column in ipairs(columns) do
      local cell = make_cell(cells[index], column, is_wide)
      local width = #cell
      cells[index] = cell
      if cell:find("[\x80-\xFF]") then
        width = width_of(cell)
        cells.is_uneven = true -- some bytes take no column of their own
      end
      if width > widths[index] then
        widths[index] = width
      end
    end
    rows[#rows + 1] = cells
    cells = { next_row() }
  end
  return rows, widths
end

-- The widest column that may be cut, or nil.
local function find_widest(columns, widths)
  local widest
  for index, width in ipairs(widths) do
    if width > NARROW and not UNCUT[columns[index].title]
      and (not widest or width > widths[widest]) then
      widest = index
    end
  end
  return widest
end

-- Narrows the widest columns until the table fits a terminal of `room` columns. A line that is
-- still too long wraps. Tells whether a column changed.
local function narrow(columns, widths, room)
  local total, is_changed = -2, false
  for index, width in ipairs(widths) do
    total = total + (width > 0 and math.max(width, #columns[index].title) + 2 or 0)
  end
  local widest = find_widest(columns, widths)
  while total > room and widest do
    local width = math.max(NARROW, widths[widest] - (total - room))
    total = total - widths[widest] + width
    widths[widest] = width
    is_changed = true
    widest = find_widest(columns, widths)
  end
  return is_changed
end

-- Cuts the cells to the widths of their columns.
local function cut_cells(rows, widths)
  for _, cells in ipairs(rows) do
    for index, width in ipairs(widths) do
      if width_of(cells[index]) > width then
        cells[index] = cut(cells[index], width - 1) .. "…"
        cells.is_uneven = true
      end
    end
  end
end

-- A format for rows whose bytes take a column each. A column without any value is left out.
local function make_format(columns, widths)
  local parts, titles, last = {}, {}, 0
  for index, column in ipairs(columns) do
    titles[index] = widths[index] > 0 and column.title or ""
    widths[index] = widths[index] > 0 and math.max(widths[index], #column.title) or 0
    parts[index] = widths[index] > 0 and ("%%-%ds  "):format(widths[index]) or "%s"
    last = widths[index] > 0 and index or last
  end
  parts[last] = "%s"
  return table.concat(parts) .. "\n", titles, last
end

-- The shape of a table that goes on, unless a column has got its first value.
local function keep_shape(shape, widths)
  for index, width in ipairs(widths) do
    if not shape or (width > 0 and shape.widths[index] == 0) then
      return nil
    end
  end
  return shape
end

--- Prints the objects of a JSON list as a table with aligned columns. Returns its shape,
-- with which the next list goes on as the same table. On a terminal it is as wide as that,
-- unless it `is_wide`, where no cell is cut.
function M.print_table(list, columns, shape, is_wide)
  local rows, widths = make_cells(list, columns, is_wide)
  local room = not is_wide and program.terminal_width()
  if room and narrow(columns, widths, room) then
    cut_cells(rows, widths)
  end
  if #rows == 0 then
    return shape
  end
  shape = keep_shape(shape, widths)
  if not shape then
    local format, titles, last = make_format(columns, widths)
    shape = { format = format, widths = widths, last = last }
    if last == 0 then
      return nil
    end
    io.write(format:format(table.unpack(titles)))
  end
  local format, last = shape.format, shape.last
  widths = shape.widths
  for _, cells in ipairs(rows) do
    if cells.is_uneven then
      for index = 1, last - 1 do
        local padding = widths[index] > 0 and
          math.max(widths[index] + 2 - width_of(cells[index]), 2) or 0
        cells[index] = cells[index] .. (" "):rep(padding)
      end
      io.write(table.concat(cells, "", 1, last), "\n")
    else
      io.write(format:format(table.unpack(cells)))
    end
  end
  return shape
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
