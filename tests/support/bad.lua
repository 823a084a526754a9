--- bad: values that no call should accept, or only where they fit, and a way to try a call
-- with every one of them in every place.
--
--     local faults = bad.try("sleep", { good = function() return { 0 } end, places = { "" } },
--       function(ms) return agent:sleep(ms) end)

local json = require("society.json")

local M = {}

local function nest(depth)
  local value = {}
  for _ = 1, depth do
    value = { inside = value }
  end
  return value
end

local function cyclic()
  local value = { n = 1 }
  value.self = value
  return value
end

local function trap()
  error("a metamethod was called")
end

-- Looks like a good table of options through its metatable.
local function disguised()
  return setmetatable({}, {
    __index = trap, __newindex = trap, __len = trap, __pairs = trap, __tostring = trap, __eq = trap,
    __call = trap, __name = "\0\xff", __close = trap,
  })
end

-- { name, value or what makes a table, what it is good for }
local VALUES = {
  { "1 MB", ("x"):rep(1 << 20), "text payload" },
  { "1 MB of control characters", ("\1\27\127\r"):rep(1 << 18), "text payload" },
  { "control characters", "a\1b\27[31m\127", "text payload key short" },
  { "a line break", "root\n", "text payload key short" },
  { "NUL", "\0", "payload log" },
  { "NUL behind an id", "root\0", "payload log" },
  { "broken UTF-8", "a\xff\xfe", "bytes" },
  { "a surrogate", "\xed\xa0\x80", "bytes" },
  { "an override of direction", "\u{202e}toor", "text payload key short" },
  { "a slash", "a/b", "text payload key short" },
  { "a way out", "../../etc/passwd", "text payload key short" },
  { "a dot", ".", "text payload key short" },
  { "a space", "a b", "text payload key short" },
  { "a space before", " root", "text payload key short" },
  { "65 letters", ("x"):rep(65), "text payload key short" },
  { "two hosts", "a@b@c", "text payload key short" },
  { "an empty text", "", "empty payload key" },
  { "NaN", 0 / 0, "number" },
  { "infinity", 1 / 0, "number" },
  { "a huge number", 1e308, "payload number" },
  { "the largest integer", math.maxinteger, "payload number count" },
  { "the smallest integer", math.mininteger, "payload number" },
  { "below zero", -1, "payload number" },
  { "a fraction", 0.5, "payload number ms" },
  { "true", true, "payload flag" },
  { "false", false, "payload flag" },
  { "json.null", json.null, "null" },
  { "a function", trap, "function" },
  { "a coroutine", coroutine.create(trap), "" },
  { "userdata", io.stdout, "" },
  { "an empty table", function() return {} end, "payload options" },
  { "an empty list", json.array({}), "payload options list" },
  { "a list", function() return { 1, { 2 } } end, "payload list" },
  { "unknown names", function() return { surprise = 1 } end, "payload open" },
  { "a name with NUL", function() return { ["to\0"] = "root", ["id\0x"] = "root" } end,
    "payload open" },
  { "a hundred deep", nest(100), "" },
  { "cyclic", cyclic(), "" },
  { "holes", function() return { 1, nil, nil, 4 } end, "" },
  { "mixed keys", function() return { 1, a = 2 } end, "" },
  { "odd keys", function() return { [true] = 1, [1.5] = 2, [trap] = 3 } end, "" },
  { "functions inside", function() return { n = { trap } } end, "" },
  { "broken UTF-8 inside", function() return { n = "\xff" } end, "" },
  { "a broken name inside", function() return { ["\xff"] = 1 } end, "" },
  { "a metatable", disguised, "payload options" },
}

-- Tables are created again for each call, which might change them.
local function fresh(name, value)
  if type(value) == "function" and name ~= "a function" then
    return value()
  end
  return value
end

--- Visits the values that are not good for any of `kinds` (words): name, value.
function M.each(kinds)
  local index = 0
  return function()
    while index < #VALUES do
      index = index + 1
      local name, value, good_for = table.unpack(VALUES[index])
      local fits = false
      for kind in kinds:gmatch("%S+") do
        fits = fits or (" " .. good_for .. " "):find(" " .. kind .. " ", 1, true) ~= nil
      end
      if not fits then
        return name, fresh(name, value)
      end
    end
  end
end

-- What may be wrong with a raised error; nil: nothing.
local function fault_of_raised(raised, names)
  if type(raised) ~= "string" or #raised > 1024 then
    return "raised no sentence: " .. tostring(raised):sub(1, 200)
  end
  for _, name in ipairs(names) do
    if raised:find(name, 1, true) then
      return nil
    end
  end
  return "what was raised names neither call nor option: " .. raised
end

local function shown(value)
  return type(value) == "table" and json.encode(value) or tostring(value)
end

local function fault_of_error(err)
  local is_error = type(err) == "table" and type(err.error) == "string"
    and type(err.message) == "string" and #err.message > 0
  if not is_error then
    return "no error: " .. shown(err)
  end
  return #json.encode(err) > 4096 and "an error of many bytes" or nil
end

-- Calls and judges: a sentence about what is wrong with the answer, or nil.
local function judge(call, names, run, arguments)
  local ok, answer, err = pcall(run, table.unpack(arguments, 1, arguments.n))
  if not ok then
    return fault_of_raised(answer, names)
  elseif answer ~= nil then
    return "it was taken: " .. shown(answer)
  elseif not call.is_look then
    return fault_of_error(err)
  end
  return nil
end

-- What a raised error may name: the call, the option, or the text itself.
local function names_of(name, field, value)
  local names = { name, field }
  if type(value) == "string" and #value > 0 then
    names[#names + 1] = value:sub(1, 64):match("^[^%z]+")
  end
  return names
end

-- Visits what is wrong in one place of the arguments: visit(what, field, change).
local function each_wrong(call, place, visit)
  local words, fields = call.places[place], call.fields and call.fields[place] or {}
  for what, value in M.each(words) do
    visit(("%s as argument %d"):format(what, place), nil, function(list) list[place] = value end)
  end
  if not words:find("?", 1, true) then
    visit(("argument %d left out"):format(place), nil, function(list) list[place] = nil end)
  end
  for field, kinds in pairs(fields) do
    for what, value in M.each(kinds) do
      visit(what .. " as " .. field, field, function(list) list[place][field] = value end)
    end
    if not kinds:find("?", 1, true) then
      visit(field .. " left out", field, function(list) list[place][field] = nil end)
    end
  end
end

--- Tries a call with everything that can be wrong with its arguments.
-- @tparam string name of the call
-- @tparam table call { good: function that gives a list of arguments that would do;
--   places: what may stand in each, as words of what values here are good for, "?": it
--   may be left out; fields: the same for the fields of a table there; is_look: nil is
--   an answer }
-- @tparam function run gets the arguments
-- @param ... for good()
-- @treturn table list of sentences, empty if every attempt raised with the name of the
--   call or option, or returned nil and an error
-- @treturn integer how often it was called
function M.try(name, call, run, ...)
  local faults, count = {}, 0
  local more = table.pack(...)
  for place = 1, #call.places do
    each_wrong(call, place, function(what, field, change)
      local arguments = call.good(table.unpack(more, 1, more.n))
      change(arguments)
      arguments.n = #call.places
      count = count + 1
      local value = field and arguments[place][field] or arguments[place]
      local fault = judge(call, names_of(name, field, value), run, arguments)
      if fault then
        faults[#faults + 1] = ("%s: %s: %s"):format(name, what, fault)
      end
    end)
  end
  return faults, count
end

return M
