-- Outside agents that are silent, the decisions about them, and their return.
--
-- Covers: core/model/delivery/pulse.c, core/parts/outside/outside_watch.c
-- Covers: core/script/bindings/bind_delivery.c

local json = require("society.json")
local outpost = require("outpost")
local scene = require("scene")

-- Agents are alive in these specs unless they are about silence.
local CALM = { heartbeat_timeout_ms = 3600000 }

describe("an unresponsive agent", function()
  after_each(scene.close)

  local function lost(decide, options)
    local answers = {}
    local s, heard = outpost.new({ "w" }, {
      root = function(root, message)
        if message.type == "alert" and decide then
          answers[#answers + 1] = table.pack(decide(root, message))
        end
      end,
    }, options or { config = CALM })
    local first = outpost.assign(s, "w", "t1")
    local second = outpost.assign(s, "w", "t2")
    assert(s:ack("w", first))
    s:advance(19000)
    return s, answers, heard, second
  end

  it("gets another chance by restart: unacked messages are resent", function()
    local s, answers, heard = lost(function(root) return root:resolve("w", "restart") end)
    local start = s:now()
    assert.same({ agent = "w", action = "restart", messages = 1 }, answers[1][1])
    assert.equal("unresponsive", s:agent("w").status)
    assert.equal("4@0", outpost.times(s, "w", start)[5])
    assert.equal("t2", s:outside("w")[5].payload.task_id)
    s:advance(19000)
    assert.equal(2, #answers)
    assert.equal(2, #heard)
    assert(s:ack("w", s:outside("w")[5].id))
    assert.equal("working", s:agent("w").status)
  end)

  it("is passed over by skip: its messages become dead letters", function()
    local s, answers, _, id = lost(function(root) return root:resolve("w", "skip") end)
    assert.same({ agent = "w", action = "skip", messages = 1 }, answers[1][1])
    assert.equal(1, #s:dead_letters())
    assert.equal(id, s:dead_letters()[1].id)
    assert.equal("unresponsive", s:dead_letters()[1].error.error)
    assert.equal(1, scene.counts(s).dead)
    assert.is_true(scene.law_holds(s))
  end)

  it("loses its tasks by abort, and is notified", function()
    local s, answers = lost(function(root) return root:resolve("w", "abort") end)
    assert.same({ agent = "w", action = "abort", tasks = 2 }, answers[1][1])
    for _, task in ipairs(s:tasks()) do
      assert.equal("cancelled", task.state)
    end
    assert.equal(2, scene.counts(s).cancelled)
    local out = s:outside("w")
    assert.equal("abort", out[#out].type)
    assert.is_true(scene.law_holds(s))
  end)

  it("is resolved once its turn has committed, and only by those who may", function()
    local tries = 0
    local s, answers = lost(function(root)
      tries = tries + 1
      root:resolve("w", "skip")
      if tries == 1 then
        error("boom")
      end
      return true
    end)
    s:run()
    assert.equal(1, #answers)
    assert.equal(1, #s:dead_letters())
    local function try(id, action)
      local _, err = scene.play(function(root) return root:resolve(id, action) end)
      return err.error
    end
    assert.equal("agent_not_found", try("ghost", "skip"))
    assert.equal("invalid_argument", try("root", "forget"))
    assert.equal("refused", try("root", "skip"))
  end)

  it("is never one whose spawn was rolled back, of which nothing is kept", function()
    local s = require("society").new({ app = function(s)
      local tries = 0
      s:role({ id = "far", name = "f", behaviour = "external" })
      s:root(function(root)
        tries = tries + 1
        if tries > 1 then -- takes the slot of the one that was rolled back
          assert(root:spawn_agent("far", scene.brief(), { id = "v" }))
        end
        assert(root:spawn_agent("far", scene.brief(), { id = "w" }))
        assert(select(2, root:resolve("w", "restart")).error == "refused")
        if tries == 1 then
          error("boom")
        end
        assert(root:send_message({ to = "w", payload = "hi" }))
      end)
    end })
    scene.keep(s)
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(1000)
    assert.equal(1, #s:outside("w"))
    assert.equal(0, s:agent("w").queue_length)
    assert.is_true(scene.law_holds(s))
  end)

  it("was silent for more than 30 s, or heartbeat_timeout_ms", function()
    local s, heard = outpost.new({ "w", "v" })
    local start = s:now()
    s:advance(20000)
    assert(s:heartbeat("w"))
    s:advance(10000)
    assert.equal("idle", s:agent("v").status)
    s:advance(1)
    assert.equal("unresponsive", s:agent("v").status)
    assert.equal("idle", s:agent("w").status)
    assert.same({ alert_type = "unresponsive", agent = "v", reason = "heartbeat", pending = 0 },
      heard[1].payload)
    assert.equal(start + 20000, outpost.ms(s:agent("w").last_heartbeat))
    s:advance(19999)
    assert.equal("idle", s:agent("w").status)
    s:advance(1)
    assert.equal("unresponsive", s:agent("w").status)
    s:advance(3600000)
    assert.equal(2, #heard)
    assert(s:heartbeat("v"))
    assert.equal("idle", s:agent("v").status)
    s:advance(30001)
    assert.equal(3, #heard)
    scene.close()
    s = outpost.new({ "w" }, nil, { config = { heartbeat_timeout_ms = 500 } })
    s:advance(500)
    assert.equal("idle", s:agent("w").status)
    s:advance(1)
    assert.equal("unresponsive", s:agent("w").status)
  end)

  it("is never declared for silence if heartbeat_timeout_ms is 0", function()
    local s, heard = outpost.new({ "w" }, nil, { config = { heartbeat_timeout_ms = 0 } })
    s:advance(86400000)
    assert.equal("idle", s:agent("w").status)
    assert.same({}, heard)
  end)

  for _, action in ipairs({ "skip", "abort" }) do
    it("is alerted again after " .. action .. ", for what is sent to it later", function()
      local s, answers = lost(function(root) return root:resolve("w", action) end)
      outpost.assign(s, "w", "t3")
      s:advance(18999)
      assert.equal(1, #answers)
      local tries = 0
      for _, message in ipairs(s:outside("w")) do
        local is_it = message.type == "task_assign" and message.payload.task_id == "t3"
        tries = tries + (is_it and 1 or 0)
      end
      assert.equal(3, tries)
      s:advance(1)
      assert.equal(2, #answers)
    end)
  end

  it("can be resolved after a restart of the host", function()
    local answers = {}
    local s = outpost.new({ "w" }, {
      root = function(root, message)
        if message.type ~= "alert" then
          answers[#answers + 1] = table.pack(root:resolve("w", "skip"))
        end
      end,
    }, { config = CALM })
    outpost.assign(s, "w", "t1")
    s:advance(19000)
    s:crash()
    s:recover()
    s:advance(1)
    scene.tell(s, "root")
    assert.same({ agent = "w", action = "skip", messages = 1 }, answers[1][1])
    assert.equal(1, #s:dead_letters())
    scene.tell(s, "root")
    assert.equal("refused", answers[2][2].error)
  end)

  it("is heard by whatever it says, and its silence starts at zero after a restart", function()
    local s = outpost.new({ "w" })
    s:advance(29999)
    assert(s:outside_send("w", { payload = "here" }))
    s:advance(29999)
    assert(s:ack("w", outpost.assign(s, "w", "t1"), "received"))
    s:advance(29999)
    assert.equal("working", s:agent("w").status)
    s:crash()
    s:advance(100000)
    s:recover()
    s:advance(30000)
    assert.equal("working", s:agent("w").status)
    s:advance(1)
    assert.equal("unresponsive", s:agent("w").status)
  end)

  it("is reported to the configured orchestrator", function()
    local heard = {}
    local s = outpost.new({ "w" }, {
      clerk = scene.all(function(_, message)
        heard[#heard + 1] = message.payload.alert_type or "?"
      end),
      root = function(root) root:spawn_agent("clerk", scene.brief(), { id = "boss" }) end,
    }, { config = { orchestrator = "boss" } })
    scene.tell(s, "root")
    s:advance(30001)
    assert.same({ "unresponsive" }, heard)
    assert.equal("[]", json.encode(s:dead_letters()))
  end)
end)
