--- society.cli.conf_file: society.conf.lua, which says once what flags say each time.
--
-- The file is Lua that assigns values to names. It sees no library and no other name, so it
-- can only describe. The result has for each name its value and the line it stands on.

local program = require("society.program")

local M = { NAME = "society.conf.lua" }

local BYTES_MAX = 1000000
local STEPS_MAX = 1000000

-- The text of the file; nil if there is none and none was named; or nil and why not.
local function read_text(path, is_named)
  local file, why, code = io.open(path, "rb")
  if not file then
    local is_missing = code == 2 and not is_named
    return nil, not is_missing and why or nil
  end
  local text
  text, why = file:read(BYTES_MAX + 1)
  file:close()
  if why then
    return nil, ("%s: %s"):format(path, why)
  elseif text and #text > BYTES_MAX then
    return nil, ("%s is larger than %d bytes"):format(path, BYTES_MAX)
  end
  return text or ""
end

-- The line between `first` and `last` on which `name` is assigned, or nil. Lua itself knows
-- only the line on which a table ends.
local function find_line(lines, name, first, last)
  local pattern = "%f[%w_]" .. name .. "%f[^%w_][\"'%]%s]*="
  for number = last, first, -1 do
    if (lines[number] or ""):gsub("%-%-.*", ""):find(pattern) then
      return number
    end
  end
  return nil
end

local function split_lines(text)
  local lines = {}
  for line in (text .. "\n"):gmatch("(.-)\n") do
    lines[#lines + 1] = line
  end
  return lines
end

-- The environment of the file. `found` gets what is assigned.
local function make_environment(found, lines, chunk)
  local function fail(format, ...)
    error(format:format(...), 3)
  end
  return setmetatable({}, {
    __metatable = false,
    __index = function(_, name)
      fail("%s only holds values; there is no '%s' here", chunk, tostring(name))
    end,
    __newindex = function(_, name, value)
      local last = debug.getinfo(2, "l").currentline
      if found[name] then
        fail("'%s' was given on line %d already", tostring(name), found[name].line)
      end
      found[name] = { value = value, last = last, line = find_line(lines, name, 1, last) or last }
    end,
  })
end

--- The line of the member `key` of a table that was assigned.
function M.member_line(file, entry, key)
  return find_line(file.lines, key, entry.line, entry.last) or entry.line
end

--- Reads the file: { path, values = { [name] = { value, line, last } }, lines }; nil if there
-- is none; or nil and a sentence. `named` is the path that was asked for, or nil.
function M.read(named)
  local path = named or M.NAME
  local text, why = read_text(path, named ~= nil)
  if not text then
    return nil, why
  end
  local lines = split_lines(text)
  local found = {}
  local chunk, trouble = load(text, "@" .. path, "t", make_environment(found, lines, path))
  if not chunk then
    return nil, trouble
  end
  local thread = coroutine.create(chunk)
  debug.sethook(thread, function() error(path .. " takes too many steps", 0) end, "", STEPS_MAX)
  local is_done, result = coroutine.resume(thread)
  if not is_done then
    return nil, program.harmless(tostring(result), " ", "?")
  elseif coroutine.status(thread) ~= "dead" then
    return nil, path .. " must not yield"
  elseif result ~= nil then
    return nil, path .. " must assign values, such as http = 8080, and return nothing"
  end
  return { path = path, values = found, lines = lines }
end

return M
