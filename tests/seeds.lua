-- Seeds that once failed, and for which fault of ours. e2e/sim_spec.lua runs them.

return {
  { app = "tests/scenarios/standard.lua", seed = 2, faults = "raise",
    why = "agent.state of a turn that raised after it was written stayed" },
  { app = "tests/scenarios/standard.lua", seed = 16, faults = "jump,crash",
    why = "a request timed out while the society was down" },
  { app = "examples/07_tasks.lua", seed = 79, faults = "evict,crash,lag,raise,slow",
    why = "a look that a crash had cut short was taken for a second effect" },
}
