-- Scenarios that have settings of their own, with each of them.

local program = require("program")

local CASES = {
  { app = "exact", seeds = 800, settings = "" },
  { app = "exact", seeds = 600, settings = "kept" },
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
end)
