--- blocks: parses Anthropic's streamed answers and reports malformed ones.

local answers = require("society.llm.answer")
local json = require("society.json")

local M = {}

--- Maximum blocks of one answer.
M.blocks_max = 4096

local Blocks = {}
Blocks.__index = Blocks

function M.new()
  return setmetatable({ is_begun = false, by_index = {}, calls = 0 }, Blocks)
end

function M.is_object(value)
  return type(value) == "table" and value ~= json.null
end

local function fault_of_block(block)
  if not M.is_object(block) then
    return "a block that is not an object"
  elseif block.type == "text" and block.text ~= nil and type(block.text) ~= "string" then
    return "text that is not a string"
  elseif block.type == "tool_use" then
    if type(block.id) ~= "string" or type(block.name) ~= "string" or block.name == "" then
      return "a tool call without an id or a name"
    elseif block.input ~= nil and type(block.input) ~= "table" then
      return "arguments that are not an object"
    end
  end
end

local function is_nothing(value)
  return value == nil or value == json.null
end

local function begin(block)
  return {
    kind = block.type, id = block.id, name = block.name,
    parts = { block.type == "text" and block.text or nil },
    input = block.type == "tool_use" and M.is_object(block.input) and block.input or nil,
  }
end

-- A tool call beyond the most that one answer may have; that is reported when everything
-- is read.
local function is_surplus(self, block)
  if block.type ~= "tool_use" then
    return false
  end
  self.calls = self.calls + 1
  return self.calls > answers.calls_max + 1
end

--- A block begins, or is complete.
-- @param index the server's number for it, if any
-- @treturn string? what is wrong with it
function Blocks:add(block, index)
  local fault = fault_of_block(block)
  if fault then
    return fault
  end
  self.is_begun = true
  if is_surplus(self, block) then
    self.surplus = begin(block)
    return nil
  elseif #self >= M.blocks_max then
    return "more blocks than an answer can have"
  end
  local begun = begin(block)
  self.by_index[is_nothing(index) and #self or index] = begun
  self[#self + 1] = begun
  return nil
end

--- Continues the block with that number, or the last one without a number.
-- @treturn string? the text it adds
-- @treturn string? what is wrong with it
function Blocks:go_on(delta, index)
  local block
  if is_nothing(index) then
    block = self[#self]
  else
    block = self.by_index[index] or self.surplus
  end
  if not block or not M.is_object(delta) then
    return nil, "a piece of no block"
  end
  local part = delta.text or delta.partial_json
  if part ~= nil and type(part) ~= "string" then
    return nil, "a piece of text that is not a string"
  end
  block.parts[#block.parts + 1] = part
  return block.kind == "text" and part or nil
end

--- The complete answer.
-- @treturn string the text
-- @treturn table list of { id, name, arguments }
function Blocks:read()
  local texts, calls = {}, {}
  for _, block in ipairs(self) do
    local text = table.concat(block.parts)
    if block.kind == "tool_use" then
      local input = block.input and next(block.input) and json.encode(block.input)
      calls[#calls + 1] = { id = block.id, name = block.name,
        arguments = text ~= "" and text or input or "{}" }
    elseif block.kind == "text" then
      texts[#texts + 1] = text
    end
  end
  return table.concat(texts), calls
end

return M
