-- Looks at agents on other hosts: only those that something here has named are known. And at
-- messages from there, which are found by the id they have there.
--
-- Covers: core/kernel/registry.c, core/kernel/look.c, core/kernel/mail/dead.c,
-- core/store/tables/query.c

local fleets = require("fleets")
local scene = require("scene")

describe("a look at an agent on another host", function()
  after_each(scene.close)

  it("finds whom somebody here knows, and nobody by a name that was made up", function()
    local f = fleets.act(function(root)
      assert(root:spawn_agent("worker", scene.brief(), { id = "w", host = "beta" }))
    end, { beta = function(s)
      s.role { id = "worker", name = "Worker", behaviour = function() end }
      s.root(function() end)
    end })
    assert.equal("w@beta", f.alpha.agent("w@beta").id)
    assert.is_nil(f.alpha.agent("w@beta").created_at) -- its own host knows
    assert.is_string(f.beta.agent("w").created_at)
    for _ = 1, 2 do -- the first look leaves nothing behind for the second
      assert.is_nil(f.alpha.agent("nobody@beta"))
      assert.is_nil(f.alpha.load("nobody@beta"))
    end
    assert.equal("root", f.alpha.agent("root@alpha").id)
    assert.is_nil(f.alpha.agent("root@nowhere"))
  end)
end)

describe("a message from another host", function()
  after_each(scene.close)

  -- Root of beta handles what it is sent when it is whole.
  local function open()
    local f = fleets.new({ alpha = function(s) s.root(function() end) end, beta = function(s)
      s.root { general = function(root, message)
        assert(root.state.is_whole, "broken")
        root.state.seen = message.id
      end, mend = function(root) root.state.is_whole = true end }
    end }, { policies = { messages = { "any" }, contacts = "open" } })
    f:run()
    return f
  end

  -- Sends one that becomes a dead letter, and returns its id.
  local function lose_one(f)
    local id = assert(f.alpha:send("user", { to = "root@beta", payload = "x" })).messageId
    f:run()
    assert.equal(id, f.beta:dead_letters()[1].id)
    return id
  end

  it("is sent again or dropped, as a dead letter, by its id", function()
    local f = open()
    local id = lose_one(f)
    assert(f.beta:send("user", { to = "root", type = "mend", payload = "x" }))
    f:run()
    assert(f.beta:redeliver(id))
    f:run()
    assert.equal(id, f.beta.agent("root").state.seen)
    local _, err = f.beta:redeliver(id)
    assert.equal("message_not_found", err.error)
    scene.close()
    f = open()
    assert(f.beta:drop(lose_one(f)))
    assert.same({}, f.beta:dead_letters())
  end)

  it("has its id in the activity log as well", function()
    local f = open()
    local id = lose_one(f)
    local entries = f.beta:activity({ type = "dead" })
    assert.same({ 1, id }, { #entries, entries[1].message_id })
  end)
end)
