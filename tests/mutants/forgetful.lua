-- For the list beside it: a handler that counts outside `agent.state`, and so does not repeat
-- what it did when it is replayed. The simulator must say so.

local society = require("society")

local count = 0

society.root({
  default = function(root)
    count = count + 1
    assert(root:send_message({ to = "root", type = "status_report",
      payload = { status = "number " .. count } }))
    root:sleep(1000)
  end,
  status_report = function() end,
})

society.main(function(user)
  for _ = 1, 4 do
    assert(user:send_message({ to = "root", payload = { text = "go" } }))
    user:sleep(3000)
  end
end)
