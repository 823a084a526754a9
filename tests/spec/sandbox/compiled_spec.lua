-- Compiled scripts are cached, and nobody can tell.

local scene = require("scene")

describe("a script that is loaded again", function()
  after_each(scene.close)

  it("runs the current text of a file, not the cached one", function()
    local folder = scene.files({
      ["app.lua"] = [[
        local word = require("word")
        require("society").root(function() return { word = word } end)]],
      ["word.lua"] = 'return "one"',
    })
    local function write(name, text)
      local file = assert(io.open(folder .. "/" .. name, "w"))
      file:write(text)
      file:close()
    end
    local s = scene.new({ app = folder .. "/app.lua" })
    local function after_crash()
      s:crash()
      s:recover()
      return s:dispatch("root", "x").payload.word
    end
    assert.equal("one", s:dispatch("root", "x").payload.word)
    assert.equal("one", after_crash())
    write("word.lua", 'return "two"')
    assert.equal("two", after_crash())
    write("app.lua", "#!/usr/bin/env society\n"
      .. 'require("society").root(function() return { word = "app" } end)')
    assert.equal("app", after_crash())
    assert.equal("app", after_crash())
  end)

  it("names the same lines in its errors each time it is loaded", function()
    local app = scene.app([[
      require("society").root(function()
        local function deep() error("oh") end
        deep()
      end)]])
    local texts = {}
    for i = 1, 2 do
      local s = scene.new({ app = app, quiet = true })
      s:dispatch("root", "x")
      texts[i] = scene.reason(s:dead_letters()[1])
      s:close()
    end
    assert.matches("app.lua:2: oh", texts[1].message, 1, true)
    assert.matches("local 'deep'", texts[1].traceback, 1, true)
    assert.same(texts[1], texts[2])
  end)
end)
