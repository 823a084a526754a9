--- Context: how it began, and as much of what came last as there is room for.
--
-- A unit is never parted, so a tool call keeps its answer. The last unit always goes in,
-- even if it alone is too large: without it there is nothing to answer.

local M = {
  kind = "context", version = 1,
  defaults = { first = 1 }, -- units from the beginning that stay, if there is room
}

function M.keep(request, settings)
  local units, left, kept = request.units, request.tokens_max, {}
  local count = #units
  for number = 1, math.min(settings.first, count - 1) do
    if units[number].tokens <= left // 2 then
      kept[#kept + 1] = number
      left = left - units[number].tokens
    end
  end
  local from = count
  left = left - units[count].tokens
  while from - 1 > settings.first and units[from - 1].tokens <= left do
    from = from - 1
    left = left - units[from].tokens
  end
  for number = from, count do
    kept[#kept + 1] = number
  end
  return kept
end

local function units(...)
  local list = {}
  for index, tokens in ipairs({ ... }) do
    list[index] = { first = index, last = index, tokens = tokens, role = "user" }
  end
  return list
end

M.examples = {
  { ask = "keep", given = { { tokens_max = 100, units = units(10, 10, 10) } },
    expect = { 1, 2, 3 } },
  { ask = "keep", given = { { tokens_max = 35, units = units(10, 10, 10, 10) } },
    expect = { 1, 3, 4 } },
  { ask = "keep", given = { { tokens_max = 35, units = units(30, 10, 10) } }, expect = { 2, 3 } },
  { ask = "keep", given = { { tokens_max = 5, units = units(10, 90) } }, expect = { 2 } },
  { ask = "keep", given = { { tokens_max = 5, units = units(10) } }, expect = { 1 } },
}

return M
