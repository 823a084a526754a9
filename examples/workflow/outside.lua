-- The workflow of 12_workflow.lua with outside workers: their messages go through a door,
-- and they ack them. Without a door the messages stay queued.

local society = require("society")

require("flow")(society, "external")

society.config { name = "workflow_outside" }

society.main(function(user)
  user:send_message { to = "root", payload = "begin" }
  user:sleep(8000)
  user:send_message { to = "root", type = "collaboration_request", payload = { timeout_ms = 5000 } }
end)
