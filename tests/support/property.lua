--- property: checks a law against many generated cases, and shrinks the case that breaks it
-- before it is shown.
--
-- A case is plain data (tables, integers, strings), made by a generator from a Random of a
-- known seed, so that every failure can be repeated. Lists get shorter and integers
-- smaller; the named fields of a record stay. So a text is best a list of pieces, something
-- optional an element of a list, and a choice the number of one (see at), the simplest
-- first.
--
--     property.check({ cases = 500, seed = 1 }, function(random)
--       return random:list(0, 20, function() return random:between(1, 9) end)
--     end, function(case)
--       return is_sorted(sort(case))        -- or: false, why; or raises
--     end)

local json = require("society.json")

local M = {}

local Random = {}
Random.__index = Random

--- Makes a source of random numbers that is the same for the same seed.
function M.random(seed)
  return setmetatable({ state = seed }, Random)
end

-- splitmix64
function Random:bits()
  self.state = self.state + 0x9e3779b97f4a7c15
  local z = self.state
  z = (z ~ (z >> 30)) * 0xbf58476d1ce4e5b9
  z = (z ~ (z >> 27)) * 0x94d049bb133111eb
  return (z ~ (z >> 31)) >> 1
end

--- An integer from `low` to `high`.
function Random:between(low, high)
  return low + self:bits() % (high - low + 1)
end

--- One of a list.
function Random:pick(list)
  return list[self:between(1, #list)]
end

--- True `percent` times out of a hundred.
function Random:chance(percent)
  return self:between(1, 100) <= percent
end

--- The number of an element of a list, from 0; see at().
function Random:number_of(list)
  return self:between(0, #list - 1)
end

--- A list of `low` to `high` values that `make(index)` returns.
function Random:list(low, high, make)
  local list = {}
  for index = 1, self:between(low, high) do
    list[index] = make(index)
  end
  return list
end

--- The element that a number from 0 means, whatever the number: 0 is the first, to which a
-- choice shrinks.
function M.at(list, number)
  return list[number % #list + 1]
end

local function copy(value)
  if type(value) ~= "table" then
    return value
  end
  local same = {}
  for key, each in pairs(value) do
    same[key] = copy(each)
  end
  return same
end

local function sorted_keys(value)
  local keys = {}
  for key in pairs(value) do
    keys[#keys + 1] = key
  end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  return keys
end

local function without(list, from, count)
  local rest = {}
  for index, each in ipairs(list) do
    if index < from or index >= from + count then
      rest[#rest + 1] = copy(each)
    end
  end
  return rest
end

-- Gives `try` smaller values in place of `value`, the boldest first, until it accepts one;
-- returns that one.
local function shrink_once(value, try)
  if math.type(value) == "integer" then
    for _, smaller in ipairs({ 0, value // 2, value - 1 }) do
      if value > 0 and smaller < value and try(smaller) then
        return smaller
      end
    end
    return nil
  end
  if type(value) ~= "table" then
    return nil
  end
  local size = #value
  while size >= 1 do
    for from = 1, #value - size + 1 do
      local shorter = without(value, from, size)
      if try(shorter) then
        return shorter
      end
    end
    size = size // 2
  end
  for _, key in ipairs(sorted_keys(value)) do
    local found
    shrink_once(value[key], function(smaller)
      local changed = copy(value)
      changed[key] = smaller
      found = try(changed) and changed or nil
      return found ~= nil
    end)
    if found then
      return found
    end
  end
  return nil
end

-- A raised value in words: assertions raise tables, and the society's errors may be tables.
local function words_of(raised)
  while type(raised) == "table" and raised.message ~= nil do
    raised = raised.message
  end
  return tostring(raised)
end

local function verdict(hold, case)
  local ran, held, why = pcall(hold, copy(case))
  if not ran then
    return false, words_of(held)
  end
  return held and true or false, why
end

--- Makes a failing case as small as `hold` allows; returns it and why it fails.
function M.shrink(case, hold, tries_max)
  local tries, _, why = 0, verdict(hold, case)
  local function fails(smaller)
    tries = tries + 1
    local held, reason = verdict(hold, smaller)
    if held or tries > tries_max then
      return false
    end
    why = reason
    return true
  end
  while true do
    local smaller = shrink_once(case, fails)
    if not smaller then
      return case, why
    end
    case = smaller
  end
end

--- Checks `hold(case)` against options.cases cases of `generate(random)`.
function M.check(options, generate, hold)
  for number = 1, options.cases or 500 do
    local seed = (options.seed or 1) * 1000003 + number
    local case = generate(M.random(seed))
    if not verdict(hold, case) then
      local smallest, why = M.shrink(case, hold, options.tries_max or 400)
      error(("case %d (seed %d) fails: %s\nsmallest: %s"):format(number, options.seed or 1,
        tostring(why), json.encode(smallest)), 0)
    end
  end
end

return M
