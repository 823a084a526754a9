-- An app is bounded while it loads, as a turn is.

local scene = require("scene")

describe("an app that loads", function()
  after_each(scene.close)

  it("may not run forever", function()
    local app = scene.app("while true do end")
    assert.error_matches(function()
      scene.new({ app = app, config = { steps_max = 200000 } })
    end, "exceeded its budget of steps")
  end)

  it("may not catch the end of its steps", function()
    local app = scene.app("while true do pcall(function() while true do end end) end")
    assert.error_matches(function()
      scene.new({ app = app, config = { steps_max = 200000 } })
    end, "exceeded its budget of steps")
  end)

  it("does not use up the steps of the next one", function()
    local app = scene.app("for _ = 1, 100000 do end require('society').root(function() end)")
    for _ = 1, 3 do
      scene.new({ app = app, config = { steps_max = 400000 } })
    end
  end)
end)
