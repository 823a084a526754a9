-- What `society sim` tells of a seed that fails, so that people find out why.

local program = require("program")

describe("sim tells", function()
  local place

  before_each(function() place = program.place() end)
  after_each(function() place:remove() end)

  it("who did not do the same again, with which message, and what differs", function()
    place:write("app.lua", [[
      local society = require("society")
      local times = 0 -- file-level variables do not last
      society.root { default = function(root)
        times = times + 1
        root:send_message { to = "user", payload = { n = times } }
        root:sleep(10)
      end }
      society.main(function(user) user:send_message { to = "root", payload = "go" } end)
    ]])
    local result = place:run("sim app.lua --seeds 1..200 --faults evict")
    assert.equal(1, result.code)
    assert.matches("^society: root, message msg_20260101_%d+_%x+: its handler did not do the same "
      .. "again: effect 1 of the script was send, and now its arguments differ; "
      .. 'now: %[{"payload":{"n":2},"to":"user"}%]\n', result.err)
  end)
end)
