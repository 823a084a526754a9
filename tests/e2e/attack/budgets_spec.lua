-- Hostile scripts in the built program: each is ended by its budget of CPU time, memory or
-- text, within twice that time, and an agent beside it keeps answering.
-- Quiet: it measures time.

local hostile = require("hostile")
local program = require("program")
local stalls = require("stalls")

-- CPU time is what counts, so a busy machine changes little. A turn runs up to a quarter
-- longer than its budget, and collecting the garbage of a turn that is over its memory is
-- interrupted by no budget: some 100 to 170 ms for 64 MB, whatever the budget of time. This
-- budget leaves as much room again; and the best of a few runs counts.
local CPU_MS = 300
local RUNS_MAX = 3

-- In worker processes: a short budget, since there is nothing to be measured but the host.
local ISOLATED_CPU_MS = 30
local ISOLATED_STEP_MS = 15

-- The longest turn of the host for an isolated agent that has many effects.
local REDONE_STEP_MS = 20

local REDONE = [[
local society = require("society")
society.role({ id = "many", name = "m", isolated = true, behaviour = function(agent)
  local function burn(n) local x = 0 for i = 1, n do x = x + i end return x end
  local function tell(text)
    assert(agent:send_message({ to = "root", type = "status_report", payload = text }))
  end
  %s
end })
society.root(function(root, message)
  if message.type == "status_report" then return end
  assert(root:spawn_agent("many", { objective = "o", constraints = {}, inputs = "i",
    outputs = "o", completion_criteria = "c" }, { id = "many" }))
  local reply, err = root:request({ to = "many", payload = "go" })
  return reply and "done" or err.error
end)
society.main(function(user)
  print(assert(user:request({ to = "root", payload = "go" })).payload.text)
end)
]]

describe("hostile scripts in a running society", function()
  local function run(cpu_ms, is_isolated)
    local place = program.place()
    place:write("app.lua", hostile.app({ cpu_ms_max = cpu_ms }, is_isolated))
    local result = place:shell(("%s society run app.lua %s -- main"):format(stalls.ENVIRONMENT,
      stalls.OPTIONS))
    local dead = program.rows(place:run("inspect dead-letters --limit 1000 --json"))
    place:remove()
    assert.equal(0, result.code, result.err:sub(-2000))
    hostile.check(dead)
    assert.equal((hostile.OUTCOME .. "\n"):rep(#hostile.scripts), result.out)
    return stalls.worst(result.err)
  end

  it("are ended, each by a budget and in time", function()
    local bound, worst = 2 * CPU_MS * stalls.slowness(), math.huge
    for _ = 1, RUNS_MAX do
      worst = math.min(worst, run(CPU_MS).turn_cpu_ms)
      if worst <= bound then
        break
      end
    end
    assert.is_true(worst <= bound, ("%s of %s ms"):format(worst, bound))
  end)

  -- What a worker does costs the host nothing but its questions. A bystander is delayed by the
  -- longest step, and by as many turns as are ready, each of which waits 2 ms at most.
  it("are ended in worker processes as well, and delay nobody", function()
    local bound, worst = ISOLATED_STEP_MS * stalls.slowness(), math.huge
    for _ = 1, RUNS_MAX do
      local steps = run(ISOLATED_CPU_MS, true)
      worst = math.min(worst, math.max(steps.turn_cpu_ms, steps.step_cpu_ms))
      if worst <= bound then
        break
      end
    end
    assert.is_true(worst <= bound, ("%s of %s ms"):format(worst, bound))
  end)

  -- A turn is done again each time that its worker is slow, so many effects cost their square.
  for name, body in pairs({
    ["large effects"] = "for _ = 1, 60 do burn(300000) tell(('x'):rep(900000)) end",
    ["small effects"] = "for _ = 1, 4000 do burn(100) tell('x') end",
  }) do
    it("delay nobody by what is done again: " .. name, function()
      local bound, worst = REDONE_STEP_MS * stalls.slowness(), math.huge
      for _ = 1, RUNS_MAX do
        local place = program.place()
        place:write("app.lua", REDONE:format(body))
        local result = place:shell(("%s society run app.lua %s"):format(stalls.ENVIRONMENT,
          stalls.OPTIONS))
        local dead = program.rows(place:run("inspect dead-letters --json"))
        place:remove()
        assert.equal(0, result.code, result.err:sub(-2000))
        assert.equal("receiver_failed\n", result.out)
        assert.equal("budget_exceeded", dead[1].error.error)
        assert.equal("cpu_ms", dead[1].error.which)
        worst = math.min(worst, stalls.worst(result.err).turn_cpu_ms)
        if worst <= bound then
          break
        end
      end
      assert.is_true(worst <= bound, ("%s of %s ms"):format(worst, bound))
    end)
  end
end)
