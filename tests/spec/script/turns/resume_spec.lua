-- Recovery point by point: waits continue, changes are noticed.
--
-- Covers: core/script/turns/effect.c

local scene = require("scene")

describe("after a crash", function()
  after_each(scene.close)

  local function crash(s, ms)
    s:crash()
    s:advance(ms or 0)
    s:recover()
  end

  it("time does not go back, and passes while down", function()
    local s = scene.troupe({})
    s:advance(500)
    local before = s:now()
    crash(s)
    assert.equal(before, s:now())
    crash(s, 1000)
    assert.equal(before + 1000, s:now())
  end)

  it("a handler that waits for a reply continues with it", function()
    local answer
    local s = scene.troupe({
      root = function(root) answer = root:request({ to = "a", payload = "x" }) end,
      a = function(a)
        a:sleep(100)
        return "still here"
      end,
    })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(50)
    crash(s)
    assert.equal("blocked_internal", s:agent("root").status)
    s:run()
    assert.equal("still here", answer.payload.text)
    assert.equal(4, s:stats().processed)
  end)

  it("a request can still be answered by a later activation", function()
    local answer
    local s = scene.troupe({
      root = function(root)
        answer = root:request({ to = "a", payload = "x", timeout_ms = 100000 })
      end,
      a = function(a, message)
        if message.type == "now" then
          assert(a:reply(a.state.asked, "later"))
        else
          a.state.asked = message.id
        end
      end,
    })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(10)
    crash(s)
    assert(s:send("user", { to = "a", payload = "x", type = "now" }))
    s:advance(10)
    assert.equal("later", answer and answer.payload.text)
  end)

  it("a sleep ends when it would have", function()
    local woke
    local s = scene.troupe({
      a = function(a)
        a:sleep(100)
        woke = a:now()
      end,
    })
    local start = s:now()
    assert(s:send("user", { to = "a", payload = "x" }))
    s:advance(30)
    crash(s, 20)
    s:advance(49)
    assert.is_nil(woke)
    s:advance(1)
    assert.equal(100, woke - start)
  end)

  it("waits that ended while down fire immediately, in order", function()
    local order = {}
    local function sleeper(ms)
      return function(agent)
        agent:sleep(ms)
        order[#order + 1] = agent.id
      end
    end
    local s = scene.troupe({ a = sleeper(300), b = sleeper(100), c = sleeper(200) })
    for _, id in ipairs({ "a", "b", "c" }) do
      assert(s:send("user", { to = id, payload = "x" }))
    end
    s:advance(10)
    crash(s, 5000)
    local start = s:now()
    for _ = 1, 6 do
      s:step()
    end
    assert.equal(start, s:now())
    table.sort(order)
    assert.same({ "a", "b", "c" }, order)
    assert.same({}, s:waits())
  end)

  it("a timeout that passed while down comes after a reply already there", function()
    local result
    local s = scene.troupe({
      root = function(root)
        result = table.pack(root:request({ to = "a", payload = "x", timeout_ms = 100 }))
      end,
      a = function() return "in time" end,
    })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:step()
    s:step()
    crash(s, 1000)
    s:run()
    assert.equal("in time", result[1] and result[1].payload.text)
  end)

  it("a timeout that passed while down fires", function()
    local result
    local s = scene.troupe({
      root = function(root)
        result = table.pack(root:request({ to = "a", payload = "x", timeout_ms = 100 }))
      end,
      a = function() end,
    })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(50)
    crash(s, 1000)
    s:step()
    s:step()
    assert.equal("timeout", result[2].error)
  end)

  it("messages that fell due or expired while down are handled accordingly", function()
    local seen = {}
    local s = scene.troupe({ a = function(_, message) seen[#seen + 1] = message.payload.text end })
    assert(s:send("user", { to = "a", payload = "due", delay_ms = 100 }))
    assert(s:send("user", { to = "a", payload = "late", delay_ms = 50, ttl_seconds = 0.2 }))
    crash(s, 1000)
    s:run()
    assert.same({ "due" }, seen)
    assert.equal(1, s:stats().expired)
  end)

  it("effects are answered from the record: chance, time and queries are as they were", function()
    local runs = {}
    local s = scene.troupe({
      a = function(a)
        local run = { a:random(), a:random(1, 1000000), a:now(), #a:contacts(), a:knows("b") }
        runs[#runs + 1] = run
        a:sleep(100)
      end,
    })
    assert(s:send("user", { to = "a", payload = "x" }))
    s:advance(10)
    crash(s, 20)
    s:run()
    assert.equal(2, #runs)
    assert.same(runs[1], runs[2])
  end)

  it("policies are not asked again about what is recorded", function()
    local asked = 0
    local acts = {
      a = function(a)
        a:send_message({ to = "b", payload = "x" })
        a:sleep(100)
      end,
      b = function() end,
    }
    local s = scene.new({ app = function(s)
      s:policy("contacts", function()
        asked = asked + 1
        return true
      end)
      s:role({ id = "actor", name = "actor", behaviour = function(agent, message)
        return acts[agent.id](agent, message)
      end })
      s:root(function(root)
        root:spawn_agent("actor", scene.brief(), { id = "b" })
        root:spawn_agent("actor", scene.brief(), { id = "a", message = "start" })
      end)
    end })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(10)
    local before = asked
    assert.is_true(before > 0)
    crash(s)
    s:run()
    assert.equal(before, asked)
  end)

  it("a refusal is repeated from the record, although it would be allowed now", function()
    local errors = {}
    local s = scene.troupe({
      a = function(a)
        local _, err = a:send_message({ to = "c", payload = "x" })
        errors[#errors + 1] = err and err.error
        a:sleep(100)
      end,
    })
    assert(s:send("user", { to = "a", payload = "x" }))
    s:advance(10)
    assert(s:send("user", { to = "root", type = "enter", payload = { ids = { "c" } } }))
    s:advance(10)
    crash(s)
    s:run()
    assert.same({ "agent_not_found", "agent_not_found" }, errors)
  end)

  it("a line is printed once, wherever the crash comes", function()
    local app = scene.app([[
      require("society").root(function(root)
        print("one")
        root:sleep(5)
        print("two")
      end)
    ]])
    for at = 0, 8 do
      local s = scene.new({ app = app })
      assert(s:send("user", { to = "root", payload = "x" }))
      for _ = 1, at do
        if not s:step() then
          s:advance(1)
        end
      end
      crash(s)
      s:run()
      assert.equal(1, scene.count(s:transcript(), "print root: one"), "one, " .. at)
      assert.equal(1, scene.count(s:transcript(), "print root: two"), "two, " .. at)
    end
  end)

  it("main continues where it was, and is not repeated once finished", function()
    local s = scene.new({ app = scene.app([[
      local society = require("society")
      society.root(function(root) root:sleep(10) return "x" end)
      society.main(function(user)
        print("begins")
        user:request{ to = "root", payload = "x" }
        print("ends")
      end)
    ]]) })
    s:advance(5)
    crash(s)
    s:run()
    crash(s)
    s:run()
    assert.equal(1, scene.count(s:transcript(), "begins"))
    assert.equal(1, scene.count(s:transcript(), "ends"))
    assert.equal(2, s:stats().sent)
  end)
end)
