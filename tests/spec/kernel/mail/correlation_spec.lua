-- A request is known by its correlation id while it is open.

local scene = require("scene")

describe("an open request", function()
  after_each(scene.close)

  it("can be answered by its correlation id in a later activation, even after a crash", function()
    local answer
    local s = scene.new({ app = function(s)
      s:role({ id = "r", name = "r", behaviour = function(agent, message)
        if message.type == "later" then assert(agent:reply("job-7", "at last")) end
      end })
      s:root(function(root, message)
        if message.type == "later" then
          return root:send_message({ to = "a", type = "later", payload = "now" })
        end
        root:spawn_agent("r", scene.brief(), { id = "a" })
        answer = root:request({ to = "a", payload = "x", correlation_id = "job-7" })
      end)
    end })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(10)
    s:crash()
    s:recover()
    assert(s:send("user", { to = "a", type = "later", payload = "now" }))
    s:run()
    assert.equal("at last", answer and answer.payload.text)
  end)
end)
