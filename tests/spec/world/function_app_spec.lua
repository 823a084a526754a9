-- Apps that are functions of a spec: what they share with it, and what not.
--
-- Covers: core/world/world_app.c

local scene = require("scene")

describe("an app that is a function", function()
  after_each(scene.close)

  it("has its own environment, fresh after each restart", function()
    local s = scene.new({
      app = function(s)
        s:root(function()
          counter = (counter or 0) + 1 -- luacheck: ignore
          return { count = counter } -- luacheck: ignore
        end)
      end,
    })
    assert.equal(1, assert(s:dispatch("root", "x")).payload.count)
    assert.equal(2, assert(s:dispatch("root", "x")).payload.count)
    assert.is_nil(rawget(_G, "counter"))
    s:crash()
    s:recover()
    assert.equal(1, assert(s:dispatch("root", "x")).payload.count)
  end)

  it("requires the society whose app it is", function()
    local seen, inside
    local s = scene.new({
      app = function()
        local society = require("society")
        seen = society
        society.role({ id = "helper", behaviour = function() end })
        society.root(function()
          inside = require("society")
          return { agents = #inside.agents() }
        end)
      end,
    })
    assert.equal(s, seen)
    assert.equal(2, assert(s:dispatch("root", "x")).payload.agents)
    assert.equal(s, inside)
    assert.not_equal(s, require("society"))
    s:crash()
    seen = nil
    s:recover()
    assert.equal(s, seen)
  end)

  it("dispatches in main, as a method and as a function, also after a crash", function()
    local got
    local s = scene.new({
      app = function(s)
        s:root(function(_, message) return { text = message.payload.text .. "!" } end)
        s:main(function(user)
          local first = assert(s:dispatch("root", "one")).payload.text
          user:sleep(100)
          got = { first, assert(require("society").dispatch("root", "two")).payload.text }
        end)
      end,
    })
    s:advance(50)
    s:crash()
    s:recover()
    s:run()
    assert.same({ "one!", "two!" }, got)
  end)

  it("says in an agent's turn that dispatch is not for it", function()
    local said
    local s = scene.new({
      app = function(s)
        s:root(function() said = select(2, pcall(s.dispatch, s, "root", "x")) end)
      end,
    })
    scene.tell(s, "root")
    assert.matches("does not work inside a turn; use agent:request", said, 1, true)
  end)

  it("finds the spec's names and modules, and its own _G", function()
    local found
    scene.new({
      app = function()
        found = { describe = describe, scene = require("scene"), own = _G ~= nil and _G.require }
      end,
    })
    assert.equal(describe, found.describe)
    assert.equal(scene, found.scene)
    assert.not_equal(require, found.own)
  end)

  it("can be the app of several societies, each with its own globals", function()
    local function app(s)
      name = nil -- luacheck: ignore
      s:root(function(_, message)
        name = name or message.payload.text -- luacheck: ignore
        return { text = name } -- luacheck: ignore
      end)
    end
    local first, second = scene.new({ app = app }), scene.new({ app = app })
    assert.equal("a", assert(first:dispatch("root", "a")).payload.text)
    assert.equal("b", assert(second:dispatch("root", "b")).payload.text)
    assert.equal("a", assert(first:dispatch("root", "c")).payload.text)
  end)

  it("shares local variables of the spec, also after a crash", function()
    local count = 0
    local s = scene.new({ app = function(s) s:root(function() count = count + 1 end) end })
    scene.tell(s, "root")
    s:crash()
    s:recover()
    scene.tell(s, "root")
    assert.equal(2, count)
  end)

  it("leaves the function as it was, even if it fails", function()
    local function app()
      if require("society").role then
        error("no app")
      end
    end
    assert.has_error(function() scene.new({ app = app }) end)
    local ok, err = pcall(app)
    assert.is_false(ok)
    assert.matches("create a society with society.new", err, 1, true)
  end)
end)

describe("a budget error", function()
  after_each(scene.close)

  local function spin()
    while true do end -- luacheck: ignore
  end

  for _, case in ipairs({
    { name = "the pcall of an app", catch = function(fn) return pcall(fn) end },
    { name = "the pcall of a spec's helper", catch = pcall },
    { name = "a coroutine of Lua's own", catch = function(fn)
      return coroutine.resume(coroutine.create(fn))
    end },
  }) do
    it("cannot be caught by " .. case.name, function()
      local s = scene.troupe({
        a = function()
          case.catch(spin)
          return { text = "survived" }
        end,
      })
      local answer, err = s:dispatch("a", "x")
      assert.is_nil(answer)
      assert.equal("receiver_failed", err.error)
      assert.equal("budget_exceeded", s:dead_letters()[1].error.error)
    end)
  end

  it("is not blamed for a later failure of another agent", function()
    local s = scene.troupe({
      a = function() pcall(spin) end,
      b = function() error("boom") end,
    })
    scene.tell(s, "a")
    scene.tell(s, "b")
    local dead = s:dead_letters()
    assert.equal(2, #dead)
    assert.equal("budget_exceeded", dead[1].error.error)
    assert.equal("script_error", dead[2].error.error)
    assert.matches("boom", dead[2].error.message, 1, true)
  end)
end)
