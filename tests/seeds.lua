-- Seeds that once failed, and for which fault of ours. e2e/sim/sim_scenarios_spec.lua runs them.

return {
  { app = "tests/scenarios/standard.lua", seed = 2, faults = "raise",
    why = "agent.state of a turn that raised after it was written stayed" },
  { app = "tests/scenarios/standard.lua", seed = 16, faults = "jump,crash",
    why = "a request timed out while the society was down" },
  { app = "examples/07_tasks.lua", seed = 79, faults = "evict,crash,lag,raise,slow",
    why = "a look that a crash had cut short was taken for a second effect" },
  { app = "examples/06_introduction.lua", seed = 81, faults = "default",
    why = "it guessed how long others take" },
  { app = "examples/07_tasks.lua", seed = 645, faults = "default",
    why = "every alert was taken for one of a blocked task" },
  { app = "examples/08_deadlock.lua", seed = 1126, faults = "default",
    why = "a request timed out while the society was down" },
  { app = "tests/scenarios/outside.lua", seed = 103, faults = "default",
    why = "what agents outside did kept the society from its own steps" },
  { app = "tests/scenarios/mixed.lua", seed = 330, faults = "default",
    why = "a request for an introduction that nobody waited for stopped all timers" },
  { app = "tests/scenarios/wild.lua", seed = 285, faults = "none",
    why = "an outside agent whose spawn was rolled back was still known to its door" },
  { app = "tests/scenarios/wild.lua", seed = 329, faults = "default",
    why = "a request for an introduction was still held when its broker had answered" },
}
