--- wire: the URL of a request, and tool calls in a form that servers accept.
--
-- Every request repeats the earlier tool calls of the conversation. A server that refuses its
-- own model's slips in them (a name with other characters, arguments that are not JSON) would
-- refuse every later request.

local json = require("society.json")

local M = {}

local NAME_BYTES_MAX = 64

--- The URL of `path` at a server; a query in the base is kept.
-- @tparam string base
-- @tparam string path begins with /
-- @tparam string? common prefix of paths that the base may end with
function M.url(base, path, common)
  local place, query = base:match("^([^?]*)(.*)$")
  place = place:gsub("/+$", "")
  if common and place:sub(-#common) == common then
    place = place:sub(1, -#common - 1)
  end
  return place .. path .. query
end

--- A valid tool name: letters, digits, _ and -.
function M.name(name)
  local plain = name:gsub("[^%w_-]", "_"):sub(1, NAME_BYTES_MAX)
  return plain == "" and "_" or plain
end

local Ids = {}
Ids.__index = Ids

--- The ids of calls in one request, for a server that restricts their characters and requires
-- them to be unique. They may come from another provider, or from a reader for calls without.
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

--- The id of the call that a result answers: the first such call without a result.
function Ids:result(id)
  return table.remove(self.open[id] or {}, 1) or M.name(id)
end

--- Arguments as an object; anything else is wrapped as text.
-- @treturn table
-- @treturn boolean whether they were an object
function M.input(arguments)
  local value = json.decode(arguments:find("%S") and arguments or "{}")
  if type(value) == "table" and value ~= json.null and not arguments:match("^%s*%[") then
    return value, arguments:find("%S") ~= nil
  end
  return { raw = arguments }, false
end

--- Arguments as the JSON text of an object.
function M.arguments(arguments)
  local value, is_one = M.input(arguments)
  return is_one and arguments or json.encode(value)
end

return M
