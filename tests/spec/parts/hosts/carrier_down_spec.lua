-- The carrier is down for minutes: agents of each host work on at their full rate, the outbox
-- holds no more than it may, and everything in it arrives when the carrier is back.
--
-- Covers: core/bridge/links/links.c, core/parts/hosts/hosts_out.c

local fleets = require("fleets")
local scene = require("scene")

local MINUTES_MS, STEP_MS, LIMIT = 300000, 50, 100

-- Root counts its own steps, one every STEP_MS, and reports each to the other host.
local function alpha(s)
  s.config { mailbox_max = LIMIT }
  s.root(function(root)
    local state = root.state
    state.steps = (state.steps or 0) + 1
    local sent, err = root:send_message { to = "root@beta", payload = { number = state.steps } }
    assert(sent or err.error == "mailbox_full", err and err.message)
    state[sent and "sent" or "full"] = (state[sent and "sent" or "full"] or 0) + 1
    root:sleep(STEP_MS)
    root:send_message { to = "root", payload = { text = "on" } }
  end)
end

local function beta(s)
  s.root(function(root, message)
    root.state.count = (root.state.count or 0) + 1
    if message.payload.number <= (root.state.last or 0) then
      root.state.fault = true
    end
    root.state.last = message.payload.number
  end)
end

describe("a host that cannot be reached", function()
  after_each(scene.close)

  it("is named by the time-out of a request to its agents, and logged when it is back", function()
    local f, got = fleets.act(function(root)
      root:sleep(20000)
      local _, err = root:request { to = "root@beta", payload = "x", timeout_ms = 5000 }
      return { error = err.error, message = err.message, receiver = err.receiver }
    end, { beta = function(s) s.root(function() end) end },
      { policies = { messages = { "any" }, contacts = "open" }, faults = function(f)
        f.beta:crash()
        f:advance(30000)
        f.beta:recover()
        f:advance(5000)
        f:cut()
        f:advance(5000)
        f:mend()
      end })
    assert.same({ error = "timeout", receiver = "outside",
      message = "no answer came in time; the host of the receiver cannot be reached" }, got)
    local seen = {}
    for _, row in ipairs(f.alpha:activity()) do
      if row.event:find("_reachable", 1, true) then
        seen[#seen + 1] = row.event
      end
    end
    assert.same({ "host_reachable", "carrier_reachable" }, seen)
  end)
end)

describe("a carrier that is down for minutes", function()
  after_each(scene.close)

  it("slows no agent down, lets the outbox grow to its limit alone, and is caught up with",
    function()
      local f = fleets.new({ alpha = alpha, beta = beta },
        { policies = { messages = { "any" }, contacts = "open" } })
      local function state(name)
        return f[name].agent("root").state
      end
      f:advance(5000)
      assert(f.alpha:send("user", { to = "root", payload = { text = "on" } }))
      f:advance(MINUTES_MS)
      local before = state("alpha")
      assert.is_true(before.steps >= MINUTES_MS / STEP_MS - 1)
      assert.is_nil(before.full)

      f:cut()
      f:advance(MINUTES_MS)
      local cut = state("alpha")
      assert.is_true(math.abs(cut.steps - 2 * before.steps) <= 2)
      assert.is_true(cut.full > MINUTES_MS / STEP_MS - LIMIT - 10)
      local stats = f.alpha:stats()
      assert.is_true(stats.pending <= LIMIT + 10, stats.pending)
      assert.is_true(stats.pending >= LIMIT)
      assert.equal(stats.handed_over + LIMIT, cut.sent)

      f:mend()
      f:advance(10000)
      cut = state("alpha")
      assert.is_true(cut.sent - state("beta").count <= 1)
      assert.is_nil(state("beta").fault)
      assert.equal(cut.steps, cut.sent + cut.full)
      local lost = 0
      for _, message in ipairs(f.alpha:messages({ type = "alert" })) do
        lost = lost + (message.payload.alert_type == "carrier_lost" and 1 or 0)
      end
      assert.equal(1, lost)
    end)
end)
