-- An agent whose turns raise too often has failed: it is held with its queue, its parent
-- and the agents that wait for it are notified, and it can be resumed.

local scene = require("scene")

describe("an agent whose turns keep raising", function()
  after_each(scene.close)

  -- `a` raises while broken; root records the alerts it gets.
  local function stage(options, acts)
    local seen = { alerts = {}, runs = 0, is_broken = true }
    acts = acts or {}
    acts.a = acts.a or function(_, message)
      seen.runs = seen.runs + 1
      if seen.is_broken then
        error("boom")
      end
      seen.last = message.payload.text
      return "done " .. message.payload.text
    end
    local own = acts.root
    acts.root = function(root, message)
      if message.type == "alert" then
        seen.alerts[#seen.alerts + 1] = message
        return
      end
      return own and own(root, message)
    end
    return scene.troupe(acts, options), seen
  end

  local function status(s) return s:agent("a").status end

  it("fails at the sixth time in a minute, and keeps its current message", function()
    local s, seen = stage()
    scene.tell(s, "a", "m1") -- four times, then a dead letter
    assert.equal("idle", status(s))
    scene.tell(s, "a", "m2")
    assert.equal(6, seen.runs)
    assert.equal("failed", status(s))
    scene.tell(s, "a", "m3")
    assert.equal(6, seen.runs)
    local stats = s:stats()
    assert.same({ 1, 2 }, { stats.dead, stats.pending })
    assert.equal(1, s:agent("a").queue_length)
  end)

  it("causes one alert from the host to its parent", function()
    local s, seen = stage()
    local id = scene.tell(s, "a", "m1")
    id = scene.tell(s, "a", "m2") or id
    scene.tell(s, "a", "m3")
    assert.equal(1, #seen.alerts)
    local alert = seen.alerts[1]
    assert.equal("system", alert.from)
    assert.equal("failed", alert.payload.alert_type)
    assert.equal("a", alert.payload.agent)
    assert.equal(6, alert.payload.failures)
    assert.equal("script_error", alert.payload.error.error)
    assert.equal(id, alert.correlation_id)
  end)

  it("does not count failures more than a minute old", function()
    local s, seen = stage()
    for i = 1, 4 do
      scene.tell(s, "a", "m" .. i)
      s:advance(60001)
    end
    assert.equal(16, seen.runs)
    assert.equal("idle", status(s))
    assert.equal(4, s:stats().dead)
  end)

  it("fails open and later requests immediately; other messages are queued", function()
    local answers = {}
    local s = stage(nil, {
      b = function(b)
        local answer, err = b:request({ to = "a", payload = "?", timeout_ms = 100000 })
        answers[#answers + 1] = answer or err
        answers.at = b:now() - 1767225600000
      end,
    })
    scene.tell(s, "a", "m1")
    scene.tell(s, "b")
    assert.equal("receiver_failed", answers[1].error)
    assert.equal("a", answers[1].to)
    assert.matches("failed_spec.lua:%d+: ", answers[1].reason.message)
    assert.is_nil(answers[1].reason.traceback)
    assert.is_true(answers.at < 2000)
    scene.tell(s, "b")
    assert.equal("receiver_failed", answers[2].error)
    assert.equal("a", answers[2].to)
    assert.same({}, s:waits())
    assert(s:send("user", { to = "a", payload = "x" }))
    assert.equal("receiver_failed", select(2, s:dispatch("a", "x")).error)
  end)

  it("can be terminated by its parent, with its queue as dead letters", function()
    local answer
    local s = stage(nil, { root = function(root, message)
      if message.payload.text == "end it" then
        answer = root:terminate("a")
      end
    end })
    scene.tell(s, "a", "m1")
    scene.tell(s, "a", "m2")
    assert.equal("failed", status(s))
    scene.tell(s, "a", "m3")
    scene.tell(s, "root", "end it")
    assert.same({ id = "a", status = "stopped" }, answer)
    assert.is_nil(s:agent("a"))
    assert.equal(3, s:stats().dead)
    assert.is_true(scene.law_holds(s))
  end)

  it("fails a spawn that waits for its task", function()
    local result
    local s = scene.new({ policies = { contacts = "open" }, app = function(s)
      s:policy("supervision", "backoff", { retries_max = 10, first_ms = 1 })
      s:role({ id = "w", name = "w", behaviour = function() error("boom") end })
      s:root(function(root, message)
        if message.type == "alert" then
          return
        end
        result = table.pack(root:spawn_agent("w", scene.brief(), { wait = true,
          message = { payload = "go" } }))
      end)
    end })
    assert(s:send("user", { to = "root", payload = "x" }))
    s:run()
    assert.equal("receiver_failed", result[2].error)
  end)

  it("fails a receive from it alone, once nothing from it is in transit", function()
    local got = {}
    local s = stage(nil, {
      b = function(b, message)
        local mail, err = b:receive({ from = "a", type = message.payload.type })
        got[#got + 1] = { mail and mail.payload.text or err.error, err and err.agentId,
          b:now() - 1767225600000 }
      end,
    })
    assert(s:send("a", { to = "b", type = "late", payload = "came", delay_ms = 5000 }))
    scene.tell(s, "b", { type = "late" })
    assert.same({ "came", nil, 5000 }, got[1])
    assert(s:send("a", { to = "b", type = "late", payload = "came too", delay_ms = 5000 }))
    assert(s:send("user", { to = "b", payload = { type = "late" } }))
    assert(s:send("user", { to = "b", payload = { type = "never" } }))
    assert(s:send("user", { to = "a", payload = "m1" }))
    assert(s:send("user", { to = "a", payload = "m2" }))
    s:advance(4000)
    assert.equal("failed", status(s))
    assert.equal(1, #got)
    s:crash()
    s:recover()
    s:run()
    assert.same({ { "came too", nil, 10000 }, { "receiver_failed", "a", 10000 } },
      { got[2], got[3] })
    assert.same({}, s:waits())
  end)

  it("fails its parent's receive from it", function()
    local got
    local s = stage(nil, { root = function(root, message)
      if message.payload.text == "wait for it" then
        got = select(2, root:receive({ from = "a" }))
        root:resume("a")
      end
    end })
    assert(s:send("user", { to = "root", payload = "wait for it" }))
    scene.tell(s, "a", "m1")
    scene.tell(s, "a", "m2")
    assert.equal("receiver_failed", got.error)
    assert.equal("idle", status(s))
  end)

  it("continues with its current message when it is resumed", function()
    local s, seen = stage()
    scene.tell(s, "a", "m1")
    scene.tell(s, "a", "m2")
    scene.tell(s, "a", "m3")
    seen.is_broken = false
    assert.same({ count = 1, id = "a", status = "working" }, s:resume("a"))
    s:run()
    assert.equal("idle", status(s))
    assert.equal("m3", seen.last)
    assert.equal(8, seen.runs)
    assert.equal(0, s:stats().pending)
    assert.equal("done x", s:dispatch("a", "x").payload.text)
  end)

  it("is counted from zero then, and alerted again", function()
    local s, seen = stage()
    scene.tell(s, "a", "m1")
    scene.tell(s, "a", "m2")
    s:resume("a")
    s:run()
    assert.equal("idle", status(s)) -- m2 had four more tries
    assert.equal(2, s:stats().dead)
    scene.tell(s, "a", "m3")
    assert.equal("failed", status(s))
    assert.equal(2, #seen.alerts)
  end)

  it("can be resumed by its parent", function()
    local s, seen
    s, seen = stage(nil, { root = function(root) assert(root:resume("a")) end })
    scene.tell(s, "a", "m1")
    scene.tell(s, "a", "m2")
    seen.is_broken = false
    scene.tell(s, "root")
    assert.equal("m2", seen.last)
  end)

  it("is still failed after a crash, with its queue", function()
    local s, seen = stage()
    scene.tell(s, "a", "m1")
    scene.tell(s, "a", "m2")
    scene.tell(s, "a", "m3")
    for _ = 1, 2 do
      s:crash()
      s:recover()
      s:run()
      assert.equal("failed", status(s))
    end
    assert.equal(6, seen.runs)
    assert.equal(1, #seen.alerts)
    assert.equal("receiver_failed", select(2, s:dispatch("a", "x")).error)
    seen.is_broken = false
    s:resume("a")
    s:crash()
    s:recover()
    s:run()
    assert.equal("m3", seen.last)
    assert.equal(0, s:stats().pending)
  end)

  it("fails when the policy in force says so", function()
    local s, seen = stage()
    s:policy("supervision", "backoff", { failures_max = 1, failures_ms = 150 })
    scene.tell(s, "a", "m1")
    assert.equal(2, seen.runs)
    assert.equal("failed", status(s))
    s:policy("supervision", { kind = "supervision", version = 1,
      retry_after = function() return nil end,
      is_failed = function(request) return #request.ages > 2 and request.agent.id == "a" end })
    s:resume("a")
    s:run()
    assert.equal("idle", status(s))
    scene.tell(s, "a", "m2")
    scene.tell(s, "a", "m3")
    assert.equal("failed", status(s))
    assert.equal(3, s:stats().dead)
  end)

  it("alerts the person if it is root", function()
    local s = scene.new({ app = function(s) s:root(function() error("boom") end) end })
    scene.tell(s, "root", "m1")
    scene.tell(s, "root", "m2")
    assert.equal("failed", s:agent("root").status)
    assert.equal("root", scene.message(s, { type = "alert" }, { to = "user" }).payload.agent)
  end)

  it("can be paused and failed, is shown as failed, and one resume ends both", function()
    local s, seen = stage(nil, { b = function() end })
    scene.tell(s, "a", "m1")
    scene.tell(s, "a", "m2")
    s:pause("a")
    assert.equal("failed", status(s))
    assert.equal("failed", s:load("a").status)
    s:pause("b")
    assert.equal("busy", s:load("b").status)
    seen.is_broken = false
    s:resume("a")
    s:run()
    assert.equal("m2", seen.last)
  end)

  it("is in the activity, with its chain", function()
    local s = stage()
    scene.tell(s, "a", "m1")
    local id = scene.tell(s, "a", "m2")
    local rows = s:activity({ type = "failed", agent = "a" })
    assert.equal(1, #rows)
    assert.equal(id, rows[1].correlation_id)
  end)
end)
