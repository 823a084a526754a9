-- What the log says of messages that agents send in vain.

local json = require("society.json")
local scene = require("scene")

describe("a message that does not fit its type", function()
  after_each(scene.close)

  it("leaves a line in the log, one for the same refusal in a row", function()
    local s = scene.new({ policies = { messages = { "society", "helix" } }, app = function(s)
      s:root(function(root, message)
        for _ = 1, message.payload.times do
          root:send_message({ to = "user", type = "nope", payload = "x" })
        end
        root:request({ to = "user", type = "result", payload = { task_id = "T" } })
        root:send_message({ to = "nobody", payload = "x" })
      end)
    end })
    scene.tell(s, "root", { times = 5 })
    local lines = {}
    local said = "info refused root: invalid_message_format: [^\n{]*({[^\n]+)"
    for line in s:transcript():gmatch(said) do
      lines[#lines + 1] = assert(json.decode(line))
    end
    assert.equal(2, #lines)
    assert.equal("nope", lines[1].message_type)
    assert.same({ "result", { "status" } }, { lines[2].message_type, lines[2].missing_fields })
    scene.tell(s, "root", { times = 1 })
    assert.equal(4, scene.count(s:transcript(), "info refused root: "))
  end)
end)
