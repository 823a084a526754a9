-- Hostile scripts in the built program: each is ended by its budget of CPU time, memory or
-- text, within twice that time, and an agent beside it keeps answering.

local hostile = require("hostile")
local program = require("program")
local stalls = require("stalls")

-- CPU time is what counts, so a busy machine changes nothing.
local CPU_MS = 100

describe("hostile scripts in a running society", function()
  it("are ended, each by a budget and in time", function()
    local place = program.place()
    place:write("app.lua", hostile.app({ cpu_ms_max = CPU_MS }))
    local result = place:shell(("%s society run app.lua %s -- main"):format(stalls.ENVIRONMENT,
      stalls.OPTIONS))
    local dead = program.rows(place:run("inspect dead-letters --limit 1000 --json"))
    local worst = stalls.worst(result.err)
    place:remove()
    assert.equal(0, result.code, result.err:sub(-2000))
    hostile.check(dead)
    assert.equal((hostile.OUTCOME .. "\n"):rep(#hostile.scripts), result.out)
    assert.is_true(worst.turn_cpu_ms <= 2 * CPU_MS * stalls.slowness(), worst.turn_cpu_ms)
  end)
end)
