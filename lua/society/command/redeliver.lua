--- society redeliver: sends dead letters again.

return require("society.cli.dead_letters").make({
  op = "redeliver",
  summary = "send dead letters again",
  done = "sent again",
})
