-- What scripts see of Lua: the same today, tomorrow and when they are rerun.
--
-- Covers: core/script/bindings/bind_agent.c

local scene = require("scene")

describe("a script", function()
  after_each(scene.close)

  -- Runs `body` as the behaviour of root in an app of its own; its result is the reply's
  -- payload.
  local function run(body, files, options)
    files = files or {}
    files["app.lua"] = ('local society = require("society")\n%s\n'):format(files.head or "")
      .. ("society.root(function(agent, message) %s end)"):format(body)
    files.head = nil
    options = options or {}
    options.app = scene.files(files) .. "/app.lua"
    local s = scene.new(options)
    local answer, err = s:dispatch("root", "x")
    if not answer then
      local dead = s:dead_letters()
      error(dead[1] and scene.reason(dead[1]).message or err.message, 0)
    end
    return answer.payload, s
  end

  it("iterates tables in order: numbers, then strings", function()
    local got = run([[
      local seen = {}
      for key in pairs({ b = 1, a = 1, [10] = 1, [2] = 1, [-1] = 1, c = 1, [1.5] = 1 }) do
        seen[#seen + 1] = tostring(key)
      end
      local first = next({ z = 1, y = 2 })
      return { order = table.concat(seen, " "), first = first }
    ]])
    assert.same({ order = "-1 1.5 2 10 a b c", first = "y" }, got)
  end)

  it("cannot iterate tables with other keys", function()
    local got = run([[
      local ok, err = pcall(function() for _ in pairs({ [{}] = 1 }) do end end)
      return { ok = ok, err = tostring(err) }
    ]])
    assert.is_false(got.ok)
  end)

  it("sees no addresses", function()
    local got = run([[
      return { a = tostring({}), b = tostring(print), c = tostring(coroutine.create(print)),
        d = tostring(agent), e = ("%s"):format({}), p = pcall(string.format, "%p", {}) }
    ]])
    for name, text in pairs({ a = got.a, b = got.b, c = got.c, d = got.d, e = got.e }) do
      assert.is_nil(tostring(text):find("0x", 1, true), name)
    end
    assert.is_false(got.p)
  end)

  it("sorts stably", function()
    local got = run([[
      local list = {}
      for i = 1, 40 do list[i] = { key = i % 3, at = i } end
      table.sort(list, function(a, b) return a.key < b.key end)
      for i = 2, #list do
        if list[i - 1].key == list[i].key and list[i - 1].at > list[i].at then
          return "unstable"
        end
      end
      return "stable"
    ]])
    assert.equal("stable", got.text)
  end)

  it("has no io, debug, package, collectgarbage, dofile, loadfile", function()
    local got = run([[
      local has = {}
      for _, name in ipairs{ "io", "debug", "package", "collectgarbage", "dofile", "loadfile" } do
        has[name] = _G[name] ~= nil
      end
      return has
    ]])
    for name, is_there in pairs(got) do
      assert.is_false(is_there, name)
    end
  end)

  it("has only the time functions of os", function()
    local got = run([[
      local names = {}
      for name in pairs(os) do names[#names + 1] = name end
      return table.concat(names, " ")
    ]])
    assert.equal("clock date time", got.text)
  end)

  it("cannot set __gc or __mode, load bytecode, or dump functions", function()
    local got = run([[
      return { pcall(setmetatable, {}, { __gc = print }) and 1 or 0,
        pcall(setmetatable, {}, { __mode = "k" }) and 1 or 0,
        load("\27Lua") and 1 or 0, string.dump and 1 or 0 }
    ]])
    assert.same({ 0, 0, 0, 0 }, got)
  end)

  it("reads the society's clock: os.time, os.date and os.clock", function()
    local got = run([[
      agent:sleep(21000)
      return { time = os.time(), date = os.date("!%Y-%m-%d %H:%M:%S"), now = agent:now(),
        table = os.time({ year = 2026, month = 1, day = 1, hour = 0 }) }
    ]])
    assert.equal(1767225621, got.time)
    assert.equal("2026-01-01 00:00:21", got.date)
    assert.equal(1767225621000, got.now)
    assert.equal(1767225600, got.table)
  end)

  it("draws random numbers from the seed", function()
    local body = "return { math.random(), math.random(10), math.random(5, 6), agent:random(1, 9) }"
    local first, again = run(body, nil, { seed = 3 }), run(body, nil, { seed = 3 })
    local other = run(body, nil, { seed = 4 })
    assert.same(first, again)
    assert.not_same(first, other)
    assert.is_true(first[1] >= 0 and first[1] < 1)
    assert.is_true(first[2] >= 1 and first[2] <= 10)
    assert.is_true(first[3] == 5 or first[3] == 6)
  end)

  it("gets the range it asks of math.random, and an error for an empty one", function()
    local got = run([[
      local low, high = 99, 0
      for _ = 1, 500 do
        local n = agent:random(3, 7)
        low, high = math.min(low, n), math.max(high, n)
      end
      return { low = low, high = high, empty = pcall(math.random, 2, 1) }
    ]])
    assert.same({ low = 3, high = 7, empty = false }, got)
  end)

  it("prints as an effect, with tabs between", function()
    local _, s = run([[print("a", 1, nil, true) print() return "x"]])
    assert.equal(1, scene.count(s:transcript(), "print root: a\t1\tnil\ttrue\n"))
    assert.equal(1, scene.count(s:transcript(), "print root: \n"))
  end)

  it("may not use time or chance while it loads", function()
    for _, head in ipairs({ "os.time()", "math.random()", "os.clock()", "os.date()" }) do
      assert.is_false(pcall(run, "return 1", { head = head }))
    end
  end)

  it("requires modules beside the app, once, and in its own environment", function()
    local got = run([[
      return { sum = require("tools").add(1, 2), same = require("tools") == tools, loads = loads }
    ]], {
      head = 'tools = require("tools")',
      ["tools.lua"] = [[
        loads = (loads or 0) + 1
        return { add = function(a, b) return a + b end }
      ]],
    })
    assert.same({ sum = 3, same = true, loads = 1 }, got)
  end)

  it("requires its modules again after a crash", function()
    local _, s = run([[return { n = require("counter").next() }]], {
      ["counter.lua"] = "local n = 0 return { next = function() n = n + 1 return n end }",
    })
    assert.equal(2, s:dispatch("root", "x").payload.n)
    s:crash()
    s:recover()
    assert.equal(1, s:dispatch("root", "x").payload.n)
  end)

  it("cannot require C modules, nor files elsewhere", function()
    for _, name in ipairs({ "lfs", "cjson", "..app", "/etc/passwd", "nosuch" }) do
      assert.is_false(pcall(run, ("return require(%q) and 1"):format(name)), name)
    end
  end)

  it("can use society.json", function()
    local got = run([[
      local json = require("society.json")
      return { text = json.encode({ b = 1, a = json.array({}) }), n = json.decode("[1]")[1] }
    ]])
    assert.same({ text = '{"a":[],"b":1}', n = 1 }, got)
  end)

  it("may wait inside pcall and inside its own coroutines", function()
    local got = run([[
      local ok, slept = pcall(function() agent:sleep(5) return agent:now() end)
      local co = coroutine.wrap(function()
        for i = 1, 3 do
          agent:sleep(1)
          coroutine.yield(i)
        end
      end)
      return { ok, slept, co(), co(), co(), agent:now() }
    ]])
    assert.same({ true, 1767225600005, 1, 2, 3, 1767225600008 }, got)
  end)

  it("cannot wait where Lua cannot yield: it raises and says so", function()
    assert.has_error(function()
      run([[table.sort({ 2, 1 }, function(a, b) agent:sleep(1) return a < b end) return 1]])
    end)
  end)

  it("that yields outside its own coroutines becomes a dead letter", function()
    assert.has_error(function() run("coroutine.yield(1) return 1") end)
  end)

  it("cannot reach another society or the specs", function()
    rawset(_G, "spec_secret", 1)
    local got = run("return { secret = spec_secret ~= nil, busted = describe ~= nil }")
    rawset(_G, "spec_secret", nil)
    assert.same({ secret = false, busted = false }, got)
  end)

  it("can query the society through require('society')", function()
    local got = run("return { agents = #society.agents(), sent = society.stats().sent }")
    assert.same({ agents = 2, sent = 1 }, got)
  end)
end)

describe("errors", function()
  after_each(scene.close)

  it("have a code and a message, every one of them", function()
    local errors = scene.play(function(root)
      local function failure(...)
        local value, err = ...
        assert(value == nil)
        return err
      end
      return {
        failure(root:send_message({ to = "nobody", payload = "x" })),
        failure(root:send_message({ to = "user" })),
        failure(root:send_message({ to = "user", payload = { f = print } })),
        failure(root:send_message({ to = "user", payload = "x", type = "a b" })),
        failure(root:request({ to = "nobody", payload = "x" })),
        failure(root:request({ to = "root", payload = "x" })),
        failure(root:request({ to = "user", payload = "x", timeout_ms = 1 })),
        failure(root:receive({ timeout_ms = 1 })),
        failure(root:receive({ from = "nobody" })),
        failure(root:reply("msg_x", "x")),
        failure(root:spawn_agent("actor", {})),
        failure(root:spawn_agent("nosuch", scene.brief())),
        failure(root:spawn_agent("actor", scene.brief(), { id = "root" })),
        failure(root:spawn_agent("actor", scene.brief(), { id = "a b" })),
        failure(root:contact("nobody")),
        failure(root:add_contact({ id = "nobody" })),
        failure(root:remove_contact("user")),
      }
    end)
    assert.equal(17, #errors)
    for i, err in ipairs(errors) do
      assert.is_string(err.error, i)
      assert.matches("^[a-z_]+$", err.error)
      assert.is_string(err.message, err.error)
      assert.is_true(#err.message > 10, err.error)
    end
  end)
end)
