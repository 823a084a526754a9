-- A society whose machine had a wrong clock for one run.

local program = require("program")

describe("a state from the future", function()
  local place

  before_each(function()
    place = program.place()
    place:write("app.lua", 'require("society").main(function() print("done") end)')
  end)

  after_each(function()
    place:remove()
  end)

  it("is warned of at the start, with by how much it is ahead", function()
    place:shell(("CLOCK_DAYS=3650 LD_PRELOAD=%s society run app.lua"):format(
      program.quote(place:preload("clock"))))
    local result = place:run("run app.lua")
    assert.equal(0, result.code)
    assert.matches("warn clock system: the state is ahead .* by 36%d%d days", result.err)
  end)

  it("is no reason to warn where the clock was right", function()
    place:run("run app.lua")
    assert.is_nil(place:run("run app.lua").err:find("ahead", 1, true))
  end)
end)
