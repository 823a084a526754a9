--- window: which units of a conversation go to the model.

local json = require("society.json")

local M = {}

--- Ranges of entries, for agent:chat{ history = … }, of the units with these numbers.
function M.ranges(units, kept)
  local ranges = {}
  for _, number in ipairs(kept) do
    local unit, last = units[number], ranges[#ranges]
    if last and last[2] + 1 == unit.first then
      last[2] = unit.last
    else
      ranges[#ranges + 1] = json.array({ unit.first, unit.last })
    end
  end
  return json.array(ranges)
end

return M
