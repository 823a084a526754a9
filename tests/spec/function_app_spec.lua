-- Apps that are functions of a spec: what they share with it, and what not.

local scene = require("scene")

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
    it("is not survived by " .. case.name, function()
      local s = scene.troupe({
        a = function()
          case.catch(spin)
          return { text = "survived" }
        end,
      })
      local answer, err = s:dispatch("a", "x")
      assert.is_nil(answer)
      assert.equal("receiver_failed", err.error)
      assert.equal("budget", s:dead_letters()[1].error.error)
    end)
  end

  it("is not what a later failure of another agent is blamed for", function()
    local s = scene.troupe({
      a = function() pcall(spin) end,
      b = function() error("boom") end,
    })
    scene.tell(s, "a")
    scene.tell(s, "b")
    local dead = s:dead_letters()
    assert.equal(2, #dead)
    assert.equal("budget", dead[1].error.error)
    assert.equal("script_error", dead[2].error.error)
    assert.matches("boom", dead[2].error.message, 1, true)
  end)
end)
