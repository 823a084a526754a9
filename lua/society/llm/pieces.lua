--- pieces: parses streamed chat completions and reports malformed ones. A member of the wrong
-- type is never ignored: the answer would be another one without it.

local answers = require("society.llm.answer")
local json = require("society.json")

local M = {}

--- Maximum bytes of a tool's name.
M.name_bytes_max = 256

local Pieces = {}
Pieces.__index = Pieces

function M.new()
  return setmetatable({ texts = {}, calls = {}, by_index = {}, count = 0 }, Pieces)
end

function M.is_object(value)
  return type(value) == "table" and value ~= json.null
end

-- Whether a value decodes to a list; an empty object counts as an empty list.
local function is_list(value)
  return M.is_object(value) and (#value > 0 or next(value) == nil)
end

M.is_list = is_list

local function is_nothing(value)
  return value == nil or value == json.null
end

local function id_of(delta)
  return type(delta.id) == "string" and delta.id ~= "" and delta.id or nil
end

-- Whether a piece begins a new call although its number is in use. Some servers give all
-- calls the same number, others a new id to each piece of one call; but the name always
-- precedes the arguments, and calls are never interleaved.
local function is_another(self, call, delta)
  local part, id = delta["function"], id_of(delta)
  if not M.is_object(part) or type(part.name) ~= "string" or part.name == "" or call.name == "" then
    return false
  elseif id == nil then
    return call.begun == self.count or call.has_arguments
  end
  return call.id ~= nil and id ~= call.id
end

-- The call a piece belongs to, a new one if it begins there; nil if there is no such call.
-- Some servers do not number calls: a piece with an id of its own begins the next call, any
-- other continues the last.
local function call_of(self, delta)
  if not M.is_object(delta) then
    return nil
  end
  local index = delta.index
  local call, is_next
  if is_nothing(index) then
    local id = id_of(delta)
    call = self.calls[#self.calls]
    is_next = not call or id ~= nil and id ~= call.id or is_another(self, call, delta)
  else
    index = math.tointeger(index) or -1
    if index < 0 then
      return nil
    end
    call = self.by_index[index]
    is_next = not call or is_another(self, call, delta)
  end
  if is_next then
    call = { id = nil, name = "", arguments = {}, has_arguments = false, begun = self.count }
    if #self.calls > answers.calls_max then
      return call -- there are too many already, which is told when all is read
    end
    self.calls[#self.calls + 1] = call
    self.by_index[is_nothing(index) and #self.calls - 1 or index] = call
  end
  return call
end

-- Some servers send the arguments as JSON values instead of as text.
local function arguments_of(value)
  if is_nothing(value) or type(value) == "string" then
    return value or json.null
  elseif M.is_object(value) and #value == 0 then
    return next(value) == nil and "{}" or json.encode(value)
  end
  return nil
end

-- A call arrives in pieces: its id and name once, its arguments piece by piece.
local function put_call(self, delta)
  local call = call_of(self, delta)
  if not call then
    return "a tool call has no place"
  end
  call.id = call.id or id_of(delta)
  local part = is_nothing(delta["function"]) and {} or delta["function"]
  if not M.is_object(part) then
    return "a tool call that calls nothing"
  elseif not is_nothing(part.name) then
    if type(part.name) ~= "string" then
      return "a tool call whose name is no text"
    end
    call.name = call.name .. part.name
    if #call.name > M.name_bytes_max then
      return "a tool call whose name is too long"
    end
  end
  local arguments = arguments_of(part.arguments)
  if not arguments then
    return "arguments that are not an object"
  elseif arguments ~= json.null and arguments ~= "" then
    call.has_arguments = true
    call.arguments[#call.arguments + 1] = arguments
  end
  return nil
end

-- A text, or a list of parts, of which only texts count (not reasoning). A refusal with its
-- reason is an answer as well.
local function put_content(self, content)
  if type(content) == "string" then
    self.texts[#self.texts + 1] = content
    return nil
  elseif not is_list(content) then
    return "text that is not a string"
  end
  for _, part in ipairs(content) do
    if not M.is_object(part) or type(part.type) ~= "string" then
      return "a part of text that is not a string"
    elseif part.type == "text" or part.type == "refusal" then
      local text = part[part.type]
      if type(text) ~= "string" then
        return "text that is not a string"
      end
      self.texts[#self.texts + 1] = text
    end
  end
  return nil
end

--- Takes one piece, or the whole message.
-- @treturn string? what is wrong with it
function Pieces:put(delta)
  self.count = self.count + 1
  local fault = not is_nothing(delta.content) and put_content(self, delta.content)
    or not is_nothing(delta.refusal) and put_content(self, delta.refusal) or nil
  if is_nothing(delta.tool_calls) then
    return fault
  elseif not is_list(delta.tool_calls) then
    return "tool calls that are no list"
  end
  for _, call in ipairs(delta.tool_calls) do
    fault = put_call(self, call) or fault
  end
  return fault
end

--- The complete answer, once all pieces have arrived.
-- @treturn[1] string the text
-- @treturn[1] table list of { id, name, arguments }
-- @treturn[2] nil
-- @treturn[2] string what is wrong with them
function Pieces:read()
  local calls = {}
  for index, call in ipairs(self.calls) do
    if call.name == "" then
      return nil, "a tool call without a name"
    end
    calls[index] = { id = call.id or ("call_" .. index), name = call.name,
      arguments = table.concat(call.arguments) }
  end
  return table.concat(self.texts), calls
end

return M
