-- Mail for an agent on another host whose mailbox is half full waits at its sender, and goes on at
-- once when the mailbox has room again; mail for others passes it.
--
-- Covers: core/parts/hosts/hosts_busy.c

local scene = require("scene")
local fleets = require("fleets")

local LIMIT, NAP_MS = 20, 60000

-- Root naps over the message "nap", and counts the others.
local function sleeper(s)
  s.config { mailbox_max = LIMIT }
  local function work(agent, message)
    if message.payload.text == "nap" then
      agent:sleep(NAP_MS)
      agent.state.woke = s:now()
    end
    agent.state.count = (agent.state.count or 0) + 1
  end
  s.role { id = "worker", name = "Worker", behaviour = work }
  s.root(work)
end

local function send(f, to, count)
  for _ = 1, count do
    assert(f.alpha:send("user", { to = to, payload = "x" }))
  end
end

local function open()
  local f = fleets.new({ alpha = function() end, beta = sleeper },
    { policies = { messages = { "any" }, contacts = "open" } })
  f:run()
  return f
end

describe("mail for a busy agent on another host", function()
  after_each(scene.close)

  it("goes on at once when its mailbox has room again", function()
    local f = open()
    assert(f.alpha:send("user", { to = "root@beta", payload = "nap" }))
    f:advance(3000)
    send(f, "root@beta", 10)
    f:advance(3000)
    send(f, "root@beta", 200)
    f:advance(NAP_MS - 6001)
    assert.equal(11, f.beta:stats().pending)
    assert.equal(200, f.alpha:stats().pending)
    f:advance(500)
    assert.equal(211, f.beta.agent("root").state.count)
    assert.equal(0, f.alpha:stats().pending)
  end)

  it("does not hold up mail for others", function()
    local f = open()
    assert(f.alpha:send("user", { to = "root@beta", payload = "nap" }))
    send(f, "root@beta", 10)
    f:advance(3000)
    send(f, "root@beta", 200)
    send(f, "user@beta", 300)
    f:advance(10)
    assert.equal(300, f.beta:stats().processed)
    assert.equal(200, f.alpha:stats().pending)
  end)
end)
