-- The scenarios with settings: the exact one and those of the laws, of doors and of thinkers,
-- whose outcome is fixed, and the wild one, which only the checkers judge.
-- Slow: thousands of seeds.

local program = require("program")
local tree = require("tree")

local CASES = {
  { app = "exact", seeds = 800, settings = "" },
  { app = "exact", seeds = 600, settings = "kept" },
  { app = "laws", seeds = 200, settings = "" },
  { app = "doors", seeds = 120, settings = "" },
  { app = "thinkers", seeds = 40, settings = "" },
  { app = "wild", seeds = 350, settings = "" },
  { app = "wild", seeds = 200, settings = "narrow open victim" },
  { app = "wild", seeds = 200, settings = "kept adopted confirmed few_effects" },
  { app = "wild", seeds = 150, settings = "narrow few_effects kept open adopted confirmed victim" },
}

describe("the scenario", function()
  for _, case in ipairs(CASES) do
    it(("%s passes %d seeds: %s"):format(case.app, case.seeds,
      case.settings == "" and "without settings" or case.settings), function()
      local place = program.place()
      local result = place:run(("sim %s --seeds 1..%d -- %s"):format(program.quote(
        tree.path("tests/scenarios/" .. case.app .. ".lua")), case.seeds,
        case.settings))
      assert.equal(0, result.code, result.err)
      place:remove()
    end)
  end

  it("wild refuses an unknown setting", function()
    local place = program.place()
    local result = place:run(("sim %s --seeds 1..1 -- narrow wide"):format(program.quote(
      tree.path("tests/scenarios/wild.lua"))))
    assert.equal(1, result.code)
    assert.matches("no setting is called wide", result.err, 1, true)
    place:remove()
  end)
end)
