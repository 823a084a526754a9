-- society.new itself: what is left when something goes wrong on the way.

local scene = require("scene")
local society = require("society")

describe("an app that raises", function()
  after_each(scene.close)

  it("leaves a society that is not running, and recover() tries it again", function()
    local is_bad = false
    local s = scene.new({ app = function(s)
      s:root(function() return "x" end)
      if is_bad then
        error("told so")
      end
    end })
    is_bad = true
    s:crash()
    for _ = 1, 2 do
      local ok, err = pcall(s.recover, s)
      assert.is_false(ok)
      assert.matches("told so", err, 1, true)
      for _, name in ipairs({ "run", "step", "dump", "now" }) do
        ok, err = pcall(s[name], s)
        assert.is_false(ok)
        assert.matches("not running", err, 1, true)
      end
    end
    is_bad = false
    s:recover()
    assert.equal("x", s:dispatch("root", "x").payload.text)
  end)

  it("does not keep its state directory from the next one", function()
    local folder = scene.folder() .. "/state"
    assert.is_false(pcall(society.new, { store = folder, app = function() error("no") end }))
    scene.new({ store = folder }):run()
  end)
end)

describe("a declaration by hand", function()
  after_each(scene.close)

  it("is made again by recover() only if it was accepted", function()
    local s = scene.new()
    s:root(function() return "x" end)
    assert.is_false(pcall(s.role, s, { id = 7 }))
    assert.is_false(pcall(s.config, s, { colour = 1 }))
    s:crash()
    s:recover()
    assert.equal("x", s:dispatch("root", "x").payload.text)
  end)
end)

describe("advance", function()
  after_each(scene.close)

  it("says by its name what it needs", function()
    local s = scene.new()
    for _, bad in ipairs({ "x", -1, 0.5, 1e15, {}, true }) do
      local ok, err = pcall(s.advance, s, bad)
      assert.is_false(ok)
      assert.matches("s:advance needs ms from 0 to 10^14, not ", err, 1, true)
    end
    assert.is_false(pcall(s.advance, s))
  end)
end)

describe("a society made in a coroutine", function()
  after_each(scene.close)

  it("goes on when the coroutine is gone", function()
    local s = coroutine.wrap(function()
      return scene.new({ app = function(s)
        s:root(function(root)
          root:sleep(10)
          return "x"
        end)
      end })
    end)()
    collectgarbage()
    collectgarbage()
    assert.equal("x", s:dispatch("root", "x").payload.text)
  end)
end)

describe("messages taken by receive", function()
  after_each(scene.close)

  it("leave no row behind in the table of takes", function()
    local s = scene.troupe({
      a = function(a)
        for _ = 1, 3 do
          a:receive() -- there is mail: it does not wait
        end
      end,
    })
    for _ = 1, 3 do
      for _ = 1, 4 do
        assert(s:send("user", { to = "a", payload = "x" }))
      end
      s:run()
    end
    assert.equal(0, s:stats().pending)
    assert.is_nil(s:dump():find('"table":"takes"', 1, true))
  end)
end)
