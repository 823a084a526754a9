-- Pausing and resuming one agent, a subtree or everybody: who may, and that nothing is lost
-- meanwhile.
--
-- Covers: core/script/bindings/bind_endings.c

local json = require("society.json")
local scene = require("scene")

-- boss has two hands, root has boss and bob; everybody records what it gets.
local function firm(acts, options)
  acts = acts or {}
  local heard = {}
  local function behave(agent, message)
    for _, id in ipairs(message.payload.hire or {}) do
      assert(agent:spawn_agent("worker", scene.brief(), { id = id }))
    end
    if message.payload.hire then
      return
    end
    heard[#heard + 1] = agent.id .. ":" .. tostring(message.payload.text)
    local act = acts[agent.id]
    return act and act(agent, message)
  end
  options = options or {}
  options.policies = options.policies or { contacts = "open" }
  options.app = function(s)
    s:role({ id = "worker", name = "w", behaviour = behave })
    s:root(behave)
  end
  local s = scene.new(options)
  scene.tell(s, "root", { hire = { "boss", "bob" } })
  scene.tell(s, "boss", { hire = { "left", "right" } })
  return s, heard
end

local function status(s, id) return s:agent(id).status end

local function events(s, filter)
  local list = {}
  for _, row in ipairs(s:activity(filter)) do
    if row.event == "paused" or row.event == "resumed" then
      local detail = json.decode(row.detail)
      list[#list + 1] = ("%s %s by %s: %s to %s"):format(row.agent, row.event, detail.by,
        detail.from, detail.to)
    end
  end
  return list
end

describe("pause", function()
  after_each(scene.close)

  it("starts no turn; messages are queued; resume continues in order", function()
    local s, heard = firm()
    assert.same({ count = 1, id = "bob", status = "paused" }, s:pause("bob"))
    for i = 1, 3 do
      scene.tell(s, "bob", "m" .. i)
    end
    assert.same({}, heard)
    assert.equal("paused", status(s, "bob"))
    assert.equal(3, s:agent("bob").queue_length)
    assert.equal(3, s:stats().pending)
    assert.equal(1, s:resume("bob").count)
    s:run()
    assert.same({ "bob:m1", "bob:m2", "bob:m3" }, heard)
    assert.equal("idle", status(s, "bob"))
    assert.equal(0, s:stats().pending)
  end)

  it("of a paused agent, and resume of one that is not, change nothing", function()
    local s = firm()
    s:pause("bob")
    assert.equal(0, s:pause("bob").count)
    s:resume("bob")
    assert.equal(0, s:resume("bob").count)
    assert.equal(2, #events(s, { agent = "bob" }))
  end)

  it("applies to a subtree, or everybody except the person", function()
    local s, heard = firm()
    assert.equal(3, s:pause("boss", { subtree = true }).count)
    for id, expected in pairs({ boss = "paused", left = "paused", right = "paused",
      bob = "idle", root = "idle", user = "idle" }) do
      assert.equal(expected, status(s, id), id)
    end
    assert.equal(2, s:pause("All").count)
    assert.equal("paused", status(s, "root"))
    assert.equal("idle", status(s, "user"))
    for _, id in ipairs({ "root", "left", "bob" }) do
      scene.tell(s, id, "x")
    end
    assert.same({}, heard)
    assert.equal(5, s:resume("All", { reason = "done" }).count)
    s:run()
    table.sort(heard)
    assert.same({ "bob:x", "left:x", "root:x" }, heard)
  end)

  it("of one agent in a subtree does not affect the others", function()
    local s, heard = firm()
    s:pause("boss", { subtree = true })
    s:resume("left")
    scene.tell(s, "left", "x")
    scene.tell(s, "right", "x")
    assert.same({ "left:x" }, heard)
  end)

  it("is reserved to ancestors, root, user and the orchestrator", function()
    local said = {}
    local function try(agent, message)
      local target = message.payload.text
      local done, err = agent:pause(target)
      said[#said + 1] = ("%s %s %s"):format(agent.id, target,
        done and (done.status or "done") or err.error)
      assert(done or err.agentId == target and err.message)
    end
    local s = firm({ root = try, boss = try, left = try })
    for _, order in ipairs({ { "boss", "left" }, { "boss", "bob" }, { "boss", "root" },
      { "boss", "user" }, { "boss", "boss" }, { "boss", "All" }, { "boss", "nobody" },
      { "left", "right" }, { "left", "boss" }, { "root", "left" }, { "root", "root" } }) do
      scene.tell(s, order[1], order[2])
      s:resume("All")
      s:run()
    end
    assert.same({
      "boss left paused", "boss bob forbidden", "boss root forbidden", "boss user forbidden",
      "boss boss forbidden", "boss All forbidden", "boss nobody agent_not_found",
      "left right forbidden", "left boss forbidden", "root left paused", "root root forbidden",
    }, said)
    scene.close()
    s = firm({ bob = try }, { config = { orchestrator = "bob" } })
    scene.tell(s, "bob", "left")
    scene.tell(s, "bob", "All")
    assert.equal("bob left paused", said[12])
    assert.equal("paused", status(s, "root"))
    assert.equal("idle", status(s, "bob"))
  end)

  it("by an agent is part of its turn", function()
    local tries = 0
    local s, heard = firm({ boss = function(boss)
      tries = tries + 1
      boss:pause("left")
      assert(tries > 1, "boom")
      boss:resume("left")
    end })
    assert(s:send("user", { to = "boss", payload = "x" }))
    s:advance(1)
    assert.equal("idle", status(s, "left"))
    s:run()
    scene.tell(s, "left", "y")
    assert.equal("left:y", heard[#heard])
    assert.same({ "left paused by boss: idle to paused", "left resumed by boss: paused to idle" },
      events(s, { agent = "left" }))
  end)

  it("by root of everybody leaves root running", function()
    local s, heard = firm({ root = function(root) root:pause("All") end })
    scene.tell(s, "root", "x")
    scene.tell(s, "root", "y")
    scene.tell(s, "bob", "z")
    assert.same({ "root:x", "root:y" }, heard)
  end)

  it("does not stop the clock: timeouts, sleeps and ttls still run out", function()
    local got
    local s = firm({
      boss = function(boss)
        got = { select(2, boss:request({ to = "bob", payload = "?", timeout_ms = 100 })).error }
        got[2] = boss:now() - 1767225600000
      end,
      bob = function(bob) bob:sleep(1000) end,
    })
    assert(s:send("user", { to = "boss", payload = "x" }))
    s:advance(50)
    s:pause("boss")
    assert.equal("paused", status(s, "boss"))
    assert(s:send("user", { to = "boss", payload = "old", ttl_seconds = 1 }))
    s:advance(5000)
    assert.is_nil(got)
    assert.equal("expired", s:dead_letters()[1].status)
    s:resume("boss")
    s:run()
    assert.same({ "timeout", 5050 }, got)
  end)

  it("delivers a reply that came in time to an agent paused meanwhile", function()
    local answer
    local s = firm({
      boss = function(boss)
        answer = boss:request({ to = "bob", payload = "?", timeout_ms = 100 })
      end,
      bob = function(bob)
        bob:sleep(50)
        return "in time"
      end,
    })
    assert(s:send("user", { to = "boss", payload = "x" }))
    s:advance(10)
    s:pause("boss")
    s:advance(1000)
    s:resume("boss")
    s:run()
    assert.equal("in time", answer.payload.text)
    assert.same({ "boss paused by user: blocked_internal to paused",
      "boss resumed by user: paused to working" }, events(s, { agent = "boss" }))
  end)

  it("survives a crash, with the messages, the waits and the blocked state", function()
    local heard_late
    local s, heard = firm({ boss = function(boss)
      heard_late = boss:receive({ from = "user", timeout_ms = 1000 })
    end })
    assert(s:send("user", { to = "boss", payload = "x" }))
    s:advance(10)
    s:pause("boss", { subtree = true })
    assert(s:send("user", { to = "left", payload = "y" }))
    for _ = 1, 2 do
      s:crash()
      s:advance(5)
      s:recover()
      s:run()
      assert.equal("paused", status(s, "boss"))
      assert.equal("paused", status(s, "left"))
    end
    assert.same({ "boss:x" }, heard)
    assert(s:send("user", { to = "boss", payload = "z" }))
    s:resume("boss", { subtree = true })
    s:crash()
    s:recover()
    s:run()
    assert.equal("timeout", not heard_late and "timeout" or heard_late.payload.text)
    assert.equal(0, s:stats().pending)
    local blocked = 0
    for _, row in ipairs(s:activity({ agent = "boss" })) do
      blocked = blocked + (row.event == "blocked" and 1 or row.event == "unblocked" and -1 or 0)
    end
    assert.equal(0, blocked)
  end)

  it("does not prevent termination by force", function()
    local s, heard = firm({ boss = function(boss, message)
      boss:terminate("left", { force = message.payload.text == "force" })
    end })
    s:pause("left")
    scene.tell(s, "left", "x")
    scene.tell(s, "boss", "gently")
    assert.equal("paused", status(s, "left"))
    scene.tell(s, "boss", "force")
    assert.is_nil(s:agent("left"))
    assert.same({ "boss:gently", "boss:force" }, heard)
    assert.equal(1, s:stats().dead)
    assert.equal("agent_stopped", select(2, s:pause("left")).error)
  end)

  it("lets a terminating agent end when it is resumed and drained", function()
    local s, heard = firm({ boss = function(boss) boss:terminate("left") end })
    s:pause("left")
    scene.tell(s, "left", "x")
    scene.tell(s, "boss", "gently")
    s:resume("left")
    s:run()
    assert.is_nil(s:agent("left"))
    assert.same({ "boss:gently", "left:x" }, heard)
  end)

  it("of one agent in a cycle does not hide the deadlock", function()
    local got
    local s = firm({
      boss = function(boss, message)
        if message.from == "user" then
          got = select(2, boss:request({ to = "bob", payload = "?" }))
        end
      end,
      bob = function(bob, message)
        if message.from == "boss" then
          bob:request({ to = "boss", payload = "?" })
        end
      end,
    })
    assert(s:send("user", { to = "boss", payload = "x" }))
    s:step()
    s:pause("boss")
    s:run()
    assert.is_nil(got)
    s:resume("boss")
    s:run()
    assert.equal("deadlock", got.error)
  end)

  it("delivers broadcasts afterwards", function()
    local s, heard = firm({ root = function(root) root:broadcast({ payload = "all" }) end })
    s:pause("bob")
    scene.tell(s, "root", "x")
    assert.is_nil(table.concat(heard, " "):find("bob:all", 1, true))
    s:resume("bob")
    s:run()
    assert.is_truthy(table.concat(heard, " "):find("bob:all", 1, true))
  end)
end)
