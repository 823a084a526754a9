-- The scenarios that have settings of their own, with each of them: the exact one, whose
-- outcome is fixed, and the wild one, which the checkers alone judge.

local program = require("program")

local CASES = {
  { app = "exact", seeds = 800, settings = "" },
  { app = "exact", seeds = 600, settings = "kept" },
  { app = "wild", seeds = 350, settings = "" },
  { app = "wild", seeds = 200, settings = "narrow open victim" },
  { app = "wild", seeds = 200, settings = "kept adopted confirmed few_effects" },
  { app = "wild", seeds = 150, settings = "narrow few_effects kept open adopted confirmed victim" },
}

describe("the scenario", function()
  for _, case in ipairs(CASES) do
    it(("%s stands %d seeds: %s"):format(case.app, case.seeds,
      case.settings == "" and "as it is" or case.settings), function()
      local place = program.place()
      local result = place:run(("sim %s --seeds 1..%d -- %s"):format(program.quote(
        io.popen("pwd"):read("l") .. "/tests/scenarios/" .. case.app .. ".lua"), case.seeds,
        case.settings))
      assert.equal(0, result.code, result.err)
      place:remove()
    end)
  end

  it("wild refuses a setting it does not know", function()
    local place = program.place()
    local result = place:run(("sim %s --seeds 1..1 -- narrow wide"):format(program.quote(
      io.popen("pwd"):read("l") .. "/tests/scenarios/wild.lua")))
    assert.equal(1, result.code)
    assert.matches("no setting is called wide", result.err, 1, true)
    place:remove()
  end)
end)
