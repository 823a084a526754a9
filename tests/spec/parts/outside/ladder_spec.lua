-- The retry ladder of a message that an outside agent does not ack, at its exact times.
--
-- Covers: core/parts/outside/outside_letters.c

local outpost = require("outpost")
local scene = require("scene")

local LADDER = { ack_timeout = true, resent = true, unresponsive = true }

-- Agents are alive in these specs unless they are about silence.
local CALM = { heartbeat_timeout_ms = 3600000 }

describe("a message without an ack", function()
  after_each(scene.close)

  local function alerts(heard)
    local list = {}
    for _, message in ipairs(heard) do
      if message.type == "alert" then
        list[#list + 1] = message
      end
    end
    return list
  end

  it("climbs the ladder at 5, 7, 12, 14 and 19 s", function()
    local s, heard = outpost.new({ "w" }, nil, { config = CALM })
    s:advance(777)
    local start = s:now()
    local id = outpost.assign(s, "w", "t1")
    s:advance(18999)
    assert.same({ "1@0", "2@7000", "3@14000!" }, outpost.times(s, "w", start))
    assert.same({ "ack_timeout@5000", "resent@7000", "ack_timeout@12000", "resent@14000" },
      outpost.events(s, LADDER, start))
    assert.equal("working", s:agent("w").status)
    assert.same({}, alerts(heard))
    s:advance(1)
    assert.same({ "ack_timeout@5000", "resent@7000", "ack_timeout@12000", "resent@14000",
      "unresponsive@19000" }, outpost.events(s, LADDER, start))
    assert.equal("unresponsive", s:agent("w").status)
    local alert = alerts(heard)[1]
    assert.equal("system", alert.from)
    assert.same({ alert_type = "unresponsive", agent = "w", message_id = id, attempt = 3,
      reason = "ack", pending = 1 }, alert.payload)
    s:advance(600000)
    assert.equal(1, #alerts(heard))
    assert.equal(3, #s:outside("w"))
    assert.equal(1, scene.counts(s).pending)
    for _, message in ipairs(s:outside("w")) do
      assert.equal(id, message.id)
    end
    assert.matches("error unresponsive w", s:transcript(), 1, true)
    assert.is_true(scene.law_holds(s))
  end)

  it("is not resent after an ack, at any time and of either kind", function()
    for _, at in ipairs({ 0, 4999, 5000, 6999, 7000, 13999, 18999 }) do
      for _, status in ipairs({ "received", "processed" }) do
        local s, heard = outpost.new({ "w" }, nil, { config = CALM })
        local id = outpost.assign(s, "w", "t1")
        s:advance(at)
        local before = #s:outside("w")
        assert(s:ack("w", id, status))
        s:advance(60000)
        assert.equal(before, #s:outside("w"))
        assert.same({}, alerts(heard))
        assert.are_not.equal("unresponsive", s:agent("w").status)
        assert.equal(status == "received" and 1 or 0, scene.counts(s).pending)
        scene.close()
      end
    end
  end)

  it("accepts acks in the wire form and the log form, by either id", function()
    local s = outpost.new({ "w" }, nil, { config = CALM })
    local one = outpost.assign(s, "w", "t1")
    local two = outpost.assign(s, "w", "t2")
    assert(s:ack("w", { id = "ack_20250125_143025_def456", timestamp = "2025-01-25T14:30:25.123Z",
      ack_for = one, from = "w", status = "received" }))
    assert(s:ack("w", { msg_id = two, status = "processed", at = "2025-01-25T14:31:22.789Z" }))
    s:advance(60000)
    assert.equal(2, #s:outside("w"))
    assert.equal(1, scene.counts(s).pending)
    local _, err = s:ack("w", { msg_id = two, status = "seen" })
    assert.equal("invalid_message_format", err.error)
    _, err = s:ack("w", { status = "received" })
    assert.equal("invalid_message_format", err.error)
  end)

  it("ignores acks from other agents, and of messages that were never sent", function()
    local s = outpost.new({ "w", "v" }, nil, { config = CALM })
    local id = outpost.assign(s, "w", "t1")
    local _, err = s:ack("v", id, "processed")
    assert.equal("message_not_found", err.error)
    assert.equal(1, scene.counts(s).pending)
    _, err = s:ack("w", "no-such-id")
    assert.equal("message_not_found", err.error)
    assert(s:ack("w", id, "processed"))
    assert(s:ack("w", id, "processed"))
    assert(s:ack("w", id, "received"))
    assert.equal(0, scene.counts(s).pending)
  end)

  it("causes one alert for all messages of an agent", function()
    local s, heard = outpost.new({ "w" }, nil, { config = CALM })
    outpost.assign(s, "w", "t1")
    s:advance(1000)
    outpost.assign(s, "w", "t2")
    s:advance(60000)
    outpost.assign(s, "w", "t3")
    s:advance(60000)
    assert.equal(1, #alerts(heard))
    assert.equal(3, scene.counts(s).pending)
    assert.equal("t3", s:outside("w")[#s:outside("w")].payload.task_id)
  end)

  it("causes one alert and no more resends however often its receiver is heard", function()
    local s, heard = outpost.new({ "w" })
    outpost.assign(s, "w", "t1")
    for _ = 1, 60 do
      s:advance(10000)
      assert(s:heartbeat("w"))
    end
    assert.equal("working", s:agent("w").status)
    assert.equal(1, #alerts(heard))
    assert.equal(3, #s:outside("w"))
    outpost.assign(s, "w", "t2")
    for _ = 1, 6 do
      s:advance(10000)
      assert(s:heartbeat("w"))
    end
    assert.equal(1, #alerts(heard))
    assert.equal(4, #s:outside("w"))
    assert.equal(2, scene.counts(s).pending)
  end)

  it("starts again when a silent receiver is heard", function()
    local s, heard = outpost.new({ "w" }, nil, { config = { heartbeat_timeout_ms = 3000 } })
    outpost.assign(s, "w", "t1")
    s:advance(30000)
    assert.equal(1, #alerts(heard))
    assert.equal(1, #s:outside("w"))
    local start = s:now()
    for _ = 1, 10 do
      assert(s:heartbeat("w"))
      s:advance(2000)
    end
    assert.same({ "2@7000", "3@14000!" }, { table.unpack(outpost.times(s, "w", start), 2) })
    assert.equal(2, #alerts(heard))
  end)

  it("that was given up lets others climb, but not itself, once its receiver acks", function()
    local s, heard = outpost.new({ "w" }, nil, { config = CALM })
    outpost.assign(s, "w", "t1")
    s:advance(19000)
    local two = outpost.assign(s, "w", "t2")
    outpost.assign(s, "w", "t3")
    s:advance(60000)
    assert.equal(5, #s:outside("w"))
    local start = s:now()
    assert(s:ack("w", two))
    s:advance(60000)
    assert.same({ "2@7000", "3@14000!" }, { table.unpack(outpost.times(s, "w", start), 6) })
    assert.equal("t3", s:outside("w")[7].payload.task_id)
    assert.equal(2, #alerts(heard))
  end)

  it("that was given up lets others climb once it has expired", function()
    local s, heard = outpost.new({ "w" }, nil, { config = CALM })
    local function assign(task_id, ttl_seconds)
      assert(s:send("root", { to = "w", type = "task_assign", ttl_seconds = ttl_seconds,
        payload = { task_id = task_id } }))
    end
    assign("t1", 30)
    s:advance(19000)
    assign("t2")
    assert(s:heartbeat("w"))
    s:advance(10999)
    assert.equal(4, #s:outside("w"))
    s:advance(1 + 19000)
    assert.equal(6, #s:outside("w"))
    assert.equal(2, #alerts(heard))
  end)

  it("is acked by its external id, and again after it is finished", function()
    local s = outpost.new({ "w", "v" }, nil, { config = CALM, policies = { contacts = "open" } })
    for i = 1, 2 do
      assert(s:outside_send("v", { to = "w", external_id = "order-" .. i, requires_ack = true,
        payload = { text = "please" } }))
    end
    s:run()
    assert(s:ack("w", "order-1"))
    assert(s:ack("w", { ack_for = "order-2", status = "processed" }))
    s:advance(60000)
    assert.equal(2, #s:outside("w"))
    assert.equal(1, scene.counts(s).pending)
    assert(s:ack("w", "order-2", "processed"))
    assert(s:ack("w", "order-2", "received"))
    assert.equal(1, scene.counts(s).pending)
    local _, err = s:ack("v", "order-2")
    assert.equal("message_not_found", err.error)
    assert(s:ack("w", "order-1", "processed"))
    assert.equal(0, scene.counts(s).pending)
  end)

  it("has its steps in the activity of its chain and its task", function()
    local s = outpost.new({ "w" }, nil, { config = CALM })
    local one = outpost.assign(s, "w", "t1")
    s:advance(19000)
    assert(s:ack("w", one))
    local two = assert(s:send("root", { to = "w", type = "progress_update", requires_ack = true,
      payload = { text = "x" }, ttl_seconds = 6 })).messageId
    s:advance(6000)
    local function events(filter)
      local list = {}
      for _, entry in ipairs(s:activity(filter)) do
        list[#list + 1] = entry.event .. (entry.type and " " .. entry.type or "")
      end
      table.sort(list)
      return table.concat(list, ", ")
    end
    local steps = "ack_timeout task_assign, ack_timeout task_assign, acked task_assign, "
      .. "processed alert, resent task_assign, resent task_assign, sent alert, "
      .. "sent task_assign, task_opened, task_start, unresponsive task_assign"
    assert.equal(steps, events({ correlation_id = one }))
    assert.equal(steps, events({ task = "t1" }))
    assert.equal("ack_timeout progress_update, expired progress_update, "
      .. "processed delivery_failed, sent delivery_failed, sent progress_update",
      events({ correlation_id = two }))
  end)

  it("starts again after a restart; its attempts are remembered", function()
    local s = outpost.new({ "w" }, nil, { config = CALM })
    outpost.assign(s, "w", "t1")
    s:advance(8000)
    s:crash()
    s:advance(100000)
    s:recover()
    local start = s:now()
    s:advance(18999)
    assert.equal("working", s:agent("w").status)
    assert.same({ "2@0?", "3@7000", "4@14000!" }, { table.unpack(outpost.times(s, "w", start), 3) })
    s:advance(1)
    assert.equal("unresponsive", s:agent("w").status)
  end)

  it("expires on time; a sender that required an ack is notified", function()
    local s, heard = outpost.new({ "w" }, nil, { config = CALM })
    local id = assert(s:send("root", { to = "w", type = "progress_update", requires_ack = true,
      payload = { text = "x" }, ttl_seconds = 6 })).messageId
    assert(s:send("root", { to = "w", type = "progress_update", payload = { text = "y" },
      ttl_seconds = 6 }))
    s:advance(5999)
    assert.equal(1, scene.counts(s).pending)
    s:advance(1)
    assert.equal("expired", s:dead_letters()[1].status)
    assert.equal(1, #heard)
    assert.equal("delivery_failed", heard[1].type)
    assert.equal("system", heard[1].from)
    assert.equal(id, heard[1].payload.message_id)
    assert.equal("w", heard[1].payload.to)
    assert.equal("expired", heard[1].payload.error)
    s:advance(60000)
    assert.equal(2, #s:outside("w"))
    assert.are_not.equal("unresponsive", s:agent("w").status)
    assert(s:redeliver(id))
    s:run()
    assert.equal(2, s:outside("w")[3].attempt)
  end)

  it("follows the delivery policy, or the default if that returns nonsense", function()
    local function times_with(policy, settings)
      local s = outpost.new({ "w" }, nil, { config = CALM })
      s:policy("delivery", policy, settings)
      local start = s:now()
      outpost.assign(s, "w", "t1")
      s:advance(120000)
      return outpost.events(s, LADDER, start)
    end
    assert.same({ "ack_timeout@100", "resent@150", "unresponsive@250" },
      times_with("default", { timeout_ms = 100, retry_delay_ms = 50, attempts_max = 2 }))
    assert.same({ "resent@10", "resent@20" }, times_with(function(request)
      return request.step <= 2 and { at_ms = 10 * request.step, action = "resend" } or nil
    end))
    local usual = { "ack_timeout@5000", "resent@7000", "ack_timeout@12000", "resent@14000",
      "unresponsive@19000" }
    assert.same(usual, times_with(function() return { at_ms = -1, action = "resend" } end))
    assert.same(usual, times_with(function() return { at_ms = 1, action = "shout" } end))
    assert.same(usual, times_with(function() error("boom") end))
  end)
end)
