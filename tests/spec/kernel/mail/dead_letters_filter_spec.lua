-- Dead letters live in the store; orders are about one of them or about all that fit a filter.

local scene = require("scene")

-- Agents `a` and `b` fail on everything until `state.fails` is false; expired mail is from
-- a user who cannot wait.
local function house()
  local state = { fails = true, seen = {} }
  local function act(agent, message)
    if message.type == "hold" then
      agent:sleep(1000)
    elseif state.fails then
      error("boom")
    else
      state.seen[#state.seen + 1] = agent.id .. " " .. message.payload.text
    end
  end
  local s = scene.troupe({ a = act, b = act, root = function(root, message)
    if message.type == "ask" then
      root:send_message({ to = "b", payload = message.payload, type = "fyi", task_id = "T1" })
    elseif message.type == "end" then
      root:terminate("b", { force = true })
    end
  end }, { quiet = true, policies = { contacts = "open", supervision = { kind = "supervision",
    version = 1, retry_after = function() return nil end,
    is_failed = function() return false end } } })
  return s, state
end

local function send(s, id, text, options)
  local message = { to = id, payload = { text = text } }
  for name, value in pairs(options or {}) do
    message[name] = value
  end
  local sent = assert(s:send("user", message))
  s:advance(1)
  return sent.messageId
end

local function texts(s)
  local list = {}
  for index, letter in ipairs(s:dead_letters()) do
    list[index] = letter.payload.text
  end
  return table.concat(list, " ")
end

-- 1 to a, 2 to b in a chain, 3 to b from root with a task, 4 to a that expires.
local function with_four()
  local s, state = house()
  send(s, "a", "1")
  s:advance(1000)
  send(s, "b", "2", { correlation_id = "chain" })
  send(s, "root", "3", { type = "ask" })
  send(s, "a", "x", { type = "hold" })
  send(s, "a", "4", { ttl_seconds = 0.01 })
  s:advance(2000)
  assert.equal("1 2 3 4", texts(s))
  return s, state
end

describe("dead letters that fit a filter", function()
  after_each(scene.close)

  local start = "2026-01-01T00:00:00.500Z"
  for _, case in ipairs({
    { "agent", { agent = "root" }, "3" },
    { "from", { from = "user" }, "1 2 4" },
    { "to", { to = "b" }, "2 3" },
    { "type", { type = "fyi" }, "3" },
    { "reason", { reason = "expired" }, "4" },
    { "task", { task = "T1" }, "3" },
    { "correlation_id", { correlation_id = "chain" }, "2" },
    { "until", { ["until"] = start }, "1" },
    { "since", { since = start }, "2 3 4" },
    { "several", { to = "a", reason = "script_error" }, "1" },
    { "one that nothing fits", { to = "nobody" }, "" },
  }) do
    it("are listed and dropped by " .. case[1], function()
      local s = with_four()
      local fitting = {}
      for index, letter in ipairs(s:dead_letters(case[2])) do
        fitting[index] = letter.payload.text
      end
      assert.equal(case[3], table.concat(fitting, " "))
      assert.same({ count = #fitting }, s:drop(case[2]))
      local left = {}
      for text in ("1 2 3 4"):gmatch("%d") do
        if not (" " .. case[3] .. " "):find(" " .. text .. " ", 1, true) then
          left[#left + 1] = text
        end
      end
      assert.equal(table.concat(left, " "), texts(s))
      assert.equal(#fitting, scene.counts(s).dropped)
      assert.is_true(scene.law_holds(s))
    end)
  end

  it("are redelivered, in the order they were sent", function()
    local s, state = with_four()
    state.fails = false
    assert.same({ count = 2 }, s:redeliver({ to = "a" }))
    assert.same({ count = 2 }, s:redeliver({}, { expected = 2 }))
    s:run()
    table.sort(state.seen) -- a before b; the order of each is kept
    assert.same({ "a 1", "a 4", "b 2", "b 3" }, state.seen)
    assert.equal("", texts(s))
    assert.is_true(scene.law_holds(s))
  end)

  it("are left alone if another number is expected", function()
    local s = with_four()
    for _, name in ipairs({ "drop", "redeliver" }) do
      local answer, err = s[name](s, { to = "b" }, { expected = 3 })
      assert.is_nil(answer)
      assert.equal("count_differs", err.error)
      assert.equal(2, err.count)
    end
    assert.equal("1 2 3 4", texts(s))
    assert.same({ count = 2 }, s:drop({ to = "b" }, { expected = 2 }))
    assert.equal("1 4", texts(s))
  end)

  it("are never all of them by mistake", function()
    local s = with_four()
    for _, bad in ipairs({
      { {} }, { { limit = 1 } }, { { agnt = "b" } }, { { to = 1 } },
      { { to = "b" }, { expected = -1 } }, { { to = "b" }, { expected = "2" } },
      { { to = "b" }, { count = 2 } },
    }) do
      assert.has_error(function() s:drop(table.unpack(bad)) end)
    end
    assert.equal("1 2 3 4", texts(s))
    assert.same({ count = 4 }, s:drop({}, { expected = 4 }))
  end)

  it("are skipped if their receiver has ended", function()
    local s, state = with_four()
    send(s, "root", "x", { type = "end" })
    state.fails = false
    assert.same({ count = 2, skipped = 2 }, s:redeliver({}, { expected = 4 }))
    s:run()
    assert.same({ "a 1", "a 4" }, state.seen)
    assert.equal("2 3", texts(s))
  end)
end)

describe("many dead letters", function()
  after_each(scene.close)

  local MANY <const> = 2500 -- more than two pages

  local function with_many()
    local s, state = house()
    for i = 1, MANY do
      assert(s:send("user", { to = i % 2 == 0 and "a" or "b", payload = { text = "n" } }))
    end
    s:run()
    assert.equal(MANY, scene.counts(s).dead)
    return s, state
  end

  it("are redelivered once each, also if they die again meanwhile", function()
    local s = with_many()
    assert.same({ count = MANY }, s:redeliver({ from = "user" }, { expected = MANY }))
    s:run()
    assert.equal(MANY, scene.counts(s).dead)
    assert.equal(2, s:dead_letters({ limit = 1 })[1].attempt)
    assert.is_true(scene.law_holds(s))
  end)

  it("are dropped in more than one batch, all or half of them", function()
    local s = with_many()
    assert.same({ count = MANY / 2 }, s:drop({ to = "a" }))
    s:crash()
    s:recover()
    assert.equal(MANY / 2, scene.counts(s).dead)
    assert.same({ count = MANY / 2 }, s:drop({ to = "b" }))
    assert.same({}, s:dead_letters())
    assert.is_true(scene.law_holds(s))
  end)

  it("of a megabyte each are redelivered as well", function()
    local s, state = house()
    for i = 1, 5 do
      assert(s:send("user", { to = "a", payload = { text = i .. ("x"):rep(1 << 20) } }))
    end
    s:run()
    state.fails = false
    assert.same({ count = 5 }, s:redeliver({ to = "a" }))
    s:run()
    assert.equal(5, #state.seen)
    assert.equal("a 5", state.seen[5]:sub(1, 3))
  end)
end)

describe("a dead letter after a crash", function()
  after_each(scene.close)

  local function restart(s)
    s:crash()
    s:recover()
  end

  for _, folded in ipairs({ false, true }) do
    local when = folded and ", folded" or ", not folded"

    it("was redelivered before it" .. when, function()
      local s, state = house()
      local id = send(s, "a", "1")
      if folded then
        assert.equal(1, #s:dead_letters())
      end
      restart(s)
      state.fails = false
      assert.is_true(s:redeliver(id)) -- the order is in the journal, the letter in the tables
      restart(s)
      s:run()
      assert.same({ "a 1" }, state.seen)
      assert.equal("", texts(s))
      assert.is_true(scene.law_holds(s))
    end)

    it("was dropped before it" .. when, function()
      local s = house()
      local id = send(s, "a", "1")
      if folded then
        assert.equal(1, #s:dead_letters())
      end
      assert.is_true(s:drop(id))
      restart(s)
      assert.equal(1, scene.counts(s).dropped)
      assert.equal("message_not_found", select(2, s:redeliver(id)).error)
      assert.is_true(scene.law_holds(s))
    end)
  end
end)
