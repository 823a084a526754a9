-- A `main` that raised runs again at the next start, and its last wait begins anew.
--
-- Covers: core/kernel/turns/main.c

local scene = require("scene")

-- A society whose root works for `work_ms` and answers how often it was asked. `tries` gives
-- what `main` does in each run of the program.
local function society_with(tries, work_ms)
  local run = 0
  return scene.new({ faults = {}, app = function(s)
    run = run + 1
    local try = tries[run]
    s.root(function(root, message)
      root.state.count = (root.state.count or 0) + 1
      root:sleep(work_ms or 0)
      return { text = message.payload.text, count = root.state.count }
    end)
    s.main(function(user)
      user:request({ to = "root", payload = "first" })
      try(user)
    end)
  end })
end

local function fails(s)
  s:run()
  local ok, err = s:check()
  assert.is_nil(ok)
  return err
end

local function restart(s)
  s:crash()
  s:recover()
end

local function ask(user, timeout_ms)
  return user:request({ to = "root", payload = "second", timeout_ms = timeout_ms })
end

local function sent(s, text)
  return #s:messages({ agent = "root", type = "general" }) > 0
    and scene.count(s:transcript(), ('user → root  general  {"text":"%s"}'):format(text))
end

describe("a main that failed", function()
  it("waits anew for the reply that came too late, without asking twice", function()
    local got
    local s = society_with({
      function(user) assert(ask(user, 10)) end,
      function(user) got = assert(ask(user, 5000)) end,
    }, 1000)
    assert.matches("timeout", fails(s))
    restart(s)
    s:run()
    assert.same({ text = "second", count = 2 }, got.payload)
    assert.equal(1, sent(s, "second"))
  end)

  it("waits anew for the ack that came too late, without sending twice", function()
    local got
    local function send(user, timeout_ms)
      return user:send_message({ to = "root", payload = "second", wait_ack = "processed",
        timeout_ms = timeout_ms })
    end
    local s = society_with({
      function(user) assert(send(user, 10)) end,
      function(user) got = assert(send(user, 5000)) end,
    }, 1000)
    assert.matches("timeout", fails(s))
    restart(s)
    s:run()
    assert.equal("processed", got.ack)
    assert.equal(1, sent(s, "second"))
  end)

  it("asks again where the request is over", function()
    local got
    local s = society_with({
      function(user) assert(ask(user)) error("not yet") end,
      function(user) got = assert(ask(user)) end,
    })
    assert.matches("not yet", fails(s))
    restart(s)
    s:run()
    assert.same({ text = "second", count = 3 }, got.payload)
    assert.equal(1, sent(s, "first"))
  end)

  it("asks again if what it asks for has changed", function()
    local got
    local s = society_with({
      function(user) assert(ask(user, 10)) end,
      function(user) got = assert(user:request({ to = "root", payload = "third" })) end,
    }, 1000)
    fails(s)
    restart(s)
    s:run()
    assert.same({ text = "third", count = 3 }, got.payload)
  end)

  it("keeps an answer that came before the crash of a run that did not fail", function()
    local seen = {}
    local function try(user)
      seen[#seen + 1] = assert(ask(user)).payload.count
      user:sleep(50)
    end
    local s = society_with({
      function(user) assert(ask(user, 10)) end, try, try,
    }, 1000)
    fails(s)
    restart(s)
    while #seen == 0 do
      s:advance(100)
    end
    restart(s)
    s:run()
    assert.same({ 2, 2 }, seen)
  end)

  it("fails again, and again, without losing its place", function()
    local got
    local s = society_with({
      function(user) assert(ask(user, 10)) end,
      function(user) assert(ask(user, 20)) end,
      function(user) assert(ask(user, 30)) end,
      function(user) got = assert(ask(user, 5000)) end,
    }, 1000)
    for _ = 1, 3 do
      assert.matches("timeout", fails(s))
      restart(s)
    end
    s:run()
    assert.equal(2, got.payload.count)
    assert.equal(1, sent(s, "second"))
  end)

  it("keeps a message that it received", function()
    local got
    local function take(user)
      return assert(user:receive({ from = "root", timeout_ms = 5000 }))
    end
    local run = 0
    local s = scene.new({ faults = {}, app = function(s)
      run = run + 1
      local is_first = run == 1
      s.root(function(root, message)
        root:sleep(10)
        root:send_message({ to = message.from, payload = "hello" })
      end)
      s.main(function(user)
        user:send_message({ to = "root", payload = "go" })
        got = take(user)
        assert(not is_first, "too early")
      end)
    end })
    assert.matches("too early", fails(s))
    got = nil
    restart(s)
    s:run()
    assert.equal("hello", got.payload.text)
  end)

  it("forgets that it received nothing in time", function()
    local got
    local s = society_with({
      function(user) assert(user:receive({ from = "root", timeout_ms = 5 })) end,
      function(user) got = { user:receive({ from = "root", timeout_ms = 7 }) } end,
    })
    fails(s)
    restart(s)
    s:run()
    assert.equal(7, got[2].timeout_ms)
  end)

  it("asks the person again", function()
    local got
    local s = society_with({
      function(user) assert(user:escalate({ title = "go?" }).decision == "approve", "refused") end,
      function(user) got = user:escalate({ title = "go?" }) end,
    })
    s:run()
    s:decide(s:inbox()[1].id, { decision = "reject" })
    assert.matches("refused", fails(s))
    restart(s)
    s:run()
    assert.equal(1, #s:inbox())
    s:decide(s:inbox()[1].id, { decision = "approve" })
    s:run()
    assert.equal("approve", got.decision)
  end)

  it("keeps everything if the script no longer fits, so that the old one still does", function()
    local got
    local s = society_with({
      function(user) ask(user) user:sleep(5) error("not yet") end,
      function(user) user:sleep(5) end,
      function(user) got = ask(user) user:sleep(5) end,
    })
    fails(s)
    restart(s)
    assert.matches("nondeterministic", fails(s))
    restart(s)
    s:run()
    assert.equal(2, got.payload.count)
  end)
end)
