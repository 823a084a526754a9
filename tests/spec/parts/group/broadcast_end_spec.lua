-- Broadcasts whose readers terminate, fail or are late, and crashes.
--
-- Covers: core/parts/group/broadcasts.c

local listeners = require("listeners")
local scene = require("scene")

local law, seen, troupe = listeners.law, listeners.seen, listeners.troupe

describe("a broadcast", function()
  after_each(scene.close)

  it("does not reach a terminating agent, and drains with one that terminates later", function()
    local heard = {}
    local s = scene.troupe({
      root = function(root)
        root:terminate("ann")
        root.state.count = root:broadcast({ payload = "x" }).count
        root:terminate("bob")
        root:terminate("cid", { force = true })
      end,
      ann = function() heard[#heard + 1] = "ann" end,
      bob = function() heard[#heard + 1] = "bob" end,
      cid = function() heard[#heard + 1] = "cid" end,
    })
    scene.tell(s, "root")
    assert.equal(3, s:agent("root").state.count) -- bob, cid, user
    assert.same({ "bob" }, heard)
    local dead = s:dead_letters()
    assert.equal(1, #dead)
    assert.same({ "cid", "agent_stopped" }, { dead[1].to, scene.reason(dead[1]).error })
    assert.equal(0, law(s))
    assert.equal(0, scene.counts(s).pending)
  end)

  it("does not hold up an agent that terminated while it was ready to run", function()
    local acts = {
      root = function(root, message)
        if message.payload.text == "end" then
          root:send_message({ to = "ann", payload = "x" })
          root:terminate("ann", { force = true })
        else
          root:broadcast({ payload = "x" })
        end
      end,
      ann = function() end,
    }
    for seed = 1, 10 do
      local s = scene.troupe(acts, { seed = seed })
      for _, text in ipairs({ "end", "all", "all" }) do
        s:send("user", { to = "root", payload = text })
      end
      s:run()
      assert.equal(0, law(s))
      scene.close()
    end
  end)

  it("waits in the queue of a busy agent", function()
    local s = scene.troupe({
      root = function(root) root:broadcast({ payload = "x" }) end,
      ann = function(ann) ann:sleep(100) end,
    })
    s:send("user", { to = "ann", payload = "sleep" })
    s:advance(1)
    s:send("user", { to = "root", payload = "go" })
    s:advance(1)
    assert.equal(1, s:agent("ann").queue_length)
    assert.equal(1, scene.counts(s).pending - 1) -- beside the one that ann handles
    s:run()
    assert.equal(0, s:agent("ann").queue_length)
  end)

  it("leaves a failing reader its own dead letter, to be redelivered", function()
    local is_broken = true
    local s = scene.troupe({
      root = function(root) root:broadcast({ payload = "x" }) end,
      ann = function(agent)
        assert(not is_broken, "broken")
        agent.state.done = (agent.state.done or 0) + 1
      end,
      bob = function(agent) agent.state.done = (agent.state.done or 0) + 1 end,
    })
    scene.tell(s, "root")
    local dead = s:dead_letters()
    assert.equal(1, #dead)
    assert.equal("ann", dead[1].to)
    is_broken = false
    s:crash()
    s:recover()
    assert(s:redeliver(dead[1].id))
    s:run()
    assert.same({ 1, 1 }, { s:agent("ann").state.done, s:agent("bob").state.done })
    assert.equal(0, #s:dead_letters())
    assert.equal(0, law(s))
  end)

  it("expires for readers that did not reach it in time", function()
    local s = scene.troupe({
      root = function(root) root:broadcast({ payload = "x", ttl_seconds = 1 }) end,
      ann = function(agent, message)
        if message.type == "broadcast" then
          agent.state.heard = true
        else
          agent:sleep(5000)
        end
      end,
      bob = function(agent) agent.state.heard = true end,
    })
    s:send("user", { to = "ann", payload = "sleep" })
    s:advance(1)
    s:send("user", { to = "root", payload = "go" })
    s:advance(1)
    s:crash()
    s:recover()
    s:advance(10000)
    assert.is_nil(s:agent("ann").state)
    assert.is_true(s:agent("bob").state.heard)
    local dead = s:dead_letters()
    assert.equal(1, #dead)
    assert.same({ "ann", "expired" }, { dead[1].to, scene.reason(dead[1]).error })
    assert.equal(1, scene.counts(s).expired)
    assert.equal(0, law(s))
  end)

  it("is read once by each after a crash at any step", function()
    for cut = 0, 30 do
      local s = troupe(function(root, message)
        if message.payload.text == "go" then
          root:broadcast({ payload = "1" })
          root:broadcast({ payload = "2", priority = "urgent" })
          root:broadcast({ payload = "3" })
        end
      end, { "ann", "bob" })
      s:send("user", { to = "root", payload = "go" })
      for _ = 1, cut do
        s:step()
      end
      s:crash()
      s:recover()
      s:run()
      for _, id in ipairs({ "ann", "bob" }) do
        local list = seen(s, id)
        table.sort(list)
        assert.same({ "1", "2", "3" }, list, id .. " cut " .. cut)
      end
      assert.equal(0, law(s))
      assert.equal(0, scene.counts(s).pending)
      scene.close()
    end
  end)
end)
