--- hostile_calls: scripts whose one call of a library takes long, or asks for much, where Lua calls
-- no hook: in functions of the libraries that call each other, and in the collector. A part of the
-- list of `hostile`.

local M = {}

-- A table that works long as an argument of `pairs` and `next`, but too shortly to report it.
local BIG = "local big = {} for i = 1, 1023 do big[i] = i end "

-- Many calls, each with a variable to close, in a coroutine that is closed from outside: Lua
-- calls one handler after the other, and no hook if they are functions of a library.
local CLOSE = "local function nest(n) local x <close> = obj if n == 0 then coroutine.yield() end "
  .. "local r = nest(n - 1) return r end while true do local co = coroutine.create(nest) "
  .. "coroutine.resume(co, 50000) coroutine.close(co) end"

-- A chain of 1,900 tables, each the `__index` of the one before.
local CHAIN = "local chain = {} for i = 1, 1900 do chain = setmetatable({}, { __index = chain }) "
  .. "end "

-- Their time ends them.
M.endless = {
  -- Functions of the libraries that call each other where no hook is called.
  "local a, b, t = ('x'):rep(4000), ('y'):rep(2000), {} for i = 1, 1000000 do "
    .. "t[i] = i % 2 == 0 and a or b end while true do table.sort(t, string.find) end",
  "local t = {} for i = 1, 1000000 do t[i] = i end while true do table.sort(t, rawequal) end",
  BIG .. "getmetatable(setmetatable(big, {})).__index = pairs "
    .. "while true do table.unpack(big, 2000, 900000) end",
  BIG .. "setmetatable(big, { __index = pairs, __len = function() return 1000000 end }) "
    .. "while true do table.sort(big, rawequal) end",
  BIG .. "setmetatable(big, { __tostring = next }) big.a, big[1] = 1, nil local t = {} "
    .. "for i = 1, 500000 do t[i] = big end while true do pcall(print, table.unpack(t)) end",
  BIG .. "local obj = setmetatable(big, { __close = pairs }) " .. CLOSE,
  "local t = {} for i = 1, 100000 do t[i] = i end "
    .. "local obj = setmetatable(t, { __close = table.unpack }) " .. CLOSE,
  "local t = {} for i = 1, 100000 do t[i] = i end "
    .. "local obj = setmetatable(t, { __close = require('society.json').encode }) " .. CLOSE,
  "local obj = setmetatable({}, { __close = ('x'):rep(10000000):gmatch('y') }) " .. CLOSE,
  CHAIN .. "local obj = setmetatable({}, { __close = os.time, __index = chain }) " .. CLOSE,
  CHAIN .. "getmetatable(chain).__len = function() return 1000000 end "
    .. "while true do table.sort(chain, rawequal) end",
  CHAIN .. "while true do table.unpack(chain, 1, 900000) end",
  "local long = setmetatable({}, { __len = function() return 100000000 end }) "
    .. "while true do pcall(table.sort, long) end",
  "local long = setmetatable({}, { __len = function() return 30000000 end }) "
    .. "while true do pcall(table.sort, long, rawequal) end",
  "while true do load(('x '):rep(10000000):gmatch('.')) end",
  "while true do local text = ('x = 1 '):rep(5000000) load(function() "
    .. "local t = text text = nil return t end) end",

  -- One call that takes long.
  "while true do os.date(('%c'):rep(500000), 0) end",
  "local t = {} for i = 1, 100000 do t[i] = 1.5e308 end "
    .. "while true do pcall(string.format, ('%99.99f'):rep(100000), table.unpack(t)) end",

  -- Tables of weak keys that lead to each other, in an order that the collector does not like.
  "local keys, tables, order, meta, seed = {}, {}, {}, {}, 1 "
    .. "for i = 1, 30001 do keys[i] = {} order[i] = i end "
    .. "for i = 1, 30000 do tables[i] = setmetatable({}, meta) end "
    .. "for i = 30000, 2, -1 do seed = (seed * 1103515245 + 12345) % 2147483648 "
    .. "local j = seed % i + 1 order[i], order[j] = order[j], order[i] end "
    .. "for i = 1, 30000 do tables[order[i]][keys[i]] = keys[i + 1] end "
    .. "local first = keys[1] keys, meta.__mode = nil, 'k' while true do local t = {} end"
}

-- Their memory ends them, or the length of a text.
M.large = {
  "return string.pack('c400000000', '')",
  "return string.pack('c99999999999999999', '')",
  "return os.date(('%c'):rep(8000000), 0)",
  "local t = {} for i = 1, 900000 do t[i] = 1.5e308 end "
    .. "return string.format(('%99.99f'):rep(900000), table.unpack(t))"
}

return M
