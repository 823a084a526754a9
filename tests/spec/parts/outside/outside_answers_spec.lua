-- What outside agents say: where replies go, even late ones, and what is refused for now.
--
-- Covers: core/parts/outside/outside_in.c

local outpost = require("outpost")
local scene = require("scene")

describe("an outside agent", function()
  after_each(scene.close)

  it("finds the reply to its own request by the correlation id it set", function()
    local s = outpost.new({ "w" }, {
      root = function(root, message)
        if message.from == "w" then
          root:reply(message, "seven")
        end
      end,
    })
    local asked = assert(s:outside_send("w", { external_id = "a-6", correlation_id = "a-6",
      to = "root", payload = "how many?" }))
    s:run()
    local answer = s:outside("w")[1]
    assert.same({ "seven", "a-6", asked.messageId },
      { answer.payload.text, answer.correlation_id, answer.reply_to })
  end)

  it("has a late reply logged and dropped, and nobody reads it", function()
    local got
    local s, heard = outpost.new({ "w" }, {
      root = function(root) root:spawn_agent("clerk", scene.brief(), { id = "c" }) end,
      clerk = function(clerk)
        local _, err = clerk:request({ to = "w", payload = "?", timeout_ms = 1000 })
        got = err.error
      end,
    }, { policies = { contacts = "open" } })
    scene.tell(s, "root")
    scene.tell(s, "c")
    s:advance(1000)
    assert.equal("timeout", got)
    local before, question = #heard, s:outside("w")[1]
    for _, answers in ipairs({ question.id, question.correlation_id }) do
      local _, err = s:outside_send("w", { reply_to = answers, payload = { text = "too late" },
        position = { name = "w.out", value = answers } })
      assert.equal("message_not_found", err.error)
      assert.equal(answers, s:position("w.out"))
    end
    local _, err = s:outside_send("w", { to = "c", reply_to = question.id, payload = "late" })
    assert.equal("message_not_found", err.error)
    s:run()
    assert.equal(before, #heard)
    local late = {}
    for _, entry in ipairs(s:activity({ agent = "w" })) do
      late[#late + 1] = entry.event == "late_reply" and entry.event or nil
    end
    assert.equal(3, #late)
    assert.is_true(scene.law_holds(s))
  end)

  it("can reply to any message, even one that required none", function()
    local got = {}
    local s, heard = outpost.new({ "w" }, {
      root = function(root) root:spawn_agent("clerk", scene.brief(), { id = "c" }) end,
      clerk = function(clerk, message)
        got[#got + 1] = message.payload.text
        if message.from == "user" then
          clerk:send_message({ to = "w", payload = "a note" })
        end
      end,
    }, { policies = { contacts = "open" } })
    scene.tell(s, "root")
    local before = #heard
    scene.tell(s, "c")
    assert(s:outside_send("w", { reply_to = s:outside("w")[1].id, payload = { text = "thanks" } }))
    s:run()
    assert.equal("thanks", got[#got])
    assert.equal(before, #heard)
  end)

  it("is refused for now by a full mailbox, and its read position stays", function()
    local s, heard = outpost.new({ "w" }, nil, { config = { mailbox_max = 2 } })
    for i = 1, 2 do
      assert(s:outside_send("w", { payload = tostring(i),
        position = { name = "w.out", value = tostring(i) } }))
    end
    local third = { payload = "3", position = { name = "w.out", value = "3" } }
    local _, err = s:outside_send("w", third)
    assert.equal("mailbox_full", err.error)
    assert.equal("2", s:position("w.out"))
    s:run()
    assert(s:outside_send("w", third))
    s:run()
    assert.equal("3", s:position("w.out"))
    assert.equal("3", heard[#heard].payload.text)
  end)

  -- A manager inside, who has hired "a" outside and given it the task t1.
  local function managed(config)
    local got = {}
    local s, heard = outpost.new({}, {
      root = function(root, message)
        if message.from == "user" then
          root:spawn_agent("clerk", scene.brief(), { id = "mgr" })
          root:spawn_agent("clerk", scene.brief(), { id = "boss" })
          root:send_message({ to = "mgr", payload = "go" })
        end
      end,
      clerk = function(clerk, message)
        if clerk.id == "mgr" and message.from == "root" then
          clerk:spawn_agent("worker", scene.brief(), { id = "a" })
          clerk:send_message({ to = "a", type = "task_assign", payload = { task_id = "t1" } })
          local all = clerk:checkpoint({ agents = { "a" }, timeout_ms = 1000 })
          got.checkpoint = all and all.responses.a
          return
        end
        got[#got + 1] = clerk.id .. " " .. message.type
      end,
    }, { config = config })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(10)
    return s, got, heard
  end

  it("reports to the agent that gave the task, not to an orchestrator it does not know", function()
    local s, got, heard = managed()
    local before = #heard
    local checkpoint = s:outside("a")[2].payload.checkpoint_id
    assert(s:outside_send("a", { type = "checkpoint_response",
      payload = { checkpoint_id = checkpoint, text = "ready" } }))
    assert(s:outside_send("a", { type = "progress_update",
      payload = { task_id = "t1", percent = 40 } }))
    assert.equal("working", s:agent("a").status) -- that was no reply
    assert(s:outside_send("a", { type = "task_complete",
      payload = { task_id = "t1", status = "done", output = "it has layers" } }))
    s:run()
    assert.equal("ready", got.checkpoint.text)
    assert.same({ "mgr progress_update", "mgr task_complete" }, { got[1], got[2] })
    assert.equal("completed", s:tasks()[1].state)
    assert.equal(before, #heard)
    assert.equal(0, scene.counts(s).pending)
    assert.is_true(scene.law_holds(s))
  end)

  it("can always write to the orchestrator, whoever that is, and to no other stranger", function()
    local s, got = managed({ orchestrator = "boss" })
    s:advance(2000)
    assert(s:outside_send("a", { payload = { text = "hello" } }))
    assert(s:outside_send("a", { to = "boss", payload = { text = "hello again" } }))
    assert(s:outside_send("a", { type = "task_complete", payload = { task_id = "t1" } }))
    local _, err = s:outside_send("a", { to = "root", payload = { text = "hello" } })
    assert.equal("unknown_contact", err.error)
    s:run()
    table.sort(got)
    assert.same({ "boss general", "boss general", "mgr task_complete" }, { got[1], got[2], got[3] })
  end)

  it("passes the checker when it writes to an orchestrator it does not know", function()
    for _, head in ipairs({ "root", "boss" }) do
      local s = scene.new({ faults = {}, config = { orchestrator = head }, app = function(s)
        s:role({ id = "far", behaviour = "external" })
        s:role({ id = "boss", behaviour = function() end })
        s:role({ id = "team", behaviour = function(agent)
          assert(agent:spawn_agent("far", scene.brief(), { id = "w" }))
        end })
        s:root(function(root, message)
          if message.from == "user" then
            assert(root:spawn_agent("boss", scene.brief(), { id = "boss" }))
            assert(root:spawn_agent("team", scene.brief(), { id = "team", message = "go" }))
          end
        end)
      end })
      assert(s:send("user", { to = "root", payload = "go" }))
      s:run()
      assert(s:outside_send("w", { payload = "here I am" }))
      s:run()
      assert(s:check())
      local other = head == "root" and "boss" or "root"
      local _, err = s:outside_send("w", { to = other, payload = "x" })
      assert.equal("unknown_contact", err.error)
    end
  end)
end)
