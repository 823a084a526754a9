--- society resume: paused or failed agents continue.

return require("society.cli.hold").make({
  op = "resume",
  summary = "resume paused or failed agents",
  example = "society resume --all",
  done = "resumed",
  unchanged = "was neither paused nor failed",
})
