--- society pause: agents start no new turn until they are resumed.

return require("society.cli.hold").make({
  op = "pause",
  summary = "pause agents: no new turn starts until they are resumed",
  example = "society pause planner --subtree --reason 'checking the budget'",
  done = "paused",
  unchanged = "was already paused",
})
