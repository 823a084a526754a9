-- The simulator in separate processes: the same seed gives the same bytes, whatever else
-- differs; and scripts cannot change that.
--
-- Covers: core/main/cmd_sim.c

local program = require("program")

-- Everything that could differ from one process to the next, if it got through.
local TRICKS = [[
  local society = require("society")
  local function show(...) print(...) end
  society.role { id = "w", name = "w", prompt = "", behaviour = function(agent, message)
    agent.state.seen = (agent.state.seen or 0) + math.random(100)
    return { n = agent.state.seen }
  end }
  society.root { default = function(root)
    local brief = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
      completion_criteria = "c" }
    local out = {}
    for i = 1, 12 do
      assert(root:spawn_agent("w", brief, { id = "w" .. i }))
    end
    for i = 1, 12 do
      local answer = assert(root:request {
        to = "w" .. i, payload = { i = i }, timeout_ms = 1000000000,
      })
      out["w" .. i] = answer.payload.n
    end
    return out
  end }
  society.main(function(user)
    local answer = user:request { to = "root", payload = "go", timeout_ms = 1000000000 }.payload
    for name, n in pairs(answer) do show(name, n) end
    TRICK
  end)
]]

local function app(trick)
  return (TRICKS:gsub("TRICK", function() return trick or "" end))
end

describe("society sim, in separate processes,", function()
  local place

  before_each(function()
    place = program.place()
  end)

  after_each(function()
    place:remove()
  end)

  -- Transcript and dump of one run, with `before` in front of the command.
  local function run(before, words)
    os.execute("rm -f " .. program.quote(place.path .. "/dump"))
    local result = place:shell(("%s %s sim %s --dump %s/dump"):format(before,
      program.quote(place.program), words, program.quote(place.path)))
    local file = assert(io.open(place.path .. "/dump", "rb"), result.err .. result.out)
    local dump = file:read("a")
    file:close()
    assert.equal(0, result.code, result.err)
    return { out = result.out, err = result.err, dump = dump }
  end

  -- What puts a command `days` into the future.
  local function another_day(days)
    return ("env CLOCK_DAYS=%d LD_PRELOAD=%s"):format(days, program.quote(place:preload("clock")))
  end

  local SURROUNDINGS = {
    { "where it is tomorrow", "TZ=Asia/Shanghai" },
    { "elsewhere", "TZ=America/St_Johns LANG=C LC_ALL=C" },
    { "with another environment", "env -i PATH=\"$PATH\" HOME=/nowhere LUA_INIT='error()'" },
    { "with memory at other places", "env MALLOC_PERTURB_=165 MALLOC_ARENA_MAX=1" },
    { "with nothing moved about in memory", "setarch -R" },
    { "with more variables", "A=" .. ("x"):rep(50000) },
  }

  for _, faults in ipairs({ "none", "default", "power,full,io,crash" }) do
    it("gives the same bytes for the same seed with faults " .. faults, function()
      place:write("app.lua", app())
      local words = "app.lua --seed 11 --faults " .. faults
      local first = run("", words)
      assert.is_true(#first.out > 1000 and #first.dump > 5000)
      for _, case in ipairs(SURROUNDINGS) do
        assert.same(first, run(case[2], words), case[1])
      end
      for _, days in ipairs({ 1, 400, -400 }) do
        assert.same(first, run(another_day(days), words), days .. " days later")
      end
      assert.not_same(first.out, run("", "app.lua --seed 12 --faults " .. faults).out)
    end)
  end

  it("is run on another day by this spec", function()
    place:write("app.lua", [[
      local society = require("society")
      society.main(function() print(os.time()) end)
    ]])
    local now = tonumber(place:run("run app.lua --quiet --fresh").out)
    local later = tonumber(place:shell(another_day(400) .. " " .. program.quote(place.program) ..
      " run app.lua --quiet --fresh").out)
    assert.is_true(math.abs(later - now - 400 * 86400) < 600)
  end)

  it("gives the same bytes from another directory", function()
    -- A module, an app policy, errors with a place and a traceback in the log.
    place:shell("mkdir -p other policies/contacts")
    place:write("mine.lua", "return { fail = function() error('mine') end }")
    place:write("policies/contacts/own.lua", [[
      return { kind = "contacts", version = 1, defaults = {}, examples = {},
        may_send = function() return true end }
    ]])
    place:write("app.lua", app([[
      show(pcall(error, "here")) show(pcall(require("mine").fail))
      user:send_message { to = "w1", type = "nothing", payload = "x" }
      user:send_message { to = "root", type = "status_report", payload = { status = 7 } }
    ]]):gsub("society.main", [[society.policy("contacts", "own")
      society.role { id = "v", name = "v", prompt = "", behaviour = function() error("oh") end }
      society.main]]))
    local first = run("", "app.lua --seed 3 --faults default")
    assert.same(first, run("cd other &&", "../app.lua --seed 3 --faults default"))
    assert.same(first, run("cd / &&", program.quote(place.path) ..
      "/app.lua --seed 3 --faults default"))
  end)

  it("gives the same bytes from another installation", function()
    local home = program.quote(place.program:match("^(.*)/[^/]*/[^/]*$"))
    place:shell(("mkdir there && cp -r %s %s/policies %s/lua there"):format(
      program.quote(place.program), home, home))
    place:write("app.lua", app([[
      for _, policy in ipairs(society.policies()) do show(policy.kind, policy.path) end
    ]]))
    local words = "app.lua --seed 3 --faults default"
    local first = run("", words)
    place.program = place.path .. "/there/society"
    assert.same(first, run("env SOCIETY_HOME=" .. program.quote(place.path) .. "/there", words))
  end)

  local TRICKY = {
    { "the order of pairs", "local t = {} for i = 1, 50 do t['k' .. i * 7919 % 50] = i end " ..
      "for k, v in pairs(t) do show(k, v) end" },
    { "the order of next", "local t = { z = 1, b = 2, [3] = 3, a = 4 } local k, v = next(t) " ..
      "while k do show(k, v) k, v = next(t, k) end" },
    { "hash seeds", "local t, n = {}, 0 for i = 1, 300 do t[('k'):rep(i % 60) .. i] = i end " ..
      "for i = 1, 300, 3 do t[('k'):rep(i % 60) .. i] = nil end " ..
      "for k, v in pairs(t) do n = n + 1 if n % 20 == 0 then show(k, v) end end " ..
      "local holes = { 1, 2, nil, 4, nil, nil, 7 } holes[9] = 9 show(#holes)" },
    { "hash seeds in the length of tables with holes", "for i = 1, 50 do local t = {} " ..
      "for _, k in ipairs { 1, 6, 'a' .. i, 2, 3, 'b' .. i, 7 } do t[k] = 1 end " ..
      "t['a' .. i] = nil t['c' .. i] = 1 show(#t) end" },
    { "hash seeds in what errors call a function", "for _, name in ipairs { 'atan', 'abs', " ..
      "'floor', 'fmod' } do show(pcall(math[name])) end show(pcall(string.rep)) " ..
      "show(pcall(table.concat)) show(pcall(utf8.char, {}))" },
    { "addresses in tostring", "show({}, print, tostring({}), coroutine.create(print))" },
    { "addresses in formats", "show(string.format('%s %s', {}, print)) " ..
      "show(pcall(string.format, '%p', {})) show(('x'):rep(3, tostring(print)))" },
    { "os.time", "show(os.time(), os.clock(), os.date('%c'), os.date('%Z'))" },
    { "math.random", "for _ = 1, 20 do show(math.random(1000000)) end" },
    { "math.randomseed", "show(pcall(function() math.randomseed(os.time()) end)) " ..
      "show(math.random(9999))" },
    { "collectgarbage", "show(pcall(function() return collectgarbage('count') end))" },
    { "finalizers", "show(pcall(setmetatable, {}, { __gc = function() show('gone') end }))" },
    { "weak tables", "show(pcall(setmetatable, {}, { __mode = 'k' }))" },
    { "io, os and debug", "show(io, os.getenv, os.tmpname, debug, package and package.cpath)" },
    { "errors with tables", "show(pcall(error, {})) show(pcall(error, print))" },
    { "sorting what is equal", "local t = {} for i = 1, 40 do t[i] = { i % 3, i } end " ..
      "table.sort(t, function(a, b) return a[1] < b[1] end) " ..
      "for _, p in ipairs(t) do show(p[1], p[2]) end" },
    { "the order of JSON", "show(require('society.json').encode({ z = 1, b = {}, a = 3 }))" },
  }

  for _, case in ipairs(TRICKY) do
    it("is not affected by " .. case[1], function()
      place:write("app.lua", app(case[2]))
      local first = run("", "app.lua --seed 5")
      assert.same(first, run("env MALLOC_PERTURB_=90 TZ=Asia/Tokyo", "app.lua --seed 5"))
      assert.same(first, run("env -i PATH=\"$PATH\"", "app.lua --seed 5"))
      assert.same(first, run(another_day(77), "app.lua --seed 5"))
      assert.not_matches("0x%x%x%x%x", first.out)
    end)
  end

  it("has the same outcome for a seed alone and as one of many", function()
    -- The app fails where its outcome is the one that it is given.
    place:write("app.lua", app([[
      local outcome = {}
      for i = 1, 12 do outcome[i] = answer["w" .. i] end
      outcome = table.concat(outcome, "-")
      show("outcome " .. outcome)
      assert(outcome ~= arg[1], "this is the outcome")
    ]]))
    assert.equal(0, place:run("sim app.lua --seeds 1..50").code)
    for seed = 1, 5 do
      local alone = place:run(("sim app.lua --seed %d --faults default"):format(seed))
      assert.equal(0, alone.code, alone.err)
      local outcome = assert(alone.out:match("outcome ([%d-]+)\n"))
      local many = place:run("sim app.lua --seeds 1..5 --faults default -- " .. outcome)
      assert.equal(1, many.code)
      assert.matches("this is the outcome", many.err, 1, true)
      assert.matches((" --seed %d "):format(seed), many.err, 1, true)
    end
  end)

  it("accepts its faults by name", function()
    place:write("app.lua", app())
    for _, name in ipairs({ "evict", "crash", "lag", "raise", "slow", "jump", "fold", "power",
      "full", "io", "drop", "double", "delay", "model", "dead", "evict,crash", "none",
      "default" }) do
      assert.equal(0, place:run("sim app.lua --seeds 1..3 --faults " .. name).code, name)
    end
    local wrong = place:run("sim app.lua --faults crash,earthquake")
    assert.equal(2, wrong.code)
    assert.equal("society: sim: --faults: unknown fault 'earthquake'; use none, default, or names "
      .. "from evict, crash, lag, raise, slow, jump, fold, power, full, io, drop, double, delay, "
      .. "dead, model\n", wrong.err)
    assert.equal(2, place:run("sim app.lua --faults ''").code)
    assert.equal(2, place:run("sim app.lua --seeds 1..2 --dump x").code)
  end)

  it("detects a script that does not repeat itself", function()
    place:write("app.lua", [[
      local society = require("society")
      local times = 0 -- file-level variables do not last
      society.root { default = function(root)
        times = times + 1
        root:sleep(10)
        if times > 1 then root:sleep(times) end
        root:sleep(10)
      end }
      society.main(function(user) user:send_message { to = "root", payload = "go" } end)
    ]])
    local result = place:run("sim app.lua --seeds 1..200 --faults evict")
    assert.equal(1, result.code)
    assert.matches("did not repeat itself", result.err, 1, true)
    local command = result.err:match("repeat it with: ([^\n]+)\n$")
    local repeated = place:shell(command)
    assert.equal(1, repeated.code)
    assert.matches("did not repeat itself", repeated.err, 1, true)
  end)

  it("detects what a scenario says must happen once", function()
    place:write("app.lua", [[
      local society = require("society")
      society.root { default = function(root, message)
        if message.payload.text == "go" then
          root:send_message { to = "root", payload = { once = "a" } }
          root:send_message { to = "root", payload = { once = "a" } }
        end
      end }
      society.main(function(user) user:send_message { to = "root", payload = "go" } end)
    ]])
    local result = place:run("sim app.lua --seeds 1..2")
    assert.equal(1, result.code)
    assert.matches("root sent twice what it must send once: a", result.err, 1, true)
  end)
end)
