-- The scenarios without settings under the simulator's faults, and the seeds that once
-- failed.
-- Slow: thousands of seeds.
--
-- Covers: core/sim/callers.c, core/sim/ears.c, core/sim/outsiders.c

local program = require("program")
local tree = require("tree")

describe("the standard scenario", function()
  it("has 50 agents and 500 messages and passes 2,000 seeds of the default faults", function()
    local place = program.place()
    local scenario = program.quote(tree.path("tests/scenarios/standard.lua"))
    local one = place:run("sim " .. scenario .. " --seed 1")
    local _, births = one.out:gsub(" info spawn ", "")
    local _, messages = one.out:gsub(" info message: ", "")
    assert.equal(49, births) -- and root
    assert.is_true(messages >= 450)
    local many = place:run("sim " .. scenario .. " --seeds 1..2000")
    assert.equal("", many.out)
    assert.equal(0, many.code, many.err)
    place:remove()
  end)
end)

describe("outside agents, behind a door that loses, duplicates and delays,", function()
  it("get and send everything in the end (500 seeds)", function()
    local place = program.place()
    local scenario = program.quote(tree.path("tests/scenarios/outside.lua"))
    local result = place:run("sim " .. scenario .. " --seeds 1..500")
    assert.equal(0, result.code, result.err)
    place:remove()
  end)
end)

describe("callers who send under keys, leave, ask again and decide twice", function()
  it("find each order done once and each answer kept (1,000 seeds)", function()
    local place = program.place()
    local scenario = program.quote(tree.path("tests/scenarios/callers.lua"))
    local result = place:run("sim " .. scenario .. " --seeds 1..1000")
    assert.equal(0, result.code, result.err)
    place:remove()
  end)

  it("find nothing done that a full disk refused (300 seeds)", function()
    local place = program.place()
    local scenario = program.quote(tree.path("tests/scenarios/callers.lua"))
    local result = place:run("sim " .. scenario .. " --seeds 1..300 --faults full,lag,crash,power")
    assert.equal(0, result.code, result.err)
    place:remove()
  end)

  it("do the same for the same seed, byte for byte", function()
    local place = program.place()
    local scenario = program.quote(tree.path("tests/scenarios/callers.lua"))
    local first = place:run("sim " .. scenario .. " --seed 7 --dump first")
    local again = place:run("sim " .. scenario .. " --seed 7 --dump again")
    assert.equal(0, first.code, first.err)
    assert.equal(first.out, again.out)
    assert.equal(place:read("first"), place:read("again"))
    assert.matches('"table":"call_keys"', place:read("first"), 1, true)
    place:remove()
  end)
end)

describe("agents that do at random everything agents can do", function()
  it("break no law of the checkers (500 seeds)", function()
    local place = program.place()
    local scenario = program.quote(tree.path("tests/scenarios/mixed.lua"))
    local result = place:run("sim " .. scenario .. " --seeds 1..500")
    assert.equal(0, result.code, result.err)
    place:remove()
  end)
end)

describe("seeds that once failed", function()
  for _, case in ipairs(dofile(tree.path("tests/seeds.lua"))) do
    it(("stay fixed: %s, seed %d"):format(case.app, case.seed), function()
      local place = program.place()
      local result = place:run(("sim %s --seeds %d..%d --faults %s"):format(
        program.quote(tree.path(case.app)), case.seed, case.seed, case.faults))
      assert.equal(0, result.code, case.why .. ": " .. result.err)
      place:remove()
    end)
  end
end)
