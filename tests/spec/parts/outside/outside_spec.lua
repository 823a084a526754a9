-- Outside agents: their messages go to a door, and what they say comes in through it.
--
-- Covers: core/world/world_outside.c

local outpost = require("outpost")
local scene = require("scene")

describe("an outside agent", function()
  after_each(scene.close)

  it("is handed its messages, which are then processed unless they require an ack", function()
    local s = outpost.new({ "w" })
    assert(s:send("root", { to = "w", payload = "hello" }))
    s:run()
    local out = s:outside("w")
    assert.equal(1, #out)
    assert.equal("hello", out[1].payload.text)
    assert.equal("root", out[1].from)
    assert.equal(1, out[1].attempt)
    assert.equal(0, scene.counts(s).pending)
    outpost.assign(s, "w", "t1")
    assert.equal(2, #s:outside("w"))
    assert.is_true(s:outside("w")[2].requires_ack)
    assert.equal(1, scene.counts(s).pending)
    assert.equal("working", s:agent("w").status)
    assert.is_true(s:agent("w").external)
    assert.is_true(scene.law_holds(s))
  end)

  it("is declared by its spawn, and by nothing else", function()
    local err = scene.raised(function(root)
      root:spawn_agent("actor", scene.brief(), { id = "x", behaviour = "llm" })
    end)
    assert.matches("'behaviour' can only be \"external\"", err, 1, true)
  end)

  it("stays outside after a restart, however it was declared", function()
    local s = scene.troupe({
      root = function(root)
        assert(root:create_role({ id = "made", name = "made", behaviour = "external" }))
        assert(root:spawn_agent("made", scene.brief(), { id = "m" }))
        assert(root:spawn_agent("actor", scene.brief(), { id = "x", behaviour = "external" }))
      end,
    }, { store = scene.folder() })
    scene.tell(s, "root")
    s:dump()
    for _ = 1, 2 do
      s:crash()
      s:recover()
      assert(s:send("user", { to = "m", payload = "hi" }))
      assert(s:send("user", { to = "x", payload = "hi" }))
      s:run()
    end
    assert.equal(2, #s:outside("m"))
    assert.equal(2, #s:outside("x"))
    assert.equal(0, scene.counts(s).pending)
  end)

  it("gets a batch by priority, and each priority in order", function()
    local s = outpost.new({ "w" }, {
      root = function(root)
        for i, priority in ipairs({ "low", "normal", "urgent", "normal", "high", "urgent" }) do
          root:send_message({ to = "w", payload = tostring(i), priority = priority })
        end
      end,
    })
    scene.tell(s, "root")
    local texts = {}
    for i, message in ipairs(s:outside("w")) do
      texts[i] = message.payload.text
    end
    assert.equal("3 6 5 2 4 1", table.concat(texts, " "))
  end)

  it("gets nothing from a turn that is rolled back", function()
    local s = outpost.new({ "w" }, {
      root = function(root)
        root:send_message({ to = "w", payload = "lost" })
        error("boom")
      end,
    })
    scene.tell(s, "root")
    assert.same({}, s:outside("w"))
  end)

  it("gets delayed messages when they are due, and none that has expired", function()
    local s = outpost.new({ "w" })
    local start = s:now()
    assert(s:send("root", { to = "w", payload = "later", delay_ms = 3000 }))
    assert(s:send("root", { to = "w", payload = "never", delay_ms = 3000, ttl_seconds = 2 }))
    s:run()
    assert.same({ "1@3000" }, outpost.times(s, "w", start))
    assert.equal("expired", s:dead_letters()[1].status)
  end)

  it("sends through the same router as everyone, whatever name it gives", function()
    local s, heard = outpost.new({ "w", "v" })
    assert(s:outside_send("w", { payload = "to nobody in particular", from = "root" }))
    s:run()
    assert.equal("w", heard[1].from)
    local _, err = s:outside_send("w", { to = "v", payload = "hi" })
    assert.equal("unknown_contact", err.error)
    _, err = s:outside_send("w", { type = "task_complete", payload = { text = "no task" } })
    assert.equal("invalid_message_format", err.error)
    _, err = s:outside_send("w", { to = "ghost", payload = "hi" })
    assert.equal("agent_not_found", err.error)
    for _, id in ipairs({ "root", "user", "ghost" }) do
      _, err = s:outside_send(id, { payload = "hi" })
      assert.equal("agent_not_found", err.error)
    end
    local refused = 0
    for _, entry in ipairs(s:activity({ agent = "w" })) do
      refused = refused + (entry.event == "outside_refused" and 1 or 0)
    end
    assert.equal(3, refused)
  end)

  it("is heard once under an id of its own, across a crash", function()
    local s, heard = outpost.new({ "w" })
    local first = assert(s:outside_send("w", { payload = "1", external_id = "mine-1" }))
    local second = assert(s:outside_send("w", { payload = "1", external_id = "mine-1" }))
    s:crash()
    s:recover()
    local third = assert(s:outside_send("w", { payload = "1", external_id = "mine-1" }))
    s:run()
    assert.equal(first.messageId, second.messageId)
    assert.equal(first.messageId, third.messageId)
    assert.equal(1, #heard)
    assert.equal("mine-1", heard[1].external_id)
  end)

  it("has its read position stored with what it sent, or alone when that is refused", function()
    local s = outpost.new({ "w" })
    assert.is_nil(s:position("w.out"))
    assert(s:outside_send("w", { payload = "1", position = { name = "w.out", value = "10" } }))
    assert.equal("10", s:position("w.out"))
    s:crash()
    s:recover()
    assert.equal("10", s:position("w.out"))
    assert.is_nil((s:outside_send("w", { to = "ghost", payload = "2",
      position = { name = "w.out", value = "20" } })))
    s:dump()
    s:crash()
    s:recover()
    assert.equal("20", s:position("w.out"))
  end)

  it("replies to requests by id, correlation id or query_id", function()
    local answers = {}
    local s = outpost.new({ "w" }, {
      root = function(root, message)
        local answer, err = root:request({ to = "w", type = message.payload.kind,
          payload = { query = "?", text = "?" }, timeout_ms = 1000 })
        answers[#answers + 1] = answer and answer.payload or err
      end,
    })
    local function ask(kind)
      assert(s:send("user", { to = "root", payload = { kind = kind } }))
      s:advance(10)
      local out = s:outside("w")
      return out[#out]
    end
    local question = ask("general")
    assert(s:outside_send("w", { reply_to = question.id, payload = { text = "one" } }))
    s:run()
    question = ask("general")
    assert(s:outside_send("w", { reply_to = question.correlation_id, payload = { text = "two" } }))
    s:run()
    question = ask("query")
    assert(s:outside_send("w", { to = "root", type = "response",
      payload = { query_id = question.id, answer = "three" } }))
    s:run()
    assert.equal("one", answers[1].text)
    assert.equal("two", answers[2].text)
    assert.equal("three", answers[3].answer)
    ask("general")
    s:run()
    assert.equal("timeout", answers[4].error)
    assert.equal(0, scene.counts(s).pending)
  end)

  it("answers checkpoints, which counts as an ack", function()
    local result
    local s = outpost.new({ "w", "v" }, {
      root = function(root)
        result = root:checkpoint({ payload = { text = "?" }, timeout_ms = 60000 })
      end,
    })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(10)
    local asked = s:outside("w")[1]
    assert.equal("checkpoint_request", asked.type)
    assert(s:outside_send("w", { type = "checkpoint_response",
      payload = { checkpoint_id = asked.payload.checkpoint_id, done = 3 } }))
    s:advance(4000)
    assert.equal(1, #s:outside("w"))
    assert(s:outside_send("v", { reply_to = s:outside("v")[1].id, payload = { done = 4 } }))
    s:advance(1)
    assert.equal(3, result.responses.w.done)
    assert.equal(4, result.responses.v.done)
    assert.equal(0, scene.counts(s).pending)
  end)

  it("is given tasks, and completes them by a message", function()
    local s, heard = outpost.new({ "w" })
    local id = outpost.assign(s, "w", "t1")
    assert.equal("processing", s:tasks()[1].state)
    assert(s:ack("w", id))
    assert(s:outside_send("w", { type = "progress_update", payload = { text = "half" } }))
    assert(s:outside_send("w", { type = "task_complete", payload = { task_id = "t1" } }))
    s:run()
    assert.equal("completed", s:tasks()[1].state)
    assert.equal("task_complete", heard[2].type)
    assert.equal(0, scene.counts(s).pending)
    assert.is_true(scene.law_holds(s))
  end)

  it("is notified of a cancelled task by an abort that requires an ack", function()
    local s = outpost.new({ "w" }, {
      root = function(root) root:cancel("t1", "no need") end,
    })
    outpost.assign(s, "w", "t1")
    scene.tell(s, "root")
    local out = s:outside("w")
    assert.equal("abort", out[2].type)
    assert.equal("t1", out[2].payload.task_id)
    assert.is_true(out[2].requires_ack)
    assert.equal("cancelled", s:tasks()[1].state)
    assert(s:ack("w", out[2].id, "processed"))
    assert.equal(0, scene.counts(s).pending)
  end)

  it("reads a broadcast once, without a ladder", function()
    local s = outpost.new({ "w", "v" }, {
      root = function(root) root:broadcast({ payload = "all", requires_ack = true }) end,
    })
    scene.tell(s, "root")
    s:advance(20000)
    for _, id in ipairs({ "w", "v" }) do
      local out = s:outside(id)
      assert.equal(1, #out)
      assert.is_true(out[1].broadcast)
    end
    assert.equal("idle", s:agent("w").status)
    s:crash()
    s:recover()
    s:run()
    assert.equal(1, #s:outside("w"))
    assert.equal(0, scene.counts(s).pending)
  end)

  it("terminates when it has finished what it was handed; by force immediately", function()
    local s = outpost.new({ "w", "v" }, {
      root = function(root)
        root:terminate("w")
        root:terminate("v", { force = true })
      end,
    })
    local id = outpost.assign(s, "w", "t1")
    outpost.assign(s, "v", "t2")
    scene.tell(s, "root")
    assert.equal("ending", s:agent("w").status)
    assert.is_nil(s:agent("v"))
    assert.equal(1, #s:dead_letters())
    assert(s:ack("w", id, "processed"))
    s:run()
    assert.is_nil(s:agent("w"))
    local _, err = s:heartbeat("w")
    assert.equal("agent_not_found", err.error)
    assert.is_true(scene.law_holds(s))
  end)
end)

describe("a paused outside agent", function()
  after_each(scene.close)

  it("gets nothing until it is resumed, also across a crash", function()
    local s = outpost.new({ "w" })
    assert(s:pause("w"))
    outpost.assign(s, "w", "t1")
    assert.equal("paused", s:agent("w").status)
    assert.same({}, s:outside("w"))
    s:crash()
    s:recover()
    s:run()
    outpost.assign(s, "w", "t2")
    assert.same({}, s:outside("w"))
    assert(s:resume("w"))
    s:run()
    local out = s:outside("w")
    assert.equal(2, #out)
    assert.equal("t1", out[1].payload.task_id)
    assert.equal("t2", out[2].payload.task_id)
    assert.is_true(scene.law_holds(s))
  end)
end)
