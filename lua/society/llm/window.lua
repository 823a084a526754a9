--- window: which units of a conversation go to the model.

local json = require("society.json")

local M = {}

--- Adds the messages at hand to the units a policy has chosen, and drops units before the
-- first message: some servers require a message first.
function M.whole(units, kept)
  local is_kept, list = {}, {}
  for _, number in ipairs(kept) do
    is_kept[number] = true
  end
  for number, unit in ipairs(units) do
    local is_begun = #list > 0 or unit.role == "user"
    if unit.is_at_hand or is_kept[number] and is_begun then
      list[#list + 1] = number
    end
  end
  return #list > 0 and list or kept
end

--- The entries of the chosen units as ranges, for agent:chat{ history = … }.
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
