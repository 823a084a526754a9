-- For the list beside it: waits that time out, and one line that is shown.

local society = require("society")

society.root({
  default = function(root)
    for _ = 1, 3 do
      local message, err = root:receive({ type = "status_report", timeout_ms = 40 })
      assert(message == nil and err.error == "timeout")
    end
  end,
})

society.main(function(user)
  print("go")
  assert(user:send_message({ to = "root", payload = { text = "go" } }))
end)
