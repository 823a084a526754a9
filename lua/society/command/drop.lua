--- society drop: drops dead letters for good.

return require("society.cli.dead_letters").make({
  op = "drop",
  summary = "drop dead letters for good",
  done = "dropped",
})
