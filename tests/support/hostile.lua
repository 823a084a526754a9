--- hostile: scripts that try to stop the society, and an app that runs them beside an agent
-- that must keep answering.
--
--     local app = hostile.app({ cpu_ms_max = 100 })   -- the text of the app
--     for i, script in ipairs(hostile.scripts) do … end  -- { text, which … }

local calls = require("hostile_calls")

local M = {}

-- Each: what it does, and which budget may end it. More than one can be the first.
local TIME = { steps = true, cpu_ms = true }
local MEMORY = { steps = true, cpu_ms = true, memory = true, text_bytes = true }

local function add(list, which, ...)
  for _, text in ipairs({ ... }) do
    list[#list + 1] = { text = text, which = which }
  end
end

-- Loops, and ways to survive the end of one.
local LOOP = "while true do end"
local FOREVER = "local function forever() while true do end end "
local CLOSER = "local function closer(f) return setmetatable({}, { __close = f }) end "

M.scripts = {}
add(M.scripts, TIME,
  LOOP,
  "for i = 1, math.huge do end",
  "repeat until false",
  "::again:: goto again",
  "local function f() return f() end f()",
  FOREVER .. "while true do pcall(forever) end",
  FOREVER .. "while true do xpcall(forever, forever) end",
  FOREVER .. "xpcall(error, forever)",
  FOREVER .. "xpcall(forever, function() return forever() end)",
  FOREVER .. "while true do pcall(pcall, pcall, forever) end",
  FOREVER .. "coroutine.wrap(forever)()",
  FOREVER .. "while true do coroutine.resume(coroutine.create(forever)) end",
  FOREVER .. "while true do pcall(coroutine.wrap(function() pcall(forever) end)) end",
  "while true do coroutine.wrap(function() coroutine.yield() end)() end",
  "local co = coroutine.wrap(function() while true do coroutine.yield() end end) "
    .. "while true do co() end",
  "local function nest(n) if n == 0 then while true do end end "
    .. "coroutine.wrap(nest)(n - 1) end nest(40)",
  CLOSER .. "local x <close> = closer(function() while true do end end)",
  CLOSER .. "local x <close> = closer(function() while true do end end) while true do end",
  CLOSER .. "pcall(function() local x <close> = closer(function() while true do end end) "
    .. "error('x') end)",
  CLOSER .. "local x <close> = closer(function() while true do pcall(function() "
    .. "while true do end end) end end) while true do end",
  CLOSER .. "while true do local x <close> = closer(function() end) end",
  CLOSER .. "local co = coroutine.create(function() local x <close> = closer(function() "
    .. "while true do end end) coroutine.yield() end) coroutine.resume(co) coroutine.close(co)",
  CLOSER .. "local co = coroutine.wrap(function() local x <close> = closer(function() "
    .. "while true do end end) error('x') end) co()",
  CLOSER .. "local co = coroutine.create(function() local x <close> = closer(function() "
    .. "while true do end end) while true do end end) pcall(coroutine.resume, co)",
  "setmetatable({}, { __index = function(t, k) while true do end end }).x = nil "
    .. "local t = setmetatable({}, { __index = function() while true do end end }) return t.x",
  "local t = setmetatable({}, { __newindex = function() while true do end end }) t.x = 1",
  "local t = setmetatable({}, { __eq = function() while true do end end }) "
    .. "return t == setmetatable({}, getmetatable(t))",
  "return #setmetatable({}, { __len = function() while true do end end })",
  "return tostring(setmetatable({}, { __tostring = function() while true do end end }))",
  "for _ in pairs(setmetatable({}, { __pairs = function() while true do end end })) do end",
  "return -setmetatable({}, { __unm = function() while true do end end })",
  "return setmetatable({}, { __call = function() while true do end end })()",
  "table.sort({ 3, 2, 1 }, function() while true do end end)",
  "table.sort({ 3, 2, 1 }, function() pcall(function() while true do end end) return true end) "
    .. "while true do end",
  "('x'):gsub('x', function() while true do end end)",
  "load(function() while true do end end)",
  "while true do load('return 1') end",
  "('a'):rep(3000):find(('.-'):rep(40) .. 'b')",
  "('a'):rep(3000):match(('a*'):rep(40) .. 'b')",
  "('a'):rep(3000):gsub(('.-'):rep(40) .. 'b', '')",
  "for _ in ('a'):rep(3000):gmatch(('a?'):rep(60) .. 'b') do end",
  "while true do pcall(string.find, ('a'):rep(3000), ('.-'):rep(40) .. 'b') end",
  "('('):rep(1000000):find('%b()')",
  "local p = '[' .. ('a'):rep(10000000) .. ']' while true do ('x'):rep(1000):find(p) end",
  "local p = '%f[' .. ('c'):rep(1000000) .. ']' while true do ('a'):rep(1000000):find(p) end",
  "local p = ('['):rep(1000000) .. '*]b' while true do ('x'):rep(1000):find(p) end",
  "local a = ('a'):rep(9000000) while true do (a .. 'b' .. a):find('^(a*)b.-%1c') end",
  "('a'):rep(200000):find('.-b')",
  "local s = ('a'):rep(1000000) while true do s:find(('a'):rep(500000) .. 'b', 1, true) end",
  "local s = ('a'):rep(1000000) while true do s:upper():lower():reverse() end",
  "local t = {} for i = 1, 3000 do t[i] = ('a'):rep(10000) .. 3000 - i end "
    .. "while true do table.sort(t) end",
  "local t = {} for i = 1, 100000 do t[i] = -i end while true do table.sort(t) "
    .. "table.sort(t, function(a, b) return a > b end) end",
  "local t = {} for i = 1, 100000 do t[i] = i end while true do table.insert(t, 1, 0) end",
  "local t = {} for i = 1, 200000 do t[i] = i end "
    .. "while true do table.remove(t, 1) t[#t + 1] = 1 end",
  "local t = {} for i = 1, 100000 do t[i] = 'a' end while true do table.concat(t) end",
  "local t = {} while true do table.move(t, 1, 50000000, 2) end",
  "local t = {} for i = 1, 1000 do t['k' .. i] = i end while true do for _ in pairs(t) do end end",
  "local t = {} for i = 1, 1000 do t['k' .. i] = i end while true do next(t, 'k5') end",
  "local t = {} for i = 1, 200000 do t['k' .. i] = i end while true do pairs(t) end",
  "local t = {} for i = 1, 200000 do t[i + 0.5] = i end while true do pairs(t) end",
  "local t = {} for i = 1, 500000 do t[i] = i end while true do pairs(t) end",
  "local t = {} for i = 1, 200000 do t['k' .. i] = i end while true do next(t) end",
  "local t, s = {}, ('a'):rep(100000) for i = 1, 100 do t[s .. i] = i end "
    .. "while true do pairs(t) end",
  "local s = ('local a = 1 '):rep(150) .. ('x = 1 '):rep(500000) while true do load(s) end",
  "local s = ('x = 1 '):rep(500000) while true do pcall(load, s) end",
  "while true do string.format('%99.99f', 1e300) end",
  "while true do ('a'):rep(100000) end",
  "while true do require('society.json').encode({ 1, 2, 3 }) end",
  "local function f(n) if n > 0 then f(n - 1) f(n - 1) end end f(100)",
  "while true do pcall(error) end",
  "while true do pcall(string.rep) end"
)
add(M.scripts, MEMORY,
  CLOSER .. "local function f() local x <close> = closer(function() while true do end end) "
    .. "f() end f()",
  "local function f() return pcall(f) end while true do f() end",
  "local function f() f() end while true do pcall(f) end",
  "local s = 'x' while true do s = s .. s end",
  "local s = 'x' while true do pcall(function() s = s .. s end) end",
  "local t = {} while true do t[#t + 1] = {} end",
  "local t = {} for i = 1, math.huge do t[i] = i end",
  "local t = {} for i = 1, math.huge do t['key' .. i] = i end",
  "local t = {} while true do t[#t + 1] = ('x'):rep(100000) .. #t end",
  "local t while true do t = { t } end",
  "local t = {} while true do t[#t + 1] = function() return t end end",
  "local t = {} while true do t[#t + 1] = coroutine.create(function() end) end",
  "return ('x'):rep(1e10)",
  "return pcall(string.rep, 'x', math.maxinteger) or ('x'):rep(1e12)",
  "local s = ('x'):rep(30000000) return ('%s%s'):format(s, s)",
  "local s, t = ('x'):rep(1000000), {} for i = 1, 1000 do t[i] = s end return table.concat(t)",
  "return (('x'):rep(100000):gsub('x', ('y'):rep(100000)))",
  "local s = ('x'):rep(30000000) return string.pack('s8s8', s, s)",
  "local a = {} for i = 1, 60 do a = { a, a } end local j = require('society.json') "
    .. "while true do pcall(j.encode, a) end",
  "return require('society.json').decode('[' .. ('[],'):rep(10000000) .. '[]]')",
  "return require('society.json').decode('[' .. ('0,'):rep(15000000) .. '0]')",
  "local t = {} while true do t[#t + 1] = { ('x'):rep(1000), {}, {} } pcall(error, t) end"
)
add(M.scripts, TIME, table.unpack(calls.endless))
add(M.scripts, MEMORY, table.unpack(calls.large))

local APP = [[
local society = require("society")
society.config({ load = true, %s })
local scripts = {
%s}
local tick_ms, lanes, delays = %d, %d, {}
local function tick(agent)
  agent:send_message({ to = "bystander", delay_ms = tick_ms,
    payload = { due = agent:now() + tick_ms } })
end
society.role({ id = "bystander", name = "bystander", behaviour = function(agent, message)
  local due = message.payload.due
  if due then
    delays[#delays + 1] = due .. ":" .. agent:now() - due
    return tick(agent)
  elseif message.payload.text == "tick" then
    return tick(agent)
  end
  return message.payload.text == "still there?" and "alive" or error("it arrived")
end })
society.policy("contacts", "open")
society.role({ id = "hostile", name = "hostile", isolated = %s, behaviour = function(agent, message)
  agent:send_message({ to = "bystander", payload = "must never arrive" })
  scripts[message.payload.number]()
  return "survived"
end })
local brief = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
  completion_criteria = "c" }
society.role({ id = "lane", name = "lane", behaviour = function(agent, message)
  local outcomes = {}
  for i = message.payload.first, #scripts, lanes do
    local reply, err = agent:request({ to = "h" .. i, payload = { number = i },
      timeout_ms = 600000 })
    outcomes[#outcomes + 1] = ("%%d %%s %%s"):format(i, reply and reply.payload.text or err.error,
      assert(agent:request({ to = "bystander", payload = "still there?" })).payload.text)
  end
  agent:send_message({ to = "root", type = "status_report", payload = outcomes })
end })
society.root(function(root, message)
  if message.type == "status_report" then return end
  local outcomes = {}
  assert(root:spawn_agent("bystander", brief, { id = "bystander" }))
  if tick_ms > 0 then root:send_message({ to = "bystander", payload = "tick" }) end
  for i = 1, #scripts do
    assert(root:spawn_agent("hostile", brief, { id = "h" .. i }))
  end
  for i = 1, lanes do
    assert(root:spawn_agent("lane", brief, { id = "lane" .. i }))
    root:send_message({ to = "lane" .. i, payload = { first = i } })
  end
  for _ = 1, lanes do
    local report = assert(root:receive({ type = "status_report", timeout_ms = 3600000 }))
    for _, line in ipairs(report.payload) do
      local i, outcome = line:match("^(%%d+) (.*)$")
      outcomes[tonumber(i)] = outcome
    end
  end
  root:terminate("bystander", { force = true })
  return { outcomes = outcomes, delays = table.concat(delays, " ") }
end)
if arg[1] == "main" then
  society.main(function(user)
    local reply = assert(user:request({ to = "root", payload = "go", timeout_ms = 3600000 }))
    print(table.concat(reply.payload.outcomes, "\n"))
    if tick_ms > 0 then print("delays " .. reply.payload.delays) end
  end)
end
]]

--- The text of an app that runs them, each in an agent of its own, one after the other in each
-- of `lanes` (1) lanes, and whose root replies with what became of each and what the bystander
-- said; run with the argument `main` it does so at once and prints it. `settings`: for
-- society.config. `is_isolated`: they run in worker processes. `tick_ms`: the bystander sends
-- itself a message whenever so much time has passed, and when each was due and how late it
-- came, in ms, is printed as well: `delays 1795064849386:0 …`.
function M.app(settings, is_isolated, tick_ms, lanes)
  local texts, set = {}, {}
  for i, script in ipairs(M.scripts) do
    texts[i] = ("  function() %s end,\n"):format(script.text)
  end
  for name, value in pairs(settings) do
    set[#set + 1] = ("%s = %d"):format(name, value)
  end
  return APP:format(table.concat(set, ", "), table.concat(texts), tick_ms or 0,
    lanes or 1, tostring(is_isolated == true))
end

--- How many of them use up their time, whatever the memory.
function M.endless()
  local count = 0
  for _, script in ipairs(M.scripts) do
    count = count + (script.which.memory and 0 or 1)
  end
  return count
end

--- What each line of the outcomes must be.
M.OUTCOME = "receiver_failed alive"

--- Fails unless the dead letters (a list) say that each script was ended by a budget that
-- may end it.
function M.check(dead)
  local by_agent = {}
  for _, letter in ipairs(dead) do
    by_agent[letter.to] = letter.error
  end
  for i, script in ipairs(M.scripts) do
    local err = by_agent["h" .. i]
    if not err then
      error(("script %d was not ended: %s"):format(i, script.text), 2)
    end
    if err.error ~= "budget_exceeded" or not script.which[err.which] or not err.limit then
      error(("script %d ended with %s (%s): %s"):format(i, err.error,
        err.which or err.message, script.text), 2)
    end
  end
end

return M
