-- agent:run_lua in a simulated world: an effect with a result, an error or a spent budget,
-- the same after a crash.
--
-- Covers: core/script/bindings/bind_run_lua.c, core/script/calls/errand.c

local scene = require("scene")

local function run(options)
  local seen = {}
  local s = scene.troupe({
    root = function(root)
      local result, err = root:run_lua(options)
      seen[#seen + 1] = result or err
    end,
  })
  assert(s:send("user", { to = "root", payload = "go" }))
  s:run()
  s:close()
  return seen[1]
end

describe("agent:run_lua", function()
  it("hands values in, and the result and what was printed out", function()
    assert.same({ result = { sum = 3 }, printed = "adding\t2\n" }, run({
      script = "print('adding', #values.list) return { sum = values.list[1] + (...).list[2] }",
      values = { list = { 1, 2 } } }))
  end)

  it("returns the script's error", function()
    local err = run({ script = "local x = nil\nreturn x.y" })
    assert.equal("script_error", err.error)
    assert.matches("script:2: attempt to index a nil value", err.message, 1, true)
  end)

  it("shows an error that is a table as JSON", function()
    assert.equal('{"code":7}', run({ script = "error({ code = 7 })" }).message)
    assert.matches("neither a text nor JSON", run({ script = "error({ print })" }).message, 1, true)
    assert.matches("neither a text nor JSON",
      run({ script = "error({ ('x'):rep(5000) })" }).message, 1, true)
  end)

  it("refuses a script or values that cannot be handed in, which the caller did not write",
    function()
      local err = run({ script = "--" .. ("x"):rep(1048576) })
      assert.same({ "too_large", "'script' can have 1 MB at most" }, { err.error, err.message })
      err = run({ script = "return '\xff'" })
      assert.same({ "script_error", "'script' is not UTF-8" }, { err.error, err.message })
      err = run({ script = "return 1", values = { ("x"):rep(1048577) } })
      assert.equal("too_large", err.error)
    end)

  it("ends an endless script by its budget, whatever it catches", function()
    local err = run({ script = "while true do pcall(function() while true do end end) end",
      cpu_ms = 1 })
    assert.equal("budget_exceeded", err.error)
    assert.equal("steps", err.which)
  end)

  it("gives the script no way out", function()
    local got = run({ script = [[
      local found = {}
      for _, name in ipairs({ "io", "debug", "package", "dofile", "loadfile", "society", "agent",
        "collectgarbage" }) do
        if _ENV[name] ~= nil then found[#found + 1] = name end
      end
      local ok = pcall(require, "society")
      return { found = #found, required = ok, execute = os.execute ~= nil }]] })
    assert.same({ found = 0, required = false, execute = false }, got.result)
  end)

  it("is recorded: a crash does not change the result", function()
    local results = {}
    local s = scene.troupe({
      root = function(root)
        results[#results + 1] = root:run_lua({ script = "return values.n * 2",
          values = { n = 21 } }).result
        root:sleep(1000)
      end,
    })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(100)
    s:crash()
    s:recover()
    s:run()
    s:close()
    assert.same({ 42, 42 }, results)
  end)

  it("raises on misuse", function()
    for _, case in ipairs({
      { options = {}, expected = "'script' must be a text" },
      { options = { script = "", values = 1 }, expected = "'values' must be a table" },
      { options = { script = "", cpu_ms = 0 }, expected = "'cpu_ms' must be a whole number" },
      { options = { script = "", speed = 1 }, expected = "speed" },
    }) do
      local fault
      local s = scene.troupe({
        root = function(root)
          local _, raised = pcall(root.run_lua, root, case.options)
          fault = raised
        end,
      })
      assert(s:send("user", { to = "root", payload = "go" }))
      s:run()
      s:close()
      assert.matches(case.expected, fault, 1, true)
    end
  end)
end)
