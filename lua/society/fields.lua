--- society.fields: values and tables of JSON as text.
--
--     local fields = require("society.fields")
--     fields.text({ 1 })                              -- "[1]"
--     fields.rest({ a = 1, b = 2 }, { a = true })     -- '{"b":2}'

local json = require("society.json")

local M = {}

--- A text as it is, anything else as JSON.
-- @param value
-- @treturn string
function M.text(value)
  return type(value) == "string" and value or json.encode(value)
end

--- The fields of a table but those in `known`, as JSON.
-- @tparam table fields
-- @tparam table known name -> true
-- @treturn ?string nil if there are none
function M.rest(fields, known)
  local rest, has_rest = {}, false
  for name, value in pairs(fields) do
    if not known[name] then
      rest[name], has_rest = value, true
    end
  end
  return has_rest and json.encode(rest) or nil
end

return M
