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

  it("warns of nothing that works", function()
    assert.equal("", check([[
      society.config({ load = true })
      local io = { open = function() end }
      local function debug(...) return ... end
      society.root(function(agent, message)
        -- os.execute and dofile() in a comment
        local text = "os.exit()"
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
