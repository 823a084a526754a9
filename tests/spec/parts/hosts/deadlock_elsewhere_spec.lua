-- Deadlocks through several hosts: found by probes, confirmed by a second round, broken at one
-- agent.
--
-- Covers: core/parts/hosts/hosts_probe.c, core/parts/hosts/hosts_ring.c
-- Covers: core/parts/hosts/hosts_notify.c

local rings = require("far_rings")
local scene = require("scene")

local TWO, THREE = { "alpha", "beta" }, { "alpha", "beta", "gamma" }
local order, ends = rings.order, rings.ends

local function two(options)
  return rings.fleet({ alpha = { "a", "c" }, beta = { "b", "d" } }, options)
end

local function three(options)
  return rings.fleet({ alpha = { "a" }, beta = { "b" }, gamma = { "c" } }, options)
end

describe("a ring of waits through several hosts", function()
  after_each(scene.close)

  it("of two hosts is broken at the earliest waiter, who is told the ring as it sees it",
    function()
      local f = two()
      rings.close_two(f)
      f:advance(3000)
      local err = ends(f, "a@alpha")[1]
      assert.equal("deadlock", err.error)
      assert.same({ "a", "b@beta" }, err.cycle)
      assert.same({ { "alpha", "a", '{"cycle":["a","b@beta"],"victim":"a"}' } },
        rings.deadlocks(f, TWO))
      f:run()
      -- The other one goes on with the answer.
      assert.equal("a is done", ends(f, "b@beta")[1].text)
      assert.equal(1, #rings.deadlocks(f, TWO))
    end)

  it("of three hosts is broken once, a second after it has closed", function()
    local f = three()
    order(f, "b@beta", { receive = "c@gamma" })
    order(f, "c@gamma", { receive = "a@alpha" })
    f:advance(20000)
    order(f, "a@alpha", { request = "b@beta" })
    f:advance(900)
    assert.same({}, rings.deadlocks(f, THREE))
    f:advance(200)
    assert.same({ { "beta", "b", '{"cycle":["b","c@gamma","a@alpha"],"victim":"b"}' } },
      rings.deadlocks(f, THREE))
    f:run()
    assert.equal("deadlock", ends(f, "b@beta")[1].error)
    assert.equal("timeout", ends(f, "c@gamma")[1].error) -- a has nothing to say to it
    assert.equal("b is done", ends(f, "a@alpha")[1].text)
  end)

  it("may be partly local, with any kind of wait", function()
    local f = two()
    order(f, "c@alpha", { receive = "b@beta", type = "news" })
    order(f, "a@alpha", { request = "c" })
    order(f, "d@beta", { ack = "a@alpha" })
    order(f, "b@beta", { request = "d" })
    f:advance(5000)
    assert.same({ { "alpha", "c", '{"cycle":["c","b@beta","d@beta","a"],"victim":"c"}' } },
      rings.deadlocks(f, TWO))
    f:run()
    assert.equal("deadlock", ends(f, "c@alpha")[1].error)
    assert.equal("c is done", ends(f, "a@alpha")[1].text)
    assert.same({ "ack" }, { ends(f, "d@beta")[1].kind, ends(f, "d@beta")[1].error })
    assert.equal("d is done", ends(f, "b@beta")[1].text)
  end)

  it("of receives alone needs no time-out of theirs", function()
    local f = two()
    order(f, "a@alpha", { receive = "b@beta", timeout_ms = 3600000 })
    order(f, "b@beta", { receive = "a@alpha", timeout_ms = 3600000 })
    f:advance(3000)
    assert.equal("deadlock", ends(f, "a@alpha")[1].error)
    assert.same({}, ends(f, "b@beta"))
  end)

  it("is not hidden by other mail that waits for room, or for its time", function()
    local f = two({ config = { mailbox_max = 6 } })
    order(f, "b@beta", { send = "a@alpha", as = "hello" })
    order(f, "a@alpha", { { sleep_ms = 2500 }, { send = "b@beta", as = "note" },
      { request = "b@beta", ask = { send = "a@alpha", as = "note", delay_ms = 60000,
        request = "a@alpha" } } })
    for _ = 1, 3 do
      assert(f.alpha:send("user", { to = "a", payload = "note" }))
    end
    f:advance(6000)
    assert.equal("deadlock", ends(f, "a@alpha")[1].error)
  end)

  it("leads through a parent that waits for the task of its child", function()
    local f = two()
    order(f, "a@alpha", { spawn = "beta", id = "kid", message = { request = "a@alpha" } })
    f:advance(5000)
    assert.same({ "a", "kid@beta" }, ends(f, "a@alpha")[1].cycle)
    f:run()
    assert.equal(1, #rings.deadlocks(f, TWO))
  end)

  it("leads past a broker to the agent that it has asked", function()
    local f = two()
    f.beta:policy("introductions", function(request)
      local is_broker = request.agent.id == "root"
      return is_broker and { ask = "b", timeout_ms = 50000 } or { leave = true }
    end)
    order(f, "b@beta", { receive = "a@alpha", type = "news" })
    order(f, "a@alpha", { introduce = "root@beta" })
    f:advance(5000)
    assert.same({ { "beta", "b", '{"cycle":["b","a@alpha"],"victim":"b"}' } },
      rings.deadlocks(f, TWO))
  end)

  it("tells a checkpoint what it has and what is missing", function()
    local f = three()
    order(f, "b@beta", { receive = "a@alpha", type = "go" })
    order(f, "a@alpha", { checkpoint = { "b@beta", "c@gamma" } })
    f:advance(5000)
    assert.same({ { "beta", "b", '{"cycle":["b","a@alpha"],"victim":"b"}' } },
      rings.deadlocks(f, THREE))
    f = three({ policies = { messages = { "any" }, contacts = "open", deadlock = "latest" } })
    order(f, "b@beta", { receive = "a@alpha", type = "go" })
    order(f, "a@alpha", { checkpoint = { "b@beta", "c@gamma" } })
    f:advance(5000)
    local err = ends(f, "a@alpha")[1]
    assert.equal("deadlock", err.error)
    assert.same({ "a", "b@beta" }, err.cycle)
    assert.same({ ["c@gamma"] = { text = "c is done" } }, err.responses)
    assert.same({ "b@beta" }, err.missing)
  end)

  it("has one victim, though probes of all its waits meet", function()
    for seed = 1, 20 do
      local f = three({ seed = seed })
      local asked = 0
      f:delay(seed * 7 % 40)
      for _, name in ipairs(THREE) do
        f[name]:policy("deadlock", function()
          asked = asked + 1
          return asked == 1 and "c@gamma" or "b@beta"
        end)
      end
      -- All of them begin to wait at once.
      for _, pair in ipairs({ { "alpha", "a", "b@beta" }, { "beta", "b", "c@gamma" },
        { "gamma", "c", "a@alpha" } }) do
        assert(f[pair[1]]:send("user", { to = pair[2], payload = { receive = pair[3] } }))
      end
      f:advance(40000)
      assert.same({ { "gamma", "c", '{"cycle":["c","a@alpha","b@beta"],"victim":"c"}' } },
        rings.deadlocks(f, THREE))
      assert.equal(1, asked)
    end
  end)

  it("of which one wait is in two leaves no other", function()
    -- a waits for b and c at once, and both for a: two rings, and each needs an end.
    local f = three()
    order(f, "a@alpha", { checkpoint = { "b@beta", "c@gamma" } })
    order(f, "b@beta", { receive = "a@alpha" })
    order(f, "c@gamma", { receive = "a@alpha" })
    f:advance(30000)
    for _, id in ipairs({ "b@beta", "c@gamma" }) do
      assert.equal(0, #ends(f, id))
    end
  end)
end)

describe("the policy deadlock", function()
  after_each(scene.close)

  it("is asked once, by the host of the lowest address, about agents of all hosts", function()
    local asked = {}
    local f = three()
    for _, name in ipairs(THREE) do
      f[name]:policy("deadlock", function(request)
        asked[#asked + 1] = { name, request.cycle }
        return "c@gamma"
      end)
    end
    order(f, "c@gamma", { receive = "a@alpha" })
    order(f, "a@alpha", { receive = "b@beta" })
    order(f, "b@beta", { request = "c@gamma" })
    f:advance(5000)
    assert.equal(1, #asked)
    assert.equal("alpha", asked[1][1])
    local b, c, a = table.unpack(asked[1][2])
    assert.same({ "b@beta", "c@gamma", "reply", 3 }, { b.id, b.waits_for, b.kind, b.order })
    assert.same({ "c@gamma", "a", "receive", 1 }, { c.id, c.waits_for, c.kind, c.order })
    assert.same({ "a", "b@beta", "receive", 2 }, { a.id, a.waits_for, a.kind, a.order })
    assert.is_true(c.since < a.since and a.since < b.since)
    assert.same({ { "gamma", "c", '{"cycle":["c","a@alpha","b@beta"],"victim":"c"}' } },
      rings.deadlocks(f, THREE))
    f:run()
    assert.equal(1, #asked)
    assert.equal("deadlock", ends(f, "c@gamma")[1].error)
  end)
end)
