-- Dedupe keys in the built program, where a turn takes time.

local program = require("program")

describe("a turn longer than its dedupe window", function()
  -- Regression: a key was forgotten, and freed, while the turn that would roll it back was
  -- running.
  it("is rolled back completely when it raises", function()
    local place = program.place()
    place:write("app.lua", [[
      local society = require("society")
      society.config { dedupe_window_ms = 1 }
      society.root(function(root, message)
        if message.from ~= "user" then
          print("sent by a turn that was taken back")
          return
        end
        for k = 1, 2000 do
          root:send_message { to = "root", payload = "x", dedupe_key = "k" .. k }
          for i = 1, 1000 do local _ = i end
        end
        error("boom")
      end)
      society.main(function(user)
        user:send_message { to = "root", payload = "go" }
        user:sleep(300)
        print("end")
      end)]])
    local result = place:run("run app.lua --quiet")
    assert.equal("end\n", result.out)
    assert.equal(0, result.code)
    place:remove()
  end)
end)
