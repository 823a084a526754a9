-- An activation that is run again from its record has the budget of a turn for each of the
-- turns that it repeats, not one for all.

local society = require("society")

describe("the budget of an activation that is run again", function()
  local s

  after_each(function()
    s:close()
  end)

  it("is that of one turn for each turn that it repeats", function()
    s = society.new({ quiet = true, config = { steps_max = 1000000 }, app = function(app)
      app:root(function(root)
        local x = 0
        for _ = 1, 6 do -- three times the budget in all
          for i = 1, 125000 do x = x + i % 7 end
          root:sleep(1000)
        end
        return { done = true }
      end)
    end })
    s:send("user", { to = "root", payload = "go" })
    s:advance(4500)
    s:crash()
    s:recover()
    s:run()
    assert.same({}, s:dead_letters())
    assert.is_true(s:messages()[2].payload.done)
  end)

  it("still ends a turn that does too much", function()
    s = society.new({ quiet = true, config = { steps_max = 1000000 }, app = function(app)
      app:root(function(root)
        root:sleep(1000)
        local x = 0
        for i = 1, 2000000 do x = x + i end
        return { done = x }
      end)
    end })
    s:send("user", { to = "root", payload = "go" })
    s:advance(500)
    s:crash()
    s:recover()
    s:run()
    assert.equal("budget_exceeded", s:dead_letters()[1].reason)
  end)
end)
