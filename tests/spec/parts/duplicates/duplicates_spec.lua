-- A message with a key is sent once: the second send returns the first id.

local scene = require("scene")

local DAY = 24 * 3600 * 1000

describe("a message with a dedupe_key", function()
  after_each(scene.close)

  local function with_listener(options)
    local heard = {}
    local s = scene.troupe({
      a = function(_, message) heard[#heard + 1] = message.payload.text end,
    }, options)
    return s, heard
  end

  local function send(s, key, text, from)
    return assert(s:send(from or "user", { to = "a", payload = text, dedupe_key = key }))
  end

  it("is sent once; the second send returns the first id and does nothing", function()
    local s, heard = with_listener()
    local first = send(s, "k", "one")
    local counts = scene.counts(s)
    local second = send(s, "k", "two")
    assert.is_nil(first.duplicate)
    assert.same({ messageId = first.messageId, duplicate = true }, second)
    assert.same(counts, scene.counts(s))
    s:run()
    assert.same({ "one" }, heard)
    assert.is_true(scene.law_holds(s))
  end)

  it("is known after it was handled, and after its receiver has terminated", function()
    local s = with_listener()
    local first = send(s, "k", "one")
    s:run()
    assert.equal(first.messageId, send(s, "k", "two").messageId)
    assert.equal(first.messageId,
      s:send("user", { to = "nobody", payload = "x", dedupe_key = "k" }).messageId)
  end)

  it("is distinct from another sender's, another key's and one without a key", function()
    local s, heard = with_listener()
    send(s, "k", "one")
    send(s, "k", "two", "root")
    send(s, "kk", "three")
    send(s, nil, "four")
    send(s, nil, "five")
    s:run()
    table.sort(heard)
    assert.same({ "five", "four", "one", "three", "two" }, heard)
  end)

  it("is known across crash and recovery, journaled or folded", function()
    for _, store in ipairs({ "memory", scene.folder() }) do
      local s, heard = with_listener({ store = store })
      local first = send(s, "k", "one")
      s:run()
      s:crash()
      s:recover()
      assert.equal(first.messageId, send(s, "k", "two").messageId)
      s:dump() -- folds
      s:crash()
      s:recover()
      assert.equal(first.messageId, send(s, "k", "three").messageId)
      s:run()
      assert.same({ "one" }, heard)
    end
  end)

  it("is forgotten after seven days, also on disk", function()
    local s, heard = with_listener()
    send(s, "k", "one")
    s:advance(7 * DAY - 1)
    assert.is_true(send(s, "k", "two").duplicate)
    s:advance(1)
    assert.is_nil(send(s, "k", "three").duplicate)
    s:run()
    assert.same({ "one", "three" }, heard)
    assert.equal(1, scene.count(s:dump(), '"sent_keys"'))
    s:advance(7 * DAY)
    send(s, "other", "four")
    assert.equal(1, scene.count(s:dump(), '"sent_keys"'))
  end)

  it("is known for dedupe_window_ms, also while the society is down", function()
    local s, heard = with_listener({ config = { dedupe_window_ms = 1000 } })
    send(s, "k", "one")
    s:run()
    s:crash()
    s:advance(1000)
    s:recover()
    send(s, "k", "two")
    s:run()
    assert.same({ "one", "two" }, heard)
  end)

  it("is rolled back with the turn that sent it", function()
    local tries, heard = 0, {}
    local s = scene.troupe({
      a = function(agent)
        tries = tries + 1
        agent:send_message({ to = "b", payload = "try " .. tries, dedupe_key = "k" })
        if tries == 1 then
          error("boom")
        end
      end,
      b = function(_, message) heard[#heard + 1] = message.payload.text end,
    })
    scene.tell(s, "a")
    assert.equal(2, tries)
    assert.same({ "try 2" }, heard)
  end)

  it("works inside a turn, for each receiver of a list and for a broadcast", function()
    local first, second, lists, sent
    scene.play(function(root)
      root:spawn_agent("actor", scene.brief(), { id = "x" })
      root:spawn_agent("actor", scene.brief(), { id = "y" })
      first = root:send_message({ to = "x", payload = "1", dedupe_key = "k" })
      second = root:send_message({ to = "y", payload = "2", dedupe_key = "k" })
      lists = {}
      for i = 1, 2 do
        lists[i] = root:send_message({ to = { "x", "y" }, payload = "3", dedupe_key = "k" })
      end
      sent = {}
      for i = 1, 2 do
        sent[i] = root:send_message({ to = "All", payload = "4", dedupe_key = "all" })
      end
    end)
    assert.equal(first.messageId, second.messageId)
    assert.is_true(second.duplicate)
    assert.equal(2, #lists[1].messageIds)
    assert.are_not.equal(lists[1].messageIds[1], lists[1].messageIds[2])
    assert.same(lists[1].messageIds, lists[2].messageIds)
    assert.equal(sent[1].messageId, sent[2].messageId)
  end)

  it("cannot be waited for a second time", function()
    local answer, err
    local s = scene.troupe({
      a = function(agent)
        answer = agent:request({ to = "b", payload = "1", dedupe_key = "k" })
        local _
        _, err = agent:request({ to = "b", payload = "2", dedupe_key = "k" })
      end,
      b = function() return { text = "yes" } end,
    })
    scene.tell(s, "a")
    assert.equal("yes", answer.payload.text)
    assert.equal("duplicate", err.error)
    assert.matches("^msg_", err.messageId)
  end)

  it("is answered from the record when its turn is rerun", function()
    local ids = {}
    local s = scene.troupe({
      a = function(agent)
        agent:send_message({ to = "b", payload = "1", dedupe_key = "k" })
        local again = agent:send_message({ to = "b", payload = "2", dedupe_key = "k" })
        agent:sleep(1000)
        ids[#ids + 1] = again.messageId
      end,
      b = function() end,
    })
    assert(s:send("user", { to = "a", payload = "go" }))
    s:advance(500)
    s:crash()
    s:recover()
    s:run()
    assert.equal(1, #ids)
    assert.equal(1, #s:messages({ agent = "b", type = "general" }))
  end)
end)
