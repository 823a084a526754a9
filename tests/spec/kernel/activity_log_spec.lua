-- The activity log as a record: in the order things happened, even within a millisecond,
-- and append-only.
--
-- Covers: core/kernel/trace.c, core/kernel/mail/message_view.c

local scene = require("scene")

local function line(row)
  return ("%s %s%s"):format(row.agent, row.event, row.detail and " " .. row.detail or "")
end

-- The lines of these events, in order.
local function story(s, filter, events)
  local list = {}
  for _, row in ipairs(s:activity(filter)) do
    if not events or events:find(row.event, 1, true) then
      list[#list + 1] = row.event == "dead" and row.agent .. " dead" or line(row)
    end
  end
  return list
end

local function ids_of(messages)
  local ids = {}
  for i, message in ipairs(messages) do
    ids[i] = message.id
  end
  return ids
end

describe("the activity log", function()
  after_each(scene.close)

  it("keeps the death of a dead letter that is redelivered, and every redelivery", function()
    local is_bad = true
    local s = scene.troupe({ b = function() assert(not is_bad) end }, { quiet = true })
    local id = scene.tell(s, "b")
    local expected = { "user sent to b", "b dead" }
    for attempt = 2, 3 do
      assert.same(expected, story(s, { correlation_id = id }, "sent_again dead processed"))
      s:advance(120000)
      assert(s:redeliver(id))
      s:advance(5000)
      expected[#expected + 1] = "b sent_again attempt " .. attempt
      expected[#expected + 1] = "b dead"
    end
    is_bad = false
    s:advance(120000)
    assert(s:redeliver(id))
    s:run()
    expected[#expected + 1] = "b sent_again attempt 4"
    expected[#expected + 1] = "b processed"
    assert.same(expected, story(s, { correlation_id = id }, "sent_again dead processed"))
    assert.equal("processed", scene.message(s, { correlation_id = id }).status)
  end)

  it("keeps the death of a dead letter that is dropped", function()
    local s = scene.troupe({ b = function() error("no") end }, { quiet = true })
    local id = scene.tell(s, "b")
    s:advance(60000)
    assert(s:drop(id))
    assert.same({ "user sent to b", "b dead", 'b dropped {"error":"dropped"}' },
      story(s, { correlation_id = id }, "sent dead dropped"))
  end)

  it("has every try of a task", function()
    local s = scene.troupe({ b = function(b, message)
      b:fail(message, "x", { retryable = true })
    end })
    assert(s:send("root", { to = "b", type = "task", payload = { task_id = "T" } }))
    s:run()
    local expected = { "root sent to b" }
    for attempt = 2, 4 do
      expected[#expected + 1] = "b processed"
      expected[#expected + 1] = "b sent_again attempt " .. attempt
    end
    expected[#expected + 1] = "b sent to root"
    expected[#expected + 1] = "b processed"
    expected[#expected + 1] = "root processed"
    assert.same(expected, story(s, { task = "T" }, "sent_again processed"))
  end)

  it("keeps contacts that were removed, and the former parent of an adopted agent", function()
    local s = scene.troupe({
      a = function(a, message)
        if message.type == "bear" then
          a:spawn_agent("actor", scene.brief(), { id = "c" })
        else
          a:remove_contact("user")
        end
      end,
      root = function(root) root:terminate("a") end,
    }, { policies = { contacts = "open", supervision = {
      kind = "supervision", version = 1, retry_after = function() return nil end,
      children = function() return "adopt" end,
    } } })
    scene.tell(s, "a", "x", "bear")
    scene.tell(s, "a", "x", "forget")
    scene.tell(s, "root")
    assert.equal("root", s:agent("c").parent)
    local expected = { "a spawned actor", "a contact_added user (first_message)",
      "c spawned actor", "a stopped" }
    assert.same(expected, story(s, { agent = "a" }, "spawned contact_added stopped"))
  end)

  it("is in order within a millisecond: an effect follows its cause", function()
    local s = scene.troupe({
      a = function(a, message)
        if message.type == "go" then
          a:request({ to = "b", payload = "x" })
          a:request({ to = "b", payload = "y" })
        end
      end,
      b = function() return "z" end,
    })
    local id = scene.tell(s, "a", "x", "go")
    local expected = { "user sent", "a sent", "a blocked", "b sent", "a unblocked", "a processed",
      "b processed", "a sent", "a blocked", "b sent", "a unblocked", "a processed", "b processed",
      "a processed" }
    local seen = {}
    for i, row in ipairs(s:activity({ correlation_id = id })) do
      seen[i] = row.agent .. " " .. row.event
    end
    assert.same(expected, seen)
    for limit = 1, #expected do
      local last = s:activity({ correlation_id = id, limit = limit })
      assert.equal(limit, #last)
      for i, row in ipairs(last) do
        assert.equal(expected[#expected - limit + i], row.agent .. " " .. row.event)
      end
    end
  end)

  it("gives the first message of a chain its own id as the id of the chain", function()
    local s = scene.troupe({ a = function() end })
    local id = scene.tell(s, "a")
    local rows = s:activity({ correlation_id = id })
    assert.equal(2, #rows)
    for _, row in ipairs(rows) do
      assert.equal(id, row.correlation_id)
      assert.equal(id, row.message_id)
    end
  end)
end)

describe("a broadcast", function()
  after_each(scene.close)

  local function troupe(acts)
    acts.root = acts.root or function(root, message)
      if message.type == "all" then
        assert(root:broadcast({ payload = "hear" }))
      end
    end
    return scene.troupe(acts, { quiet = true })
  end

  it("is in the activity and the messages of each reader", function()
    local s = troupe({ a = function() end, b = function() end })
    local chain = scene.tell(s, "root", "x", "all")
    local id = s:messages({ type = "broadcast" })[1].id
    for _, reader in ipairs({ "a", "b", "user" }) do
      local rows = s:activity({ agent = reader, type = "broadcast" })
      assert.equal(1, #rows)
      assert.same({ reader, "processed", id, chain },
        { rows[1].agent, rows[1].event, rows[1].message_id, rows[1].correlation_id })
      assert.same({ id }, ids_of(s:messages({ agent = reader, type = "broadcast" })))
    end
    local all = story(s, { type = "broadcast" })
    assert.equal("root sent to All", all[1])
    assert.equal("All processed", all[#all])
    assert.equal(5, #all)
    assert.same({}, s:messages({ agent = "nobody" }))
  end)

  it("does not concern agents spawned later or those that were terminating", function()
    local s = troupe({ a = function() end, root = function(root, message)
      if message.type == "all" then
        root:terminate("a")
        root:broadcast({ payload = "hear" })
        root:spawn_agent("actor", scene.brief(), { id = "late" })
      end
    end })
    scene.tell(s, "root", "x", "all")
    assert.same({}, s:messages({ agent = "late" }))
    for _, id in ipairs({ "a", "late" }) do
      assert.same({}, s:messages({ agent = id, type = "broadcast" }))
      assert.same({}, s:activity({ agent = id, type = "broadcast" }))
    end
  end)

  it("is among the messages of readers that have yet to read it", function()
    local s = troupe({ a = function(a) a:sleep(1000) end, b = function() end })
    assert(s:send("user", { to = "a", payload = "sleep" }))
    assert(s:send("user", { to = "root", type = "all", payload = "x" }))
    s:advance(10)
    local rows = s:messages({ agent = "a", type = "broadcast" })
    assert.equal(1, #rows)
    assert.equal("pending", rows[1].status)
    assert.same({}, s:activity({ agent = "a", type = "broadcast" }))
    assert.equal(1, #s:activity({ agent = "b", type = "broadcast" }))
    s:run()
    assert.equal(1, #s:activity({ agent = "a", type = "broadcast" }))
  end)

  it("leaves one dead letter for a reader that fails, and no second line", function()
    local s = troupe({ a = function() error("no") end })
    scene.tell(s, "root", "x", "all")
    s:advance(60000)
    local rows = story(s, { agent = "a", type = "broadcast" }, "sent dead expired processed")
    assert.same({ "a dead" }, rows)
    assert.equal("dead", s:messages({ agent = "a", type = "broadcast" })[1].status)
  end)

  it("is sent once, with one line, even if a reader fails or its copy expires", function()
    local s = troupe({ a = function() error("no") end, b = function() end,
      root = function(root, message)
        if message.type == "all" then
          assert(root:broadcast({ payload = "hear", ttl_seconds = 5 }))
        end
      end })
    s:pause("b")
    local chain = assert(s:send("user", { to = "root", type = "all", payload = "x" })).messageId
    s:advance(400)
    local before = story(s)
    local now = s:now()
    s:advance(10000)
    local rows = story(s)
    for i, row in ipairs(before) do
      assert.equal(row, rows[i])
    end
    assert.same({ "a dead", 'b expired {"error":"expired"}', "All processed" },
      story(s, { since = now, type = "broadcast" }, "sent dead expired processed"))
    assert.same({ "user sent to root", "root sent to All" },
      story(s, { correlation_id = chain }, "sent"))
    for _, letter in ipairs(s:dead_letters()) do
      assert(s:redeliver(letter.id))
    end
    assert.same({ "a sent_again attempt 2", "b sent_again attempt 2" },
      story(s, { type = "sent_again" }))
  end)
end)
