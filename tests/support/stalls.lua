--- stalls: runs the program with its watchdog on, and says which step of its loop was the
-- worst.
--
--     local worst = stalls.worst(running:wait().err)   -- { step_cpu_ms, worst, slow, … }
--     stalls.check("16 GB of hole in a file", worst)   -- no step beyond LIMIT_MS
--
-- STALLS=print prints a line per input; STALLS=measure does so and checks nothing, for
-- figures of a program that has no bounds yet (SOCIETY names it).

local json = require("society.json")

local M = {}

--- The longest step that may be, of CPU time: a busy machine does not make it longer.
M.LIMIT_MS = 50

-- CPU time of a fixed piece of work, the best of a few, and what it takes on a machine of
-- ordinary speed: on a slower one steps may take longer in proportion.
local SPIN_MS = 45

local function spin_ms()
  local best = math.huge
  for _ = 1, 5 do
    local begin = os.clock()
    local length = 0
    for i = 1, 300000 do
      length = length + #tostring(i)
    end
    assert(length > 0)
    best = math.min(best, (os.clock() - begin) * 1000)
  end
  return best
end

--- How much slower than an ordinary machine this one is just now; at least 1.
function M.slowness_now()
  return math.max(1, spin_ms() / SPIN_MS)
end

local slowness

--- The same, as it was when it was first asked for.
function M.slowness()
  slowness = slowness or M.slowness_now()
  return slowness
end

--- What the environment of the program must have.
M.ENVIRONMENT = ("SOCIETY_WATCHDOG_MS=%d"):format(M.LIMIT_MS)

--- What the program must be told so that the worst step is in its log.
M.OPTIONS = "--log info"

--- The worst step, as the log of a program that has ended tells it.
function M.worst(log)
  local found
  for detail in log:gmatch('{"steps":[^\n]-}') do
    found = assert(json.decode(detail))
  end
  return found or error("the log does not say which step was the worst:\n" .. log:sub(-2000), 2)
end

--- Fails if a step took too long.
function M.check(input, worst)
  local mode = os.getenv("STALLS")
  if mode then
    io.stdout:write(("  STEP  %-44s %9.1f ms  %s\n"):format(input, worst.step_cpu_ms, worst.worst))
  end
  if mode ~= "measure" and worst.step_cpu_ms > M.LIMIT_MS * M.slowness() then
    error(("%s: the step '%s' of the loop took %.1f ms of CPU time"):format(input, worst.worst,
      worst.step_cpu_ms), 2)
  end
end

return M
