-- A turn that is refused at its end leaves no state behind, not even in memory.

local society = require("society")

local catch = pcall -- Lua's own, which catches what the sandbox's does not

describe("a turn that is refused at its end", function()
  local s

  after_each(function()
    s:close()
  end)

  -- What root's state is now, and again after a crash.
  local function kept()
    local before = s:agent("root").state
    s:crash()
    s:recover()
    assert.same(before, s:agent("root").state)
    return before
  end

  it("leaves no state behind if it has caught the end of its budget", function()
    s = society.new({ quiet = true, config = { steps_max = 100000 }, app = function(app)
      app:root(function(root, message)
        if message.payload.text == "spin" then
          catch(function() while true do end end)
        end
        root.state.bill = "paid"
        return { bill = root.state.bill }
      end)
    end })
    local _, err = s:dispatch("root", "spin")
    assert.same({ "receiver_failed", "budget_exceeded", "steps", 1 },
      { err.error, err.reason.error, err.reason.which, err.reason.tries })
    assert.is_nil(kept())
    assert.equal("paid", s:dispatch("root", "pay").payload.bill)
    assert.same({ bill = "paid" }, kept())
  end)

  it("leaves no state behind if it does not repeat its record", function()
    local is_changed = false
    s = society.new({ quiet = true, app = function(app)
      app:root(function(root)
        if not is_changed then
          root:now()
          root:sleep(3000)
        end
        root.state.bill = "paid"
        return { bill = root.state.bill }
      end)
    end })
    s:send("user", { to = "root", payload = "go" })
    s:advance(1000)
    is_changed = true
    s:crash()
    s:recover()
    s:run()
    assert.equal("nondeterministic", s:dead_letters()[1].reason)
    assert.is_nil(kept())
    assert.equal("paid", s:dispatch("root", "pay").payload.bill)
    assert.same({ bill = "paid" }, kept())
  end)
end)
