-- Terminating a child: who may, what happens to its messages, and that it is atomic.

local scene = require("scene")

local function events(s, name)
  local list = {}
  for _, row in ipairs(s:activity({ type = name })) do
    list[#list + 1] = row
  end
  return list
end

local function statuses(s)
  local by_id = {}
  for _, agent in ipairs(s:agents()) do
    by_id[agent.id] = agent.status
  end
  return by_id
end

describe("terminate", function()
  after_each(scene.close)

  -- Root runs do_it(root) when told; the actors record what they handle.
  local function troupe(do_it, acts, options)
    local seen = {}
    local all = { root = do_it }
    for id, act in pairs(acts or {}) do
      all[id] = function(agent, message)
        seen[#seen + 1] = agent.id .. " " .. tostring(message.payload.text)
        return act(agent, message)
      end
    end
    return scene.troupe(all, options), seen
  end

  local function nothing() end

  it("ends an idle child when the turn commits, and logs the reason", function()
    local answer, err
    local s = troupe(function(root)
      answer = root:terminate("ann", { reason = "no work" })
      err = select(2, root:send_message({ to = "ann", payload = "?" }))
    end, { ann = nothing })
    scene.tell(s, "root")
    assert.same({ id = "ann", status = "ending" }, answer)
    assert.equal("agent_stopped", err.error)
    assert.is_nil(statuses(s).ann)
    assert.is_nil(s:agent("ann"))
    local asked, stopped = events(s, "terminate"), events(s, "stopped")
    assert.equal(1, #asked)
    assert.equal("ann", asked[1].agent)
    assert.equal('{"by":"root","is_forced":false,"reason":"no work"}', asked[1].detail)
    assert.equal(1, #stopped)
    assert.same({ "ann", "no work" }, { stopped[1].agent, stopped[1].detail })
  end)

  it("lets the child drain its mailbox in order, and refuses new messages", function()
    local refused
    local s, seen = troupe(function(root, message)
      if message.payload.text == "end" then
        for i = 1, 3 do
          assert(root:send_message({ to = "ann", payload = "job " .. i }))
        end
        assert(root:terminate("ann"))
      else
        refused = select(2, root:send_message({ to = "ann", payload = "late" }))
      end
    end, { ann = function(agent) agent:sleep(1000) end })
    s:send("user", { to = "root", payload = "end" })
    s:advance(1500)
    assert.equal("ending", statuses(s).ann)
    s:send("user", { to = "root", payload = "late" })
    s:advance(100)
    assert.same({ error = "agent_stopped", agentId = "ann", message = refused.message }, refused)
    assert.equal("agent_stopped", select(2, s:send("user", { to = "ann", payload = "x" })).error)
    s:run()
    assert.same({ "ann job 1", "ann job 2", "ann job 3" }, seen)
    assert.is_nil(statuses(s).ann)
    assert.equal(0, #s:dead_letters())
    assert.is_true(scene.law_holds(s))
  end)

  it("waits for delayed messages until they are due", function()
    local s, seen = troupe(function(root)
      root:send_message({ to = "ann", payload = "later", delay_ms = 60000 })
      root:terminate("ann")
    end, { ann = nothing })
    s:send("user", { to = "root", payload = "go" })
    s:advance(59000)
    assert.equal("ending", statuses(s).ann)
    s:advance(2000)
    assert.same({ "ann later" }, seen)
    assert.is_nil(statuses(s).ann)
  end)

  it("also completes when the child's last message expires", function()
    local s, seen = troupe(function(root)
      root:send_message({ to = "ann", payload = "long" })
      root:send_message({ to = "ann", payload = "stale", ttl_seconds = 1 })
      root:send_message({ to = "ann", payload = "too late", ttl_seconds = 2, delay_ms = 5000 })
      root:terminate("ann")
    end, { ann = function(agent) agent:sleep(3000) end })
    scene.tell(s, "root")
    assert.same({ "ann long" }, seen)
    assert.is_nil(statuses(s).ann)
    assert.equal(2, scene.counts(s).expired)
    assert.is_true(scene.law_holds(s))
  end)

  it("by force drops the activation and makes dead letters of all messages", function()
    local answer
    local s, seen = troupe(function(root, message)
      if message.payload.text == "force" then
        root:send_message({ to = "ann", payload = "with the turn" })
        answer = root:terminate("ann", { force = true, reason = "enough" })
      end
    end, { ann = function(agent) agent:sleep(1000000) end })
    for _, text in ipairs({ "first", "second" }) do
      s:send("user", { to = "ann", payload = text })
    end
    s:send("user", { to = "ann", payload = "not due", delay_ms = 500000 })
    s:advance(10)
    s:send("user", { to = "root", payload = "force" })
    s:advance(10)
    assert.same({ id = "ann", status = "stopped" }, answer)
    assert.same({ "ann first" }, seen)
    assert.is_nil(statuses(s).ann)
    local texts = {}
    for _, letter in ipairs(s:dead_letters()) do
      assert.equal("agent_stopped", letter.reason)
      texts[letter.payload.text] = true
    end
    assert.same({ first = true, second = true, ["not due"] = true, ["with the turn"] = true },
      texts)
    assert.same({}, s:waits())
    assert.equal(0, scene.counts(s).pending)
    assert.is_true(scene.law_holds(s))
    s:run()
    assert.equal("agent_stopped", s:dead_letters()[1].reason)
  end)

  it("by force overrides draining, and keeps the reason", function()
    local answers = {}
    local s = troupe(function(root, message)
      answers[#answers + 1] = root:terminate("ann", { force = message.payload.force,
        reason = message.payload.reason }).status
    end, { ann = function(agent) agent:sleep(1000000) end })
    s:send("user", { to = "ann", payload = "work" })
    s:advance(1)
    s:send("user", { to = "root", payload = { text = "", reason = "tired", force = false } })
    s:send("user", { to = "root", payload = { text = "", force = false } })
    s:advance(1)
    assert.equal("ending", statuses(s).ann)
    s:send("user", { to = "root", payload = { text = "", force = true } })
    s:advance(1)
    assert.same({ "ending", "ending", "stopped" }, answers)
    assert.is_nil(statuses(s).ann)
    assert.equal("tired", events(s, "stopped")[1].detail)
    assert.equal(2, #events(s, "terminate"))
  end)

  it("fails requests the child has not answered", function()
    local errors = {}
    local function ask(agent)
      local _, err = agent:request({ to = "ann", payload = agent.id, timeout_ms = 900000 })
      errors[agent.id] = err.error .. " " .. err.reason.error
    end
    local s = troupe(function(root)
      root:terminate("ann", { force = true })
    end, { ann = function(agent) agent:sleep(1000000) end, bob = ask, cyd = ask })
    s:send("user", { to = "bob", payload = "go" })
    s:advance(1)
    s:send("user", { to = "cyd", payload = "go" })
    s:advance(1)
    scene.tell(s, "root")
    assert.same({ bob = "receiver_failed agent_stopped", cyd = "receiver_failed agent_stopped" },
      errors)
  end)

  it("fails requests that a terminated child still owed a reply", function()
    local err
    local s = troupe(function(root) root:terminate("ann") end, {
      ann = nothing, -- it handles the request and would reply later
      bob = function(agent)
        err = select(2, agent:request({ to = "ann", payload = "?", timeout_ms = 900000 }))
      end,
    })
    s:send("user", { to = "bob", payload = "go" })
    s:advance(10)
    assert.is_nil(err)
    s:send("user", { to = "root", payload = "go" })
    s:advance(10)
    assert.equal("receiver_failed", err.error)
  end)

  it("is reserved to the parent, and refused for user and root", function()
    local errors = {}
    local function try(agent, id, options)
      errors[#errors + 1] = select(2, agent:terminate(id, options)).error
    end
    local s = troupe(function(root)
      for _, id in ipairs({ "root", "user", "nobody", "orchestrator" }) do
        try(root, id)
      end
      root:terminate("cyd", { force = true })
    end, {
      ann = function(agent)
        for _, id in ipairs({ "bob", "ann", "root" }) do
          try(agent, id, { force = true })
        end
      end,
      bob = nothing, cyd = nothing,
    })
    scene.tell(s, "root")
    scene.tell(s, "ann")
    assert.same({ "forbidden", "forbidden", "agent_not_found", "agent_not_found", "forbidden",
      "forbidden", "forbidden" }, errors)
    assert.same({ ann = "idle", bob = "idle", root = "idle", user = "idle" }, statuses(s))
  end)

  it("finds an ended child stopped, also after a restart", function()
    local errors = {}
    local s = troupe(function(root)
      local _, err = root:terminate("ann")
      errors[#errors + 1] = err and err.error or "ok"
    end, { ann = nothing })
    scene.tell(s, "root")
    scene.tell(s, "root")
    s:crash()
    s:recover()
    scene.tell(s, "root")
    assert.same({ "ok", "agent_stopped", "agent_stopped" }, errors)
    assert.equal("agent_stopped", select(2, s:send("user", { to = "ann", payload = "x" })).error)
  end)

  it("ends nobody if its turn raises", function()
    local tries = 0
    local s, seen = troupe(function(root)
      tries = tries + 1
      assert(root:spawn_agent("actor", scene.brief(), { id = "eva" }))
      assert(root:terminate("ann", { force = true, reason = "x" }))
      assert(root:terminate("bob"))
      assert(root:terminate("eva"))
      error("no, do not")
    end, { ann = nothing, bob = nothing }, {
      policies = { contacts = "open" },
    })
    scene.tell(s, "root")
    assert.equal(4, tries)
    assert.same({ ann = "idle", bob = "idle", root = "idle", user = "idle" }, statuses(s))
    assert.same({}, events(s, "terminate"))
    scene.tell(s, "ann", "still there")
    assert.same({ "ann still there" }, seen)
  end)

  it("happens once, although its activation is rerun after a crash", function()
    local answers = {}
    local s = troupe(function(root)
      answers[#answers + 1] = root:terminate("ann", { force = true }).status
      root:sleep(1000)
      answers[#answers + 1] = select(2, root:terminate("ann")).error
    end, { ann = nothing })
    s:send("user", { to = "root", payload = "go" })
    s:advance(10)
    s:crash()
    s:recover()
    s:run()
    assert.same({ "stopped", "stopped", "agent_stopped" }, answers)
    assert.equal(1, #events(s, "terminate"))
    assert.equal(1, #events(s, "stopped"))
    assert.same({}, s:dead_letters())
  end)

  it("raises on bad options", function()
    local function raised(options)
      return scene.raised(function(root) root:terminate("x", options) end)
    end
    assert.matches("unknown option 'forced'", raised({ forced = true }), 1, true)
    assert.matches("'force' must be true or false", raised({ force = 1 }), 1, true)
    assert.matches("'reason' must be a string", raised({ reason = {} }), 1, true)
    assert.matches("at most 1024 bytes", raised({ reason = ("x"):rep(1025) }), 1, true)
  end)
end)
