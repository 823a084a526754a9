--- Context: the messages at hand, the beginning, and as much of the latest conversation as fits.
--
-- Units stay together, so a tool call keeps its result. The last unit and the messages at
-- hand are always included, even if they are too large: without them there is nothing to
-- answer. The units before them start with a message, not in the middle of its handling.

local M = {
  kind = "context", version = 1,
  defaults = { first = 1 }, -- units from the beginning that stay, if there is room
}

-- Where the units from `from` on that are kept begin: at a message, unless one at hand
-- stands before them.
local function beginning(units, from, first_at_hand)
  if first_at_hand and first_at_hand < from then
    return from
  end
  for number = from, #units do
    if units[number].role == "user" then
      return number
    end
  end
  return from
end

-- What must be in: the last one and those at hand.
-- @treturn table by number; the room that is left; the number of the first at hand, if any
local function needed(units, left)
  local is_kept, first_at_hand = {}, nil
  for number = #units, 1, -1 do
    if number == #units or units[number].is_at_hand then
      is_kept[number], left = true, left - units[number].tokens
      first_at_hand = units[number].is_at_hand and number or first_at_hand
    end
  end
  return is_kept, left, first_at_hand
end

-- Goes back from the last one as far as there is room.
local function reach(units, is_kept, left)
  local from = #units
  while from > 1 and (is_kept[from - 1] or units[from - 1].tokens <= left) do
    from = from - 1
    left = left - (is_kept[from] and 0 or units[from].tokens)
  end
  return from
end

function M.keep(request, settings)
  local units, kept = request.units, {}
  local is_kept, left, first_at_hand = needed(units, request.tokens_max)
  for number = 1, math.min(settings.first, #units - 1) do
    if not is_kept[number] and units[number].tokens <= left // 2 then
      is_kept[number], left = true, left - units[number].tokens
    end
  end
  local from = reach(units, is_kept, left)
  local begin = beginning(units, from, first_at_hand)
  for number = 1, #units do
    if number < from and is_kept[number] or number >= begin then
      kept[#kept + 1] = number
    end
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
  { ask = "keep", given = { { tokens_max = 35, units = { -- in the midst of a long piece of work
    { first = 1, last = 1, tokens = 20, role = "user" },
    { first = 2, last = 2, tokens = 10, role = "user", is_at_hand = true },
    { first = 3, last = 4, tokens = 10, role = "assistant" },
    { first = 5, last = 6, tokens = 10, role = "assistant" },
    { first = 7, last = 8, tokens = 10, role = "assistant" },
  } } }, expect = { 2, 4, 5 } },
  { ask = "keep", given = { { tokens_max = 35, units = {
    { first = 1, last = 1, tokens = 20, role = "user" },
    { first = 2, last = 3, tokens = 10, role = "assistant" },
    { first = 4, last = 4, tokens = 10, role = "user" },
    { first = 5, last = 5, tokens = 10, role = "user", is_at_hand = true },
  } } }, expect = { 3, 4 } },
}

return M
