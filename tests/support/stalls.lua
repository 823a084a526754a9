--- stalls: runs the program with its watchdog on, and says which step of its loop was the
-- worst.
--
--     local worst = stalls.worst(running:wait().err)   -- { step_cpu_ms, worst, slow, … }
--     stalls.check("16 GB of hole in a file", worst)   -- no step beyond stalls.LIMIT_MS
--
-- STALLS=print prints a line per input; STALLS=measure does so and checks nothing, for
-- figures of a program that has no bounds yet (SOCIETY names it).

local json = require("society.json")

local M = {}

--- The longest step that may be, of CPU time: a busy machine does not make it longer.
M.LIMIT_MS = 50

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
  if mode ~= "measure" and worst.step_cpu_ms > M.LIMIT_MS then
    error(("%s: the step '%s' of the loop took %.1f ms of CPU time"):format(input, worst.worst,
      worst.step_cpu_ms), 2)
  end
end

return M
