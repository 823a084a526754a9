-- society.new{ hosts = … }: several hosts on one virtual clock, and what can happen between them.
--
-- Covers: core/world/fleet.c

local scene = require("scene")
local society = require("society")

local function count(s)
  s.policy("contacts", "open")
  s.root(function(root, message)
    root.state.seen = root.state.seen or {}
    table.insert(root.state.seen, message.payload.text)
    return #root.state.seen .. " " .. message.payload.text
  end)
end

local function fleet(options)
  options = options or {}
  options.hosts = options.hosts or { alpha = count, beta = { app = count } }
  options.quiet = true
  return scene.keep(society.new(options))
end

local function seen(s)
  return s.agent("root").state.seen
end

local function send(s, texts)
  for _, text in ipairs(texts) do
    assert(s:send("user", { to = "root@beta", payload = text }))
  end
end

describe("a fleet", function()
  after_each(scene.close)

  it("lets each host ask the other, at the same moment", function()
    local f = fleet()
    assert.equal("1 a", f.alpha:dispatch("root@beta", "a").payload.text)
    assert.equal("1 b", f:host("beta"):dispatch("root@alpha", "b").payload.text)
    assert.equal("2 c", f.beta:dispatch("root", "c").payload.text)
    assert.same({ "b" }, seen(f.alpha))
    assert.equal(f.alpha:now(), f.beta:now())
  end)

  it("has one time, whichever host is driven", function()
    local f = fleet()
    f.alpha:advance(1500)
    assert.equal(f.alpha:now(), f.beta:now())
    f.beta:advance(500)
    assert.equal(f.alpha:now(), f.beta:now())
    f:advance(7)
    assert.equal(f.alpha:now() % 10000, 2007)
  end)

  it("keeps what is for a host that is down, and a host catches up with the time", function()
    local f = fleet()
    f:run()
    f.beta:crash()
    send(f.alpha, { "x", "y" })
    f:advance(60000)
    assert.equal(2, f.alpha:stats().pending)
    f.beta:recover()
    f:run()
    assert.same({ "x", "y" }, seen(f.beta))
    assert.equal(f.alpha:now(), f.beta:now())
    assert.equal(0, f.alpha:stats().pending)
  end)

  it("loses nothing when a host is cut off, the carrier forgets, falls back or is down", function()
    local f = fleet()
    f:delay(50)
    send(f.alpha, { "1", "2" })
    f:cut("beta")
    send(f.alpha, { "3" })
    f:advance(3000)
    f:flush()
    f:mend("beta")
    send(f.alpha, { "4" })
    f:advance(20)
    f:failback(3)
    send(f.alpha, { "5" })
    f:cut()
    f:advance(20000)
    f.alpha:crash()
    f:mend()
    f.alpha:recover()
    f:skew(5000)
    f:advance(10000)
    f:run()
    assert.same({ "1", "2", "3", "4", "5" }, seen(f.beta))
    assert.equal(f.beta:stats().taken, f.alpha:stats().handed_over)
  end)

  it("is the same for the same seed, byte for byte", function()
    local function play()
      local f = fleet({ seed = 5 })
      f:delay(100)
      f.alpha:dispatch("root@beta", "a")
      send(f.alpha, { "b" })
      f:failback(2)
      f:run()
      return f.alpha:dump() .. f.beta:dump()
    end
    assert.equal(play(), play())
  end)

  it("says which host stands still, and lets its main receive from elsewhere", function()
    local f = fleet({ hosts = {
      alpha = function(s)
        s.main(function(user)
          user.state.got = user:receive { from = "user@beta" }.payload.text
        end)
      end,
      beta = count,
      gamma = function(s) s.main(function() error("no way") end) end,
    } })
    f.beta:send("user", { to = "user@alpha", payload = "from afar" })
    f:run()
    assert.equal("from afar", f.alpha.agent("user").state.got)
    assert.matches("^main of gamma raised: .*no way", f:fault())
  end)

  it("refuses what is no fleet", function()
    assert.has_error(function() fleet({ hosts = { "x" } }) end,
      "society.new: 'hosts' must name its hosts: { alpha = …, beta = … }")
    local f = fleet()
    assert.has_error(function() f:cut("gamma") end, "the fleet has no host 'gamma'")
    assert.has_error(function() f:host("gamma") end, "the fleet has no host 'gamma'")
    f:close()
    assert.has_error(function() f:run() end, "this fleet was closed")
  end)
end)
