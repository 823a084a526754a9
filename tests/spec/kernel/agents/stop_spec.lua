-- Agents that stop themselves: what still reaches them, and that a crash in any phase
-- changes nothing.
--
-- Covers: core/kernel/turns/handling.c

local scene = require("scene")

local function nothing() end

local function statuses(s)
  local by_id = {}
  for _, agent in ipairs(s:agents()) do
    by_id[agent.id] = agent.status
  end
  return by_id
end

describe("stop", function()
  after_each(scene.close)

  it("terminates the agent after the current activation and its queued messages", function()
    local seen, answer = {}, nil
    local s = scene.troupe({
      ann = function(agent, message)
        seen[#seen + 1] = message.payload.text
        if message.payload.text == "stop" then
          answer = agent:stop({ reason = "done" })
          agent:sleep(1000)
          seen[#seen + 1] = "slept"
        end
      end,
    })
    for _, text in ipairs({ "stop", "a", "b" }) do
      s:send("user", { to = "ann", payload = text })
    end
    s:run()
    assert.same({ id = "ann", status = "ending" }, answer)
    assert.same({ "stop", "slept", "a", "b" }, seen)
    assert.is_nil(statuses(s).ann)
    local row = s:activity({ type = "stop" })[1]
    assert.same({ "ann", '{"by":"ann","is_forced":false,"reason":"done"}' },
      { row.agent, row.detail })
    assert.equal("done", s:activity({ type = "stopped" })[1].detail)
  end)

  it("is not available to user and root", function()
    local _, err = scene.play(function(root) return root:stop() end)
    assert.equal("forbidden", err.error)
  end)

  it("is rolled back with a turn that raises", function()
    local s = scene.troupe({ ann = function(agent)
      agent:stop()
      error("not now")
    end })
    scene.tell(s, "ann")
    assert.equal("idle", statuses(s).ann)
    assert.same({}, s:activity({ type = "stop" }))
  end)

  it("shows in the agent's status and stops it from writing to itself", function()
    local status, err
    local s = scene.troupe({ ann = function(agent)
      agent:stop()
      status = agent.status
      err = select(2, agent:send_message({ to = "ann", payload = "again" }))
    end })
    scene.tell(s, "ann")
    assert.equal("ending", status)
    assert.equal("agent_stopped", err.error)
  end)
end)

describe("an agent that is terminating", function()
  after_each(scene.close)

  it("receives replies it waits for, and can write to others", function()
    local got, refused
    local s = scene.troupe({
      root = nothing,
      ann = function(agent)
        agent:stop()
        got = agent:request({ to = "bob", payload = "?" }).payload.text
        assert(agent:send_message({ to = "root", payload = "good bye" }))
      end,
      bob = function(agent, message)
        agent:sleep(500)
        refused = select(2, agent:send_message({ to = "ann", payload = "more" })).error
        agent:reply(message, "yes")
      end,
    })
    scene.tell(s, "ann")
    assert.same({ "yes", "agent_stopped" }, { got, refused })
    assert.is_nil(statuses(s).ann)
    assert.equal("processed", scene.message(s, {}, { from = "ann", to = "root" }).status)
  end)

  it("receives no reply it does not wait for", function()
    local errors = {}
    local s = scene.troupe({
      ann = function(agent)
        agent:send_message({ to = "bob", payload = "by the way" })
        agent:stop()
        agent:sleep(1000)
      end,
      bob = function(agent, message)
        errors[#errors + 1] = select(2, agent:reply(message, "thanks")).error
      end,
    })
    scene.tell(s, "ann")
    assert.same({ "agent_stopped" }, errors)
    assert.is_nil(statuses(s).ann)
  end)

  it("does not wait for messages that can never come", function()
    local results = {}
    local s = scene.troupe({ ann = function(agent, message)
      if message.payload.text ~= "first" then
        return
      end
      agent:stop()
      results[1] = agent:receive({ type = "detail" }).payload.text
      results[2] = select(2, agent:receive({ type = "detail" })).error
    end })
    s:send("user", { to = "ann", payload = "first" })
    s:send("user", { to = "ann", payload = "delayed", type = "detail", delay_ms = 700 })
    s:run()
    assert.same({ "delayed", "agent_stopped" }, results)
    assert.is_nil(statuses(s).ann)
  end)

  it("wakes from a receive when it is told to terminate", function()
    local err
    local s = scene.troupe({
      root = function(root) root:terminate("ann") end,
      ann = function(agent) err = select(2, agent:receive()) end,
    })
    s:send("user", { to = "ann", payload = "go" })
    s:run()
    scene.tell(s, "root")
    assert.equal("agent_stopped", err.error)
    assert.is_nil(statuses(s).ann)
  end)

  it("terminates even if its turn fails for good", function()
    local s = scene.troupe({ ann = function(agent, message)
      if message.payload.text == "stop" then
        agent:stop()
        return
      end
      error("cannot")
    end })
    s:send("user", { to = "ann", payload = "stop" })
    s:send("user", { to = "ann", payload = "hard" })
    s:run()
    assert.is_nil(statuses(s).ann)
    assert.equal("script_error", s:dead_letters()[1].reason)
  end)

  it("continues terminating after a crash, with its queue, and stays terminated", function()
    local seen = {}
    local s = scene.troupe({
      root = function(root, message)
        if message.payload.text == "end" then
          root:terminate("ann", { reason = "late hour" })
        end
      end,
      ann = function(agent, message)
        agent:sleep(1000)
        seen[#seen + 1] = message.payload.text
      end,
    })
    local function again()
      s:crash()
      s:recover()
    end
    for _, text in ipairs({ "a", "b" }) do
      s:send("user", { to = "ann", payload = text })
    end
    s:send("user", { to = "ann", payload = "c", delay_ms = 10000 })
    s:advance(1)
    s:send("user", { to = "root", payload = "end" })
    s:advance(1)
    for _ = 1, 14 do
      again()
      assert.equal(#seen < 3 and "ending" or nil, statuses(s).ann)
      assert.equal("agent_stopped", select(2, s:send("user", { to = "ann", payload = "x" })).error)
      assert.is_true(scene.law_holds(s))
      s:advance(1000)
    end
    assert.same({ "a", "b", "c" }, seen)
    assert.is_nil(statuses(s).ann)
    assert.equal(1, #s:activity({ type = "stopped" }))
    assert.equal("late hour", s:activity({ type = "stopped" })[1].detail)
  end)

  it("stays a contact, marked as ended, and can be removed", function()
    local seen = {}
    local function look(agent)
      local contact = agent:contact("ann")
      seen[#seen + 1] = {
        contact and contact.role, agent:knows("ann").inRegistry, agent:can_send("ann").error,
        select(2, agent:send_message({ to = "ann", payload = "x" })).error,
      }
    end
    local s = scene.troupe({
      root = function(root) root:terminate("ann", { force = true }) end,
      ann = function(agent) agent:send_message({ to = "bob", payload = "hello" }) end,
      bob = function(agent, message)
        if message.from ~= "user" then
          return
        end
        look(agent)
        if message.payload.text == "forget" then
          assert(agent:remove_contact("ann"))
        end
      end,
    })
    scene.tell(s, "ann")
    scene.tell(s, "root")
    scene.tell(s, "bob")
    s:crash()
    s:recover()
    scene.tell(s, "bob", "forget")
    scene.tell(s, "bob")
    local known = { "演员", true, "agent_stopped", "agent_stopped" }
    assert.same({ known, known, { nil, false, "agent_stopped", "agent_stopped" } }, seen)
    for _, contact in ipairs(s:contacts("root")) do
      assert.not_equal("ann", contact.id) -- its parent has removed it
    end
  end)

  it("never gives its id to another, even after a restart", function()
    local errors = {}
    local s = scene.troupe({
      root = function(root, message)
        if message.payload.text == "end" then
          root:terminate("ann")
        else
          errors[#errors + 1] = select(2, root:spawn_agent("actor", scene.brief(),
            { id = "ann" })).error
        end
      end,
      ann = nothing,
    })
    scene.tell(s, "root", "end")
    scene.tell(s, "root", "again")
    s:crash()
    s:recover()
    scene.tell(s, "root", "again")
    assert.same({ "already_exists", "already_exists" }, errors)
  end)

  it("is not redelivered its dead letters", function()
    local s = scene.troupe({
      root = function(root) root:terminate("ann", { force = true }) end,
      ann = function(agent) agent:sleep(100000) end,
    })
    s:send("user", { to = "ann", payload = "go" })
    s:advance(1)
    scene.tell(s, "root")
    local letter = s:dead_letters()[1]
    local _, err = s:redeliver(letter.id)
    assert.equal("agent_stopped", err.error)
    s:run()
    local kept = s:dead_letters()[1]
    assert.same({ letter.id, 1, "agent_stopped" }, { kept.id, kept.attempt, kept.reason })
    assert.is_true(s:drop(letter.id))
    assert.is_true(scene.law_holds(s))
  end)
end)
