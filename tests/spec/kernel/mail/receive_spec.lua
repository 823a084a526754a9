-- receive takes messages out of turn, while another message is being handled.
--
-- Covers: core/kernel/turns/schedule.c, core/script/bindings/bind_mail.c

local scene = require("scene")

describe("receive", function()
  after_each(scene.close)

  local function actor_a(act, acts)
    local results
    acts = acts or {}
    acts.a = function(a, message)
      if message.type == "go" then
        results = table.pack(act(a, message))
      else
        acts.handled = (acts.handled or 0) + 1
      end
    end
    acts.b = acts.b or function() end
    local handled = acts.handled
    acts.handled = nil
    local s = scene.troupe(acts)
    acts.handled = handled
    return s, function() return table.unpack(results or {}) end, acts
  end

  it("takes a message that is waiting in the mailbox", function()
    local s, results, acts = actor_a(function(a)
      a:sleep(10)
      return a:receive()
    end)
    assert(s:send("user", { to = "a", type = "go", payload = "x" }))
    s:advance(0)
    assert(s:send("b", { to = "a", payload = "queued" }))
    s:run()
    assert.equal("queued", results().payload.text)
    assert.is_nil(acts.handled)
    assert.equal(0, s:stats().pending)
  end)

  it("shows whether the sender waits for a reply", function()
    for _, ms in ipairs({ 0, 10 }) do
      local asked, plain, answer
      local s = actor_a(function(a)
        a:sleep(ms)
        asked = a:receive()
        a:reply(asked, "yes")
        plain = a:receive()
      end, { b = function(b)
        answer = b:request({ to = "a", payload = "?" })
        b:send_message({ to = "a", payload = "thanks" })
      end })
      assert(s:send("user", { to = "a", type = "go", payload = "x" }))
      s:advance(0)
      scene.tell(s, "b")
      assert.is_true(asked.wants_reply, ms .. " ms")
      assert.same({ "thanks", nil }, { plain.payload.text, plain.wants_reply })
      assert.same({ "yes", nil }, { answer.payload.text, answer.wants_reply })
      scene.close()
    end
  end)

  it("waits for a message that comes later", function()
    local s, results = actor_a(function(a) return a:receive() end)
    scene.tell(s, "a", "x", "go")
    assert.is_nil(results())
    assert.equal("blocked_internal", s:agent("a").status)
    assert(s:send("b", { to = "a", payload = "later" }))
    s:run()
    assert.equal("later", results().payload.text)
  end)

  it("takes the most urgent match, then the oldest", function()
    local order = {}
    local s = actor_a(function(a)
      a:sleep(10)
      for _ = 1, 3 do
        order[#order + 1] = a:receive().payload.text
      end
    end)
    assert(s:send("user", { to = "a", type = "go", payload = "x" }))
    s:advance(0)
    assert(s:send("b", { to = "a", payload = "1" }))
    assert(s:send("b", { to = "a", payload = "2" }))
    assert(s:send("b", { to = "a", payload = "3", priority = "high" }))
    s:run()
    assert.same({ "3", "1", "2" }, order)
  end)

  it("filters by sender and type, and leaves the rest in order", function()
    local got, order = {}, {}
    local s = scene.troupe({
      a = function(a, message)
        if message.type == "go" then
          a:sleep(10)
          got[1] = a:receive({ from = "b" }).payload.text
          got[2] = a:receive({ type = "news" }).payload.text
          got[3] = a:receive({ from = "c", type = "news" }).payload.text
        else
          order[#order + 1] = message.payload.text
        end
      end,
      b = function() end,
      c = function() end,
    })
    assert(s:send("user", { to = "a", type = "go", payload = "x" }))
    s:advance(0)
    assert(s:send("c", { to = "a", payload = "c general" }))
    assert(s:send("user", { to = "a", payload = "user news", type = "news" }))
    assert(s:send("c", { to = "a", payload = "c news", type = "news" }))
    assert(s:send("b", { to = "a", payload = "b first" }))
    assert(s:send("b", { to = "a", payload = "b second" }))
    s:run()
    assert.same({ "b first", "user news", "c news" }, got)
    assert.same({ "c general", "b second" }, order)
  end)

  it("leaves messages that do not match in the mailbox", function()
    local s, results, acts = actor_a(function(a) return a:receive({ from = "b" }) end)
    scene.tell(s, "a", "x", "go")
    assert(s:send("root", { to = "a", payload = "other" }))
    s:run()
    assert.is_nil(results())
    assert.equal(1, s:agent("a").queue_length)
    assert(s:send("b", { to = "a", payload = "fits" }))
    s:run()
    assert.equal("fits", results().payload.text)
    assert.equal(1, acts.handled)
  end)

  it("times out at the very millisecond", function()
    local took
    local s, results = actor_a(function(a)
      local start = a:now()
      local message, err = a:receive({ from = "b", timeout_ms = 75 })
      took = a:now() - start
      return message, err
    end)
    scene.tell(s, "a", "x", "go")
    local message, err = results()
    assert.is_nil(message)
    assert.equal("timeout", err.error)
    assert.equal(75, err.timeout_ms)
    assert.equal(75, took)
  end)

  it("from an unknown agent is refused; unknown options raise", function()
    local s, results = actor_a(function(a)
      local _, err = a:receive({ from = "nobody" })
      local _, raised = pcall(a.receive, a, { sender = "b" })
      return err, raised
    end)
    scene.tell(s, "a", "x", "go")
    local err, raised = results()
    assert.equal("agent_not_found", err.error)
    assert.matches("unknown option 'sender'", raised, 1, true)
  end)

  it("from oneself is refused as a deadlock if no queued message matches", function()
    local s, results = actor_a(function(a) return a:receive({ from = "a", timeout_ms = 50 }) end)
    scene.tell(s, "a", "x", "go")
    local _, err = results()
    assert.equal("deadlock", err.error)
    assert.same({ "a" }, err.cycle)
  end)

  it("takes a queued message to oneself", function()
    local s, results = actor_a(function(a)
      a:send_message({ to = "a", payload = "note" })
      a:sleep(1)
      return a:receive({ from = "a" })
    end)
    scene.tell(s, "a", "x", "go")
    assert.equal("note", results().payload.text)
  end)

  it("allows a reply to the message it took", function()
    local answer
    local s = scene.troupe({
      a = function(a)
        local question = a:receive({ from = "b" })
        a:reply(question, "to the taken one")
      end,
      b = function(b) answer = b:request({ to = "a", payload = "q" }) end,
    })
    scene.tell(s, "a")
    scene.tell(s, "b")
    assert.equal("to the taken one", answer.payload.text)
  end)

  it("puts the message back in its place if the turn fails", function()
    local order, fails = {}, true
    local s = scene.troupe({
      a = function(a, message)
        if message.type ~= "go" then
          order[#order + 1] = message.payload.text
          return
        end
        a:sleep(10)
        a:receive({ type = "second" })
        if fails then
          fails = false
          assert(a:receive({ type = "third" }))
          error("after taking")
        end
      end,
      b = function() end,
    })
    assert(s:send("user", { to = "a", type = "go", payload = "x" }))
    s:advance(0)
    for _, name in ipairs({ "first", "second", "third" }) do
      assert(s:send("b", { to = "a", payload = name, type = name }))
    end
    s:advance(10)
    assert.equal(3, s:agent("a").queue_length)
    s:run()
    assert.same({ "first", "third" }, order)
    assert.equal(5, s:stats().processed)
    assert.equal(0, s:stats().pending)
  end)

  it("loses the taken message with an activation that dies", function()
    local s = scene.troupe({
      a = function(a)
        a:receive({ from = "b" })
        a:sleep(1)
        error("for good")
      end,
      b = function() end,
    })
    scene.tell(s, "a")
    assert(s:send("b", { to = "a", payload = "taken" }))
    s:run()
    assert.equal(2, s:stats().dead)
    assert.equal(2, #s:dead_letters())
  end)

  it("consumes a taken message once, also across a crash", function()
    local taken = {}
    local s = scene.troupe({
      a = function(a, message)
        if message.from == "user" then
          local first = a:receive({ from = "b" })
          a:sleep(50)
          taken[#taken + 1] = first.payload.text
        else
          taken[#taken + 1] = "handled by itself"
        end
      end,
      b = function() end,
    })
    scene.tell(s, "a")
    assert(s:send("b", { to = "a", payload = "once" }))
    s:advance(10)
    s:crash()
    s:recover()
    s:run()
    assert.same({ "once" }, taken)
    assert.equal(3, s:stats().processed)
  end)

  it("in main takes the user's messages; the others are shown", function()
    local s = scene.new({ app = scene.app([[
      local society = require("society")
      society.root(function(root, message)
        root:send_message{ to = "user", payload = "noise" }
        root:sleep(5)
        root:send_message{ to = "user", type = "result", payload = "wanted" }
      end)
      society.main(function(user)
        user:send_message{ to = "root", payload = "go" }
        print("got " .. user:receive{ type = "result" }.payload.text)
      end)
    ]]) })
    s:run()
    local transcript = s:transcript()
    assert.matches("print user: got wanted", transcript, 1, true)
    assert.equal(1, scene.count(transcript, " shown "))
    assert.matches('shown root: {"text":"noise"}', transcript, 1, true)
    assert.equal(0, s:stats().pending)
  end)
end)
