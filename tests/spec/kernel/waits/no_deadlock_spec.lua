-- Waits that look like a cycle but are not: no deadlock may be reported here.

local scene = require("scene")

local BIG = 60000

local function count_deadlocks(s)
  return #s:activity({ type = "deadlock" })
end

local function go(s, ...)
  for _, id in ipairs({ ... }) do
    assert(s:send("user", { to = id, type = "go", payload = "go" }))
    s:advance(0)
  end
end

-- An agent that acts when told to, and does nothing else.
local function on_go(act)
  return function(agent, message)
    if message.type == "go" then
      return act(agent, message)
    end
  end
end

describe("no deadlock", function()
  local s

  after_each(function()
    assert.equal(0, count_deadlocks(s))
    scene.close()
  end)

  it("is a diamond", function()
    local results = {}
    local function ask(to)
      return function(agent, message)
        if message.type == "go" then
          results[agent.id] = agent:request({ to = to, payload = "x", timeout_ms = BIG })
        end
      end
    end
    s = scene.troupe({
      a = ask("d"), b = ask("d"), c = ask("a"), e = ask("a"),
      d = function(d)
        d:sleep(100)
        return "done"
      end,
    })
    go(s, "a", "b", "c", "e")
    assert.equal(5, #s:waits())
    s:run()
    assert.equal("done", results.a.payload.text)
    assert.equal("done", results.b.payload.text)
  end)

  it("is a chain that ends in a busy agent", function()
    local done = 0
    local function pass_on(to)
      return function(agent)
        local answer = agent:request({ to = to, payload = "x", timeout_ms = BIG })
        done = done + 1
        return answer.payload
      end
    end
    s = scene.troupe({
      a = pass_on("b"), b = pass_on("c"), c = pass_on("d"),
      d = function(d)
        d:sleep(1000)
        return "far"
      end,
    })
    go(s, "a")
    s:run()
    assert.equal(3, done)
  end)

  it("is a wait for the person, who waits for somebody", function()
    local said = {}
    s = scene.new({ app = function(world)
      world:root(function(root)
        local _, err = root:request({ to = "user", payload = "may I?", timeout_ms = 50 })
        said.root = err.error
        said.status = root.status
        return "never mind"
      end)
      world:main(function(user)
        said.user = user:request({ to = "root", payload = "x", timeout_ms = BIG }).payload.text
      end)
    end })
    s:advance(10)
    assert.equal("blocked_user", s:agent("root").status)
    assert.equal("blocked_internal", s:agent("user").status)
    s:run()
    assert.same({ root = "timeout", user = "never mind", status = "working" }, said)
  end)

  it("is a reply sent in the same turn as the question back", function()
    local said = {}
    s = scene.troupe({
      a = function(a, message)
        if message.type == "go" then
          said.a = a:request({ to = "b", payload = "x", timeout_ms = BIG }).payload.text
        else
          return "mine"
        end
      end,
      b = function(b, message)
        b:reply(message, "here")
        said.b = b:request({ to = "a", payload = "and yours?", timeout_ms = BIG }).payload.text
      end,
    })
    go(s, "a")
    s:run()
    assert.same({ a = "here", b = "mine" }, said)
  end)

  it("is a request that the other's receive takes immediately", function()
    local said = {}
    s = scene.troupe({
      a = on_go(function(a)
        said.a = a:request({ to = "b", payload = "x", timeout_ms = BIG }).payload.text
      end),
      b = on_go(function(b)
        b:reply(assert(b:receive({ from = "a", timeout_ms = BIG })), "taken")
      end),
    })
    go(s, "b", "a")
    s:run()
    assert.equal("taken", said.a)
  end)

  it("is a receive that another message of the closing turn ends", function()
    local said = {}
    s = scene.troupe({
      a = on_go(function(a)
        said.a = a:receive({ from = "b", type = "news", timeout_ms = BIG }).payload.text
        local question = a:receive({ from = "b", timeout_ms = BIG })
        a:reply(question, "good")
      end),
      b = on_go(function(b)
        b:send_message({ to = "a", type = "news", payload = "extra" })
        said.b = b:request({ to = "a", payload = "how?", timeout_ms = BIG }).payload.text
      end),
    })
    go(s, "a", "b")
    s:run()
    assert.same({ a = "extra", b = "good" }, said)
  end)

  it("is a message in transit that is not due yet", function()
    local said = {}
    s = scene.troupe({
      a = on_go(function(a)
        a:send_message({ to = "b", type = "news", payload = "slow", delay_ms = 100 })
        said.a = a:request({ to = "b", payload = "x", timeout_ms = BIG }).payload.text
      end),
      b = function(b, message)
        if message.type == "go" then
          said.b = b:receive({ from = "a", type = "news", timeout_ms = BIG }).payload.text
          return
        end
        return "answered"
      end,
    })
    go(s, "b", "a")
    assert.equal(2, #s:waits())
    s:crash()
    s:recover()
    s:run()
    assert.same({ a = "answered", b = "slow" }, said)
  end)

  it("is a request in transit that will be received", function()
    local said
    s = scene.troupe({
      a = on_go(function(a)
        said = a:request({ to = "b", payload = "x", delay_ms = 50, timeout_ms = BIG }).payload.text
      end),
      b = on_go(function(b)
        b:reply(assert(b:receive({ from = "a", timeout_ms = BIG })), "in time")
      end),
    })
    go(s, "a", "b")
    s:run()
    assert.equal("in time", said)
  end)

  it("is a message an agent has sent to itself", function()
    local said = {}
    s = scene.troupe({
      a = on_go(function(a)
        a:send_message({ to = "a", type = "note", payload = "now" })
        said[1] = a:receive({ from = "a", type = "note" }).payload.text
        a:send_message({ to = "a", type = "alarm", payload = "later", delay_ms = 10 })
        said[2] = a:receive({ from = "a", type = "alarm" }).payload.text
        local _, err = a:receive({ from = "a" })
        said[3] = err.error
      end),
    })
    go(s, "a")
    s:run()
    assert.same({ "now", "later", "deadlock" }, said) -- the last one is refused immediately
  end)

  it("is a receive from anybody, or a sleep", function()
    local said = {}
    s = scene.troupe({
      a = function(a)
        said.a = a:request({ to = "b", payload = "x", timeout_ms = BIG }).payload.text
      end,
      b = function(b)
        local message = b:receive({ type = "hint", timeout_ms = BIG })
        b:sleep(10)
        return message.payload
      end,
      c = function(c) c:send_message({ to = "b", type = "hint", payload = "from c" }) end,
    })
    go(s, "a", "c")
    s:run()
    assert.equal("from c", said.a)
  end)

  it("is a cycle over time, whose first wait was answered earlier", function()
    local turns = 0
    local function pass(to)
      return function(agent, message)
        turns = turns + 1
        if message.payload.n > 0 then
          agent:send_message({ to = to, payload = { n = message.payload.n - 1 } })
          agent:receive({ type = "never", timeout_ms = 1 })
        end
      end
    end
    s = scene.troupe({ a = pass("b"), b = pass("c"), c = pass("a") })
    assert(s:send("user", { to = "a", payload = { n = 30 } }))
    s:run()
    assert.equal(31, turns)
  end)
end)

describe("a delayed message that is lost", function()
  after_each(scene.close)

  it("does not hide the deadlock it would have prevented", function()
    local ends = {}
    local s = scene.troupe({
      a = function(a)
        a:send_message({ to = "b", type = "news", payload = "x", delay_ms = 100,
          ttl_seconds = 0.05 })
        ends.a = table.pack(a:request({ to = "b", payload = "x", timeout_ms = BIG }))
      end,
      b = function(b)
        ends.b = table.pack(b:receive({ from = "a", type = "news", timeout_ms = BIG }))
      end,
    })
    go(s, "b", "a")
    assert.equal("deadlock", ends.b[2].error)
    assert.same({ "b", "a" }, ends.b[2].cycle)
  end)
end)
