-- What is no deadlock through several hosts, and how probes go about it.
--
-- Covers: core/parts/hosts/hosts_probe.c, core/parts/hosts/hosts_ring.c

local rings = require("far_rings")
local scene = require("scene")

local TWO, THREE = { "alpha", "beta" }, { "alpha", "beta", "gamma" }
local order, ends = rings.order, rings.ends

local function two(options)
  return rings.fleet({ alpha = { "a", "c" }, beta = { "b", "d" } }, options)
end

describe("no deadlock through several hosts", function()
  after_each(scene.close)

  it("is a diamond, or a chain that ends at work or at the person", function()
    local f = rings.fleet({ alpha = { "a" }, beta = { "b", "e" }, gamma = { "c", "d" } })
    order(f, "d@gamma", { sleep_ms = 30000 })
    order(f, "b@beta", { request = "d@gamma" })
    order(f, "c@gamma", { request = "d" })
    order(f, "a@alpha", { checkpoint = { "b@beta", "c@gamma" } })
    order(f, "e@beta", { receive = "user@alpha", timeout_ms = 20000 })
    f:advance(20000)
    assert.is_true(rings.orders(f.beta, "host_probe") > 0)
    f:run()
    assert.same({}, rings.deadlocks(f, THREE))
    assert.equal("d is done", ends(f, "b@beta")[1].text)
    assert.equal("d is done", ends(f, "c@gamma")[1].text)
    assert.is_nil(ends(f, "a@alpha")[1].error)
    assert.is_true(rings.orders(f.alpha, "host_probe") > 0)
  end)

  it("is a ring that a time-out has opened before the second round", function()
    local f = two()
    order(f, "b@beta", { receive = "a@alpha", type = "x", timeout_ms = 1150 })
    f:advance(80)
    f:delay(100)
    order(f, "a@alpha", { request = "b@beta" })
    f:run()
    assert.same({}, rings.deadlocks(f, TWO))
    assert.equal("timeout", ends(f, "b@beta")[1].error)
    assert.equal("b is done", ends(f, "a@alpha")[1].text)
  end)

  it("is an answer that the probe overtakes: it waits for room, or for its time", function()
    local f = two({ config = { mailbox_max = 6 } })
    order(f, "b@beta", { send = "a@alpha", as = "hello" })
    order(f, "a@alpha", { receive = "b@beta", type = "news" })
    for _ = 1, 3 do
      assert(f.alpha:send("user", { to = "a", payload = "note", ttl_seconds = 9 }))
    end
    f:advance(2500)
    order(f, "b@beta", { send = "a@alpha", as = "news", receive = "a@alpha", type = "more" })
    f:advance(5000)
    assert.same({}, ends(f, "a@alpha")) -- the news is still in beta's outbox
    f:run()
    assert.equal("sent", ends(f, "a@alpha")[1].text)
    assert.same({}, rings.deadlocks(f, TWO))
    f = two()
    order(f, "a@alpha", { receive = "b@beta", type = "news" })
    order(f, "b@beta", { send = "a@alpha", as = "news", delay_ms = 10000, receive = "a@alpha",
      type = "more" })
    f:run()
    assert.equal("sent", ends(f, "a@alpha")[1].text)
    assert.same({}, rings.deadlocks(f, TWO))
  end)

  it("is mail that waits for room elsewhere, though its sender waits for it to be there", function()
    local f = two({ config = { mailbox_max = 6 } })
    order(f, "a@alpha", { send = "b@beta", as = "hello" })
    order(f, "b@beta", { receive = "a@alpha", type = "news", timeout_ms = 30000 })
    for _ = 1, 3 do
      assert(f.beta:send("user", { to = "b", payload = "note", ttl_seconds = 9 }))
    end
    f:advance(2500)
    order(f, "a@alpha", { received = "b@beta" })
    f:advance(5000)
    assert.same({}, ends(f, "a@alpha")) -- it is still in alpha's outbox
    f:run()
    assert.same({ "received" }, { ends(f, "a@alpha")[1].kind, ends(f, "a@alpha")[1].error })
    assert.equal("timeout", ends(f, "b@beta")[1].error)
    assert.same({}, rings.deadlocks(f, TWO))
  end)

  it("is a ring of which a wait was followed by another between the rounds", function()
    -- When the time is over, a sends what b waits for, and waits for b again.
    for timeout_ms = 1000, 1400, 10 do
      local f = two({ seed = timeout_ms, policies = { messages = { "any" }, contacts = "open",
        deadlock = "latest" } })
      f:delay(60)
      order(f, "b@beta", { receive = "a@alpha", type = "news" })
      order(f, "a@alpha", {
        { receive = "b@beta", type = "x", timeout_ms = timeout_ms },
        { send = "b@beta", as = "news", receive = "b@beta", type = "y", timeout_ms = 900 },
      })
      f:run()
      local first, second = table.unpack(ends(f, "a@alpha"))
      assert.equal(first.error == "deadlock" and 1 or 0, #rings.deadlocks(f, TWO))
      assert.equal("timeout", second.error)
      assert.equal("sent", ends(f, "b@beta")[1].text)
    end
  end)

  it("is sought while nobody waits elsewhere for a second", function()
    local f = two()
    order(f, "b@beta", { sleep_ms = 700 })
    order(f, "a@alpha", { request = "b@beta" })
    f:run()
    assert.equal("b is done", ends(f, "a@alpha")[1].text)
    assert.equal(0, rings.orders(f.alpha, "host_probe"))
  end)
end)

describe("a probe", function()
  after_each(scene.close)

  it("is repeated ever more seldom, and waits for the link without piling up", function()
    local f = two()
    order(f, "b@beta", { sleep_ms = 600000 })
    order(f, "a@alpha", { request = "b@beta", timeout_ms = 400000 })
    f:advance(400000)
    -- After 1, 3, 7, 15, 31, 63, 123, 183, 243, 303 and 363 s.
    assert.equal(11, rings.orders(f.alpha, "host_probe"))
    local g = two()
    order(g, "b@beta", { sleep_ms = 600000 })
    order(g, "a@alpha", { request = "b@beta", timeout_ms = 400000 })
    g:cut("beta")
    g:advance(300000)
    assert.is_true(rings.orders(g.alpha, "host_probe") <= 4)
  end)

  it("finds the ring after a kill or a loss at any moment", function()
    for at = 0, 1500, 100 do
      for _, harm in ipairs({ "alpha", "beta", "flush" }) do
        local f = two({ seed = at + 1 })
        f:delay(25)
        rings.close_two(f)
        f:advance(at)
        if harm == "flush" then
          f:flush()
        else
          f[harm]:crash()
          f:advance(50)
          f[harm]:recover()
        end
        f:advance(30000)
        assert.equal(1, #rings.deadlocks(f, TWO), harm .. at)
        assert.same({ "a", "b@beta" }, ends(f, "a@alpha")[1].cycle)
        f:run()
        assert.equal("a is done", ends(f, "b@beta")[1].text)
      end
    end
  end)

  it("ends where its victim was told: the error is recorded", function()
    local f = two()
    rings.close_two(f)
    while #rings.deadlocks(f, TWO) == 0 do
      f:advance(1)
    end
    f.alpha:crash()
    f.alpha:recover()
    f:run()
    assert.equal(1, #rings.deadlocks(f, TWO))
    assert.equal("deadlock", ends(f, "a@alpha")[1].error)
    assert.equal("a is done", ends(f, "b@beta")[1].text)
  end)
end)
