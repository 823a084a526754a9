-- society.dispatch and society.decide act for the person: in `main`, as recorded effects.
-- That they raise elsewhere is in api_spec.lua.
--
-- Covers: core/script/bindings/bind_orders.c

local scene = require("scene")

describe("in main", function()
  after_each(scene.close)

  it("society.dispatch is a request of the person, also across a crash", function()
    local s = scene.new({ app = scene.app([[
      local society = require("society")
      society.root(function(root, message)
        root.state.asked = (root.state.asked or 0) + 1
        if message.payload.text == "three" then
          root:sleep(1000)
        end
        root.state.last = message.payload.text
        return "echo " .. message.payload.text
      end)
      society.main(function(user)
        local one = society.dispatch("root", "one").payload.text
        user:sleep(100)
        local two = society.dispatch(nil, "two").payload.text
        local _, err = society.dispatch("root", "three", { timeout_ms = 5 })
        user:send_message({ to = "root", type = "general",
          payload = one .. ", " .. two .. ", " .. err.error })
      end)
    ]]) })
    s:advance(50)
    s:crash()
    s:recover()
    s:run()
    local state = s:agent("root").state
    assert.same({ "echo one, echo two, timeout", 4 }, { state.last, state.asked })
  end)

  it("society.decide decides once, as an effect", function()
    local s = scene.new({ app = scene.app([[
      local society = require("society")
      society.root(function(root, message)
        if message.payload.text == "go" then
          root.state.decision = root:escalate({ title = "may I?" }).decision
        else
          root.state.again = message.payload.text
        end
      end)
      society.main(function(user)
        user:send_message({ to = "root", payload = "go" })
        user:sleep(10)
        local item = society.inbox()[1].id
        assert(society.decide(item, { decision = "approve" }))
        user:sleep(10)
        local _, err = society.decide(item, { decision = "reject" })
        user:send_message({ to = "root", payload = err.error })
      end)
    ]]) })
    s:advance(15)
    s:crash()
    s:recover()
    s:run()
    assert.same({ "approve", "already_decided" },
      { s:agent("root").state.decision, s:agent("root").state.again })
  end)
end)
