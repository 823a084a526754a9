--- wire: where a request goes, and calls of tools as a server takes them back.
--
-- What a model called goes to its server with every later request of the conversation. A
-- server that refuses its own model's slips there, a name of other letters or arguments that
-- are no JSON, would refuse all of them.

local json = require("society.json")

local M = {}

local NAME_BYTES_MAX = 64

--- The address of `path` at a server; what the server's own asks for by `?` stays behind it.
-- @tparam string base
-- @tparam string path begins with /
-- @tparam string? common where paths begin, which the base may end with already
function M.url(base, path, common)
  local place, query = base:match("^([^?]*)(.*)$")
  place = place:gsub("/+$", "")
  if common and place:sub(-#common) == common then
    place = place:sub(1, -#common - 1)
  end
  return place .. path .. query
end

--- A name as those of tools are: letters, digits, _ and -.
function M.name(name)
  local plain = name:gsub("[^%w_-]", "_"):sub(1, NAME_BYTES_MAX)
  return plain == "" and "_" or plain
end

local Ids = {}
Ids.__index = Ids

--- The ids of calls in one request, for a server that takes those of certain letters, and each
-- once. Others may have given them: whoever answered before, or a reader to calls without.
function M.ids()
  return setmetatable({ is_used = {}, open = {} }, Ids)
end

--- The id of a call.
function Ids:call(id)
  local plain, number = M.name(id), 1
  local own = plain
  while self.is_used[own] do
    number = number + 1
    own = ("%s_%d"):format(plain, number)
  end
  self.is_used[own] = true
  self.open[id] = self.open[id] or {}
  table.insert(self.open[id], own)
  return own
end

--- The id of the call that a result answers: the first of that id without one.
function Ids:result(id)
  return table.remove(self.open[id] or {}, 1) or M.name(id)
end

--- Arguments as the object that they are; what is none goes as its text.
-- @treturn table
-- @treturn boolean whether it was one
function M.input(arguments)
  local value = json.decode(arguments:find("%S") and arguments or "{}")
  if type(value) == "table" and value ~= json.null and not arguments:match("^%s*%[") then
    return value, arguments:find("%S") ~= nil
  end
  return { raw = arguments }, false
end

--- Arguments as the text of an object.
function M.arguments(arguments)
  local value, is_one = M.input(arguments)
  return is_one and arguments or json.encode(value)
end

return M
