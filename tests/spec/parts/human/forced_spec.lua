-- Escalations are withdrawn when their agent is ended by force.

local scene = require("scene")

describe("an item of an agent that ends", function()
  after_each(scene.close)

  local function ask(agent, message)
    agent:escalate({ title = message.payload.title, wait = message.payload.wait })
  end

  it("by force withdraws its items in the same step, whether it waits or not", function()
    for _, crashes in ipairs({ false, true }) do
      local s = scene.troupe({ pm = ask, other = ask, root = function(root)
        assert(root:terminate("pm", { force = true }))
      end })
      scene.tell(s, "other", { title = "another's" })
      scene.tell(s, "pm", { title = "left", wait = false })
      scene.tell(s, "pm", { title = "waited for" })
      local items = s:inbox()
      assert.equal(3, #items)
      scene.tell(s, "root")
      if crashes then s:crash():recover() end
      assert.is_nil(s:agent("pm"))
      assert.equal(1, #s:waits())
      assert.same({ "another's" }, { s:inbox()[1].title, s:inbox()[2] })
      for i = 2, 3 do
        local _, err = s:decide(items[i].id, { decision = "approve" })
        assert.same({ "item_withdrawn", items[i].id }, { err.error, err.item_id })
        assert.matches("ended by force", err.message, 1, true)
      end
      s:run()
      assert.same({}, s:messages({ type = "decision" }))
      assert.equal(2, #s:activity({ type = "withdrawn", agent = "pm" }))
      assert(scene.law_holds(s))
      s:close()
    end
  end)
end)
