-- What the documents and the types for editors say of the fields of a message is what the
-- table of fields says (core/model/message_fields.h).

local society = require("society")
local tree = require("tree")

-- The rows of the table that begins with the line `head`: lists of cells.
local function rows_of(page, head)
  local text = tree.read(page)
  local first = select(2, text:find("\n" .. head .. "\n|[- |]*\n", 1, false))
  assert(first, page .. " has no such table")
  local rows = {}
  for line in text:sub(first + 1):gmatch("([^\n]*)\n") do
    if line:sub(1, 1) ~= "|" then
      break
    end
    local cells = {}
    for cell in line:gmatch("| ([^|]*)") do
      cells[#cells + 1] = (cell:gsub("%s+$", ""))
    end
    rows[#rows + 1] = cells
  end
  return rows
end

-- The names in a cell: `payload` (or `content`); `from`, `to`.
local function names_of(cell)
  local list = {}
  for name in cell:gmatch("`([^`]*)`") do
    list[#list + 1] = name
  end
  return list
end

local function sorted(list)
  table.sort(list)
  return list
end

local function begins_with(text, start)
  return text:sub(1, #start) == start
end

-- The fields that fit, by name.
local function fields(fits)
  local list = {}
  for _, field in ipairs(society.message_fields()) do
    if fits(field) then
      list[#list + 1] = field.name
      list[field.name] = field
    end
  end
  return list
end

local function is_in_envelope(field)
  return field.shown == "envelope" or field.shown == "scripts"
end

local function is_option(field)
  return (field.names.agent or field.names.ack) and field.kind ~= "sender"
end

local function plain(list)
  return sorted({ table.unpack(list) })
end

describe("the reference of a message's fields", function()
  it("has every option of a send in lua-api.md, with its names and values", function()
    local options, found = fields(is_option), {}
    for _, row in ipairs(rows_of("docs/lua-api.md", "| option | value | meaning |")) do
      local names = names_of(row[1])
      local field = assert(options[names[1]], names[1])
      assert.same(field.names.agent or field.names.ack, names)
      assert.is_true(field.expects == nil or row[2] == field.expects, names[1] .. ": " .. row[2])
      found[#found + 1] = names[1]
    end
    assert.same(plain(options), sorted(found))
  end)

  it("has every field of a message in lua-api.md, and `text`", function()
    local expected, found = plain(fields(is_in_envelope)), {}
    expected[#expected + 1] = "text"
    for _, row in ipairs(rows_of("docs/lua-api.md", "| field | |")) do
      for _, name in ipairs(names_of(row[1])) do
        found[#found + 1] = name
      end
    end
    assert.same(sorted(expected), sorted(found))
  end)

  it("has every member of a line in files.md, and who writes it", function()
    local known = fields(function(field)
      return field.shown == "envelope" or field.names.file
    end)
    local found = {}
    for _, row in ipairs(rows_of("docs/files.md",
      "| member | in what you read | in what you write |")) do
      local names = names_of(row[1])
      local field = assert(known[names[1]], names[1])
      assert.equal(field.shown == "envelope", row[2] ~= "", names[1] .. " in what is read")
      local is_written = field.names.file ~= nil or names[1] == "id"
      assert.equal(is_written, row[3] ~= "", names[1] .. " in what is written")
      assert.is_true(field.expects == nil or begins_with(row[3], field.expects), names[1])
      if #names > 1 then
        assert.same(field.names.file, names)
      end
      found[#found + 1] = names[1]
    end
    assert.same(plain(known), sorted(found))
  end)

  local function class(name)
    local list = {}
    local text = tree.read("lua/society/meta.lua")
    local body = assert(text:match("\n%-%-%-@class society%." .. name .. "[^\n]*\n(.-)\n\n"), name)
    for field in body:gmatch("%-%-%-@field ([%w_]+)") do
      list[#list + 1] = field
    end
    return list
  end

  it("has every field and every option in the types for editors", function()
    local message = plain(fields(is_in_envelope))
    message[#message + 1] = "text"
    assert.same(sorted(message), sorted(class("Message")))
    assert.same(plain(fields(is_option)), sorted(class("SendOptions")))
    assert.same({ "to" }, sorted(class("RequestOptions")))
  end)
end)
