-- Contacts keep the order in which they were added, also in the folded tables.

local scene = require("scene")

describe("the order of contacts", function()
  after_each(scene.close)

  it("is kept after a fold and a restart", function()
    local s = scene.new({ app = function(s)
      s:role({ id = "r", name = "r", behaviour = function(agent, message)
        if message.payload.text == "spawn" then
          agent:spawn_agent("r", scene.brief(), { id = "child" })
        elseif message.payload.text == "write" then
          agent:send_message({ to = "ann", payload = "hello" })
        end
      end })
      s:root(function(root)
        root:spawn_agent("r", scene.brief(), { id = "ann" })
        root:spawn_agent("r", scene.brief({ collaborators = {
          { agentId = "ann", role = "r", description = "d" },
        } }), { id = "bob" })
        root:send_message({ to = "bob", payload = "write" })
        root:send_message({ to = "ann", payload = "spawn", delay_ms = 10 })
      end)
    end })
    scene.tell(s, "root")
    s:run()
    local function ids()
      local list = {}
      for _, entry in ipairs(s:contacts("ann")) do list[#list + 1] = entry.id end
      return table.concat(list, " ")
    end
    assert.equal("root bob child", ids())
    assert.is_table(s:messages({})) -- folds
    s:crash()
    s:recover()
    assert.equal("root bob child", ids())
  end)
end)
