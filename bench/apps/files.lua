-- 100 agents behind the file door; root replies to whatever they say.

local society = require("society")

local directory, count = ...
local BRIEF = {
  objective = "work", constraints = {}, inputs = "i", outputs = "o", completion_criteria = "c",
}

society.config({
  name = "files",
  files = {
    dir = directory,
    cleanup = { max_messages = 1000000 },
    heartbeat = { timeout_ms = 3600000 },
  },
})
society.role({ id = "worker", name = "Worker", prompt = "", behaviour = "external" })
society.root({
  default = function(root, message)
    if message.from ~= "user" then
      root:reply(message, message.payload)
      return
    end
    for i = 1, tonumber(count) do
      assert(root:spawn_agent("worker", BRIEF, { id = "w" .. i }))
    end
    return "ready"
  end,
})
