-- Broadcasts: who gets one, exactly once, in which order, and what is recorded.

local listeners = require("listeners")
local scene = require("scene")

local law, seen, troupe = listeners.law, listeners.seen, listeners.troupe

local function nothing() end

describe("broadcast", function()
  after_each(scene.close)

  it("reaches everybody except the sender, once each, and returns the count", function()
    local got, envelope
    local s = scene.troupe({
      root = function(root) got = root:broadcast({ payload = "hear" }) end,
      ann = function(_, message) envelope = message end,
      bob = nothing,
    }, { policies = { contacts = "strict" } })
    local before = scene.counts(s)
    scene.tell(s, "root")
    assert.equal(3, got.count) -- ann, bob, user
    assert.same({ got.messageId, "All", "root", "broadcast", "hear" }, {
      envelope.id, envelope.to, envelope.from, envelope.type, envelope.payload.text })
    local stored = s:messages({ type = "broadcast" })
    assert.equal(1, #stored)
    assert.same({ "All", "processed" }, { stored[1].to, stored[1].status })
    local after = scene.counts(s)
    assert.equal(before.sent + 1 + 3, after.sent)
    assert.equal(before.processed + 1 + 3, after.processed)
    assert.equal(0, after.pending)
    assert.matches("hear", s:transcript(), 1, true)
    assert.same({ "root" }, scene.contact_ids(s, "bob"))
  end)

  it("is the same as send_message to All", function()
    local s = troupe(function(root, message)
      if message.to == "root" then
        root.state.got = root:send_message({ to = "All", type = "sync", payload = "x" })
      end
    end, { "ann" })
    scene.tell(s, "root")
    assert.equal(2, s:agent("root").state.got.count)
    assert.same({ "x" }, seen(s, "ann"))
    assert.equal(1, #s:messages({ type = "sync" }))
    local sent = assert(s:send("user", { to = "All", payload = "from outside" }))
    assert.equal(2, sent.count)
    s:run()
    assert.same({ "x", "from outside" }, seen(s, "ann"))
  end)

  it("reaches agents spawned before it, even in the same turn, and none spawned after", function()
    local handled = {}
    local acts = {
      root = function(root)
        assert(root:spawn_agent("actor", scene.brief(), { id = "before" }))
        root.state.count = root:broadcast({ payload = "now" }).count
        assert(root:spawn_agent("actor", scene.brief(), { id = "after" }))
      end,
      ann = nothing,
    }
    local function note(agent) handled[#handled + 1] = agent.id end
    local s = scene.troupe(acts)
    acts.ann, acts.before, acts.after = note, note, note
    scene.tell(s, "root")
    table.sort(handled)
    assert.same({ "ann", "before" }, handled)
    assert.equal(3, s:agent("root").state.count)
  end)

  it("is queued among other messages by priority, then by age", function()
    local order = {}
    local s = scene.troupe({
      root = function(root)
        local function send(text, priority)
          root:send_message({ to = "ann", payload = text, priority = priority })
        end
        root:send_message({ to = "ann", payload = "hold" })
        send("1 normal")
        root:broadcast({ payload = "2 normal to all" })
        send("3 normal")
        root:broadcast({ payload = "4 urgent to all", priority = "urgent" })
        send("5 high", "high")
        root:broadcast({ payload = "6 low to all", priority = "low" })
        send("7 normal")
      end,
      ann = function(agent, message)
        if message.payload.text == "hold" then
          agent:sleep(100)
        else
          order[#order + 1] = message.payload.text:sub(1, 1)
        end
      end,
    })
    scene.tell(s, "root")
    assert.equal("4512376", table.concat(order))
  end)

  it("is kept for a busy agent, which can receive it", function()
    local s = scene.troupe({
      root = function(root, message)
        root:broadcast({ type = message.payload.text, payload = message.payload.text })
      end,
      ann = function(agent, message)
        if message.payload.text ~= "wait" then
          agent.state.later = message.payload.text
          return
        end
        local queued = agent:receive({ type = "early", timeout_ms = 10 })
        local came = agent:receive({ type = "later", timeout_ms = 10000 })
        agent.state.got = { queued and queued.payload.text, came and came.payload.text, came.to }
      end,
    })
    s:send("root", { to = "ann", payload = "wait" })
    s:send("user", { to = "root", payload = "early" })
    s:advance(100)
    s:send("user", { to = "root", payload = "other" })
    s:advance(100)
    s:send("user", { to = "root", payload = "later" })
    s:advance(100)
    local state = s:agent("ann").state
    assert.same({ "early", "later", "All" }, state.got)
    assert.equal("other", state.later)
    assert.equal(0, law(s))
    assert.equal(0, scene.counts(s).pending)
  end)

  it("is refused to other agents under strict, with a hint, and changes nothing", function()
    local got = {}
    local acts = {
      ann = function(ann)
        got[#got + 1] = select(2, ann:broadcast({ payload = "x" }))
        got[#got + 1] = select(2, ann:send_message({ to = "All", payload = "x" }))
      end,
    }
    local s = scene.troupe(acts, { policies = { contacts = "strict" } })
    scene.tell(s, "ann")
    for i = 1, 2 do
      assert.same({ "forbidden", "All" }, { got[i].error, got[i].to })
      assert.matches("root, user and the orchestrator", got[i].hint, 1, true)
    end
    assert.equal(0, #s:messages({ type = "broadcast" }))
    s = scene.troupe(acts,
      { policies = { contacts = "strict" }, config = { orchestrator = "ann" } })
    scene.tell(s, "ann")
    assert.equal(2, #s:messages({ type = "broadcast" }))
  end)

  it("is allowed under strict to those named by the setting broadcasters", function()
    local function shout(agent, message)
      if message.from == "user" then
        agent.state.said = select(2, agent:broadcast({ payload = "x" })) or "sent"
      end
    end
    local s = scene.troupe({ root = shout, ann = shout, bob = shout },
      { policies = { contacts = "strict" }, config = { broadcasters = { "later", "bob" } } })
    for _, id in ipairs({ "root", "ann", "bob" }) do
      scene.tell(s, id)
    end
    assert.equal("sent", s:agent("root").state.said)
    assert.equal("forbidden", s:agent("ann").state.said.error)
    assert.equal("sent", s:agent("bob").state.said)
    s:crash()
    s:recover()
    scene.tell(s, "bob")
    assert.equal(3, #s:messages({ type = "broadcast" }))
  end)

  it("takes only a list of ids as broadcasters", function()
    for _, bad in ipairs({ "ann", { "no id" }, { 1 }, { a = "ann" }, true }) do
      assert.error_matches(function()
        scene.new({ config = { broadcasters = bad } })
      end, "broadcasters")
    end
  end)

  it("cannot be a request, a task, delayed or an introduction", function()
    local errors = {}
    scene.play(function(root)
      for i, options in ipairs({
        { to = "All", payload = "x", delay_ms = 10 },
        { to = "All", type = "task", payload = { task_id = "t" } },
        { to = "All", type = "introduction_request",
          payload = { reason = "r", required_capability = "c" } },
      }) do
        errors[i] = select(2, root:send_message(options))
      end
      errors[4] = select(2, root:request({ to = "All", payload = "x" }))
    end)
    for i = 1, 4 do
      assert.same({ "invalid_argument", "All" }, { errors[i].error, errors[i].to }, i)
    end
  end)

  it("is rolled back with the turn that sent it", function()
    local s = troupe(function(root)
      root:broadcast({ payload = "never" })
      error("no")
    end, { "ann" })
    scene.tell(s, "root")
    assert.same({}, seen(s, "ann"))
    assert.equal(0, #s:messages({ type = "broadcast" }))
    assert.equal(0, law(s))
  end)
end)
