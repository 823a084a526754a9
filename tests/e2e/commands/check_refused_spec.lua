-- society check warns of what the sandbox would refuse, and runs nothing of strangers.
-- Covers: core/main/lint.c

local program = require("program")

describe("society check of an app", function()
  local place

  before_each(function()
    place = program.place()
  end)

  after_each(function()
    place:remove()
  end)

  local function check(text)
    place:write("app.lua", 'local society = require("society")\n' .. text)
    local result = place:run("check app.lua")
    assert.equal(0, result.code, result.err)
    return result.err
  end

  it("compiles the modules of isolated roles, without running them", function()
    place:write("good.lua", "error('run') return function() end")
    place:write("bad.lua", "return function( returnn 1 end")
    local app = 'society.role { id = "guest", isolated = true, behaviour = "%s" }'
    assert.equal("", check(app:format("good")))
    for name, said in pairs({ bad = "bad.lua:1:", missing = "no module 'missing'" }) do
      place:write("app.lua", 'local society = require("society")\n' .. app:format(name))
      local result = place:run("check app.lua")
      assert.equal(1, result.code)
      assert.matches("the isolated role 'guest': ", result.err, 1, true)
      assert.matches(said, result.err, 1, true)
    end
  end)

  it("warns of names that scripts do not have, with file and line", function()
    place:write("helper.lua", "return function() return debug.traceback() end\n")
    local warnings = check([[
      require("helper")
      society.root(function(agent)
        os.execute("ls")
        local file = io.open("x")
        setmetatable({}, { __gc = print })
        return load("return 1")
      end)]])
    assert.matches("app.lua:4: warning: os.execute would be refused: scripts start no", warnings)
    assert.matches("app.lua:5: warning: io would be refused", warnings)
    assert.matches("app.lua:6: warning: __gc would be refused", warnings)
    assert.matches("app.lua:7: warning: load would be refused", warnings)
    assert.matches("helper.lua:1: warning: debug would be refused", warnings)
    assert.equal(5, select(2, warnings:gsub("\n", "")))
  end)

  it("warns of what is not called by its own name, and of changes to libraries", function()
    local warnings = check([[
      local o = os
      local function never()
      pcall(load, "return 1")
      _G.dofile("x")
      _G["loadfile"]("x")
      o["execute"]("ls")
      o.exit() end
      local exec = os.getenv
      local mt = { ["__gc"] = print }
      function mt.__mode() end
      string.trim = function(s) return s end
      function string.first(s) return s:sub(1, 1) end
      society.root(function(agent)
        if agent then string.format = nil end
        function o.time() end
        _G.string.rep = print
        return mt, exec
      end)]])
    for _, said in ipairs({ "4: warning: load would", "5: warning: dofile", "6: warning: loadfile",
      "7: warning: os.execute", "8: warning: os.exit", "9: warning: os.getenv",
      "10: warning: __gc", "11: warning: __mode", "15: warning: changing string.format",
      "16: warning: changing os.time", "17: warning: changing string.rep" }) do
      assert.matches("app.lua:" .. said, warnings, 1, true)
    end
    assert.equal(11, select(2, warnings:gsub("\n", "")), warnings)
  end)

  it("warns of nothing that works", function()
    assert.equal("", check([[
      society.config({ load = true })
      local io = { open = function() end }
      local function debug(...) return ... end
      society.root(function(agent, message)
        -- os.execute and dofile() in a comment
        local text = "os.exit()"
        local function own(load, ...) return load(...) end
        for _, package in ipairs({}) do own(package, { load = 1, dofile = "x" }) end
        local other, dofile <const> = 1, print
        dofile(other, ("x").rep, table.concat({ "load" }), agent["load"])
        local string = {}
        string.format = "own"
        io.open(debug(text), os.time(), agent:load("root").load, message.package)
        return load("return 1")
      end)]]))
  end)

  it("does not run the modules of isolated roles", function()
    place:write("stranger.lua", 'error("it was run")')
    assert.equal("", check([[
      society.role({ id = "guest", name = "g", isolated = true, behaviour = "stranger" })
      society.root(function() end)]]))
  end)
end)
