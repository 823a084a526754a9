--- society.template: texts with places to fill in.
--
-- A place is `{{name}}`, a lower-case name without spaces; it is filled once, with
-- the value as it stands. Everything else, including other braces, stays byte for byte.
--
--     local template = require("society.template")
--     template.fill("I am {{id}}.", { id = "a1" })          -- "I am a1."

local M = {}

local PLACE = "{{([a-z_][a-z0-9_]*)}}"

--- Fills the places of `text`.
-- A name without a value is an error, so that a slip in a template is found when its
-- policy is tried. Values are never searched for places.
-- @tparam string text
-- @tparam table values by name: strings or numbers
-- @treturn string
function M.fill(text, values)
  return (text:gsub(PLACE, function(name)
    local value = values[name]
    if type(value) ~= "string" and type(value) ~= "number" then
      error(("template: {{%s}} has no value"):format(name), 0)
    end
    return value
  end))
end

return M
