-- The person's side: main as the human, restarts, and random histories.
--
-- Covers: core/script/bindings/bind_human.c

local property = require("property")
local scene = require("scene")

-- An app in which `pm` escalates each order and records the outcome: an answer, a timeout,
-- or a decision that comes as a message.
local function clerk(agent, message)
  local state = agent.state
  state.told = state.told or {}
  if message.type == "decision" then
    local payload = message.payload
    state.told[#state.told + 1] = { id = payload.item_id, how = "message", what = payload.decision }
    return
  end
  local order = message.payload
  local answer, err = agent:escalate { title = order.title, wait = order.wait,
    timeout_ms = order.timeout_ms, priority = order.priority }
  if answer and answer.item_id then
    return
  end
  state.told[#state.told + 1] = answer and { title = order.title, how = "answer",
    what = answer.decision } or { id = err.item_id, how = err.error }
end

describe("main", function()
  after_each(scene.close)

  local function office(main)
    return scene.new({ app = function(s)
      s:role { id = "clerk", behaviour = clerk }
      s:root(function(root, message)
        root:spawn_agent("clerk", scene.brief(), { id = "pm" })
        root:send_message { to = "pm", payload = message.payload }
        root:sleep(10)
        root.state.spied = select(2, root:decide(s:inbox()[1].id, { decision = "approve" })).error
      end)
      s:main(function(user) return main(user, s) end)
    end })
  end

  local function decide_first(user, s)
    user:send_message { to = "root", payload = { title = "buy" } }
    user:sleep(100)
    return user:decide(s:inbox()[1].id, { decision = "modify", changes = { price = 5 } })
  end

  it("decides as the person; nobody else can", function()
    local s = office(function(user, s)
      user.state.done = assert(decide_first(user, s)).delivered
      local item_id = s:activity({ type = "decision" })[1].detail:match("item_%d[%w_]+")
      user.state.again = select(2, user:decide(item_id, { decision = "approve" })).error
    end)
    s:run()
    assert.same({ done = true, again = "already_decided" }, s:agent("user").state)
    assert.same({ { title = "buy", how = "answer", what = "modify" } }, s:agent("pm").state.told)
    assert.equal("forbidden", s:agent("root").state.spied)
  end)

  it("rolls its decision back with a turn that raises", function()
    local tries = 0
    local s = office(function(user, s)
      assert(decide_first(user, s))
      tries = tries + 1
      assert(tries > 1, "not yet")
    end)
    s:run()
    assert.equal(1, #s:inbox())
    assert.equal("blocked_user", s:agent("pm").status)
    s:crash():recover():run()
    assert.same({}, s:inbox())
    assert.equal("modify", s:agent("pm").state.told[1].what)
    assert.equal(1, #s:activity({ type = "decision" }))
  end)

  it("can escalate as well", function()
    local s = office(function(user)
      user.state.answer = user:escalate { title = "which one?" }
    end)
    s:run()
    assert.equal("blocked_user", s:agent("user").status)
    assert(s:decide(s:inbox()[1].id, { decision = "approve", comment = "the first" }))
    s:crash():recover():run()
    assert.same({ decision = "approve", comment = "the first" }, s:agent("user").state.answer)
  end)
end)

-- One step of a history. Orders may or may not wait or time out.
local function step(random)
  local kind = random:pick({ "order", "order", "decide", "decide", "again", "advance", "crash" })
  return { kind = kind, agent = random:between(1, 3), wait = random:chance(70) and 1 or 0,
    timeout = random:between(0, 2) * 400, pick = random:between(0, 9), ms = random:between(0, 500) }
end

local DECISIONS = { "approve", "modify", "reject" }

-- The expected outcome of the history, kept beside it.
local function new_book()
  return { decided = {}, orders = 0 }
end

local function decide(s, book, each)
  local inbox = s:inbox()
  if #inbox == 0 then
    return
  end
  local item = inbox[each.pick % #inbox + 1]
  local decision = DECISIONS[each.pick % 3 + 1]
  assert(not book.decided[item.id], "a decided item is open")
  assert(s:decide(item.id,
    { decision = decision, changes = decision == "modify" and { n = 1 } or nil }))
  book.decided[item.id] = { decision = decision, title = item.title, agent = item.agent }
end

local function decide_again(s, book)
  for id, was in pairs(book.decided) do
    local done, err = s:decide(id, { decision = "approve" })
    assert(not done and err.error == "already_decided" and err.decision == was.decision)
  end
end

local STEPS = {
  order = function(s, book, each)
    book.orders = book.orders + 1
    assert(s:send("user", { to = "c" .. each.agent, payload = {
      title = "o" .. book.orders, wait = each.wait == 1,
      timeout_ms = each.timeout > 0 and each.timeout or nil,
      priority = each.pick > 6 and "high" or nil } }))
    s:advance(0)
  end,
  decide = decide,
  again = decide_again,
  advance = function(s, _, each) s:advance(each.ms) end,
  crash = function(s) s:crash():recover() end,
}

-- Every decision reached the agent that asked, once, as it was made.
local function check_told(s, book)
  local count, told = 0, {}
  for number = 1, 3 do
    for _, each in ipairs((s:agent("c" .. number).state or {}).told or {}) do
      if each.how ~= "timeout" then
        count = count + 1
        told[each.id or each.title] = (told[each.id or each.title] or 0) + 1
      end
    end
  end
  local decided = 0
  for id, was in pairs(book.decided) do
    decided = decided + 1
    local times = (told[id] or 0) + (told[was.title] or 0)
    if times ~= 1 then
      return false, ("%s was told %d times"):format(was.title, times)
    end
  end
  return count == decided, ("%d decisions, %d told"):format(decided, count)
end

local function run_history(history)
  local s = scene.troupe({ c1 = clerk, c2 = clerk, c3 = clerk }, { quiet = true })
  local book = new_book()
  for _, each in ipairs(history) do
    STEPS[each.kind](s, book, each)
  end
  -- Everybody still waiting is answered now, so that every order ends.
  for _ = 1, 100 do
    s:advance(2000)
    if #s:inbox() == 0 then
      break
    end
    decide(s, book, { pick = 0 })
  end
  decide_again(s, book)
  local held, why = check_told(s, book)
  local total = 0
  for _ in pairs(book.decided) do total = total + 1 end
  if held then
    held, why = total == book.orders, ("%d orders, %d items"):format(book.orders, total)
  end
  local law, counts = scene.law_holds(s)
  local waits = #s:waits()
  s:close()
  return held and law and waits == 0, why .. " " .. counts
end

describe("a decision", function()
  after_each(scene.close)

  it("has changes only if it is modify", function()
    local s = scene.troupe({ c1 = clerk }, { quiet = true })
    assert(s:send("user", { to = "c1", payload = { title = "o1", wait = true } }))
    s:advance(0)
    local id = s:inbox()[1].id
    for _, decision in ipairs({ "approve", "reject" }) do
      local _, err = s:decide(id, { decision = decision, changes = { n = 1 } })
      assert.matches("changes are allowed only with modify", err.message)
    end
    assert(s:decide(id, { decision = "modify", changes = { n = 1 } }))
  end)
end)

describe("histories of escalations, decisions, timeouts and crashes", function()
  after_each(scene.close)

  it("decide each item once and notify each agent once", function()
    property.check({ cases = 150, seed = 10 }, function(random)
      return random:list(1, 25, function() return step(random) end)
    end, run_history)
  end)
end)

describe("an agent that terminates", function()
  after_each(scene.close)

  local function firm()
    local s = scene.troupe({ pm = clerk, root = function(root, message)
      local done, err = root:terminate("pm", { force = message.payload.force })
      root.state.ended = done and true or err.error
    end })
    scene.tell(s, "pm", { title = "?" })
    return s, s:inbox()[1]
  end

  it("by itself leaves an item nobody waits for; the decision is recorded", function()
    local s = scene.troupe({ pm = function(pm)
      pm:escalate({ title = "for your information", wait = false })
      pm:stop()
    end })
    scene.tell(s, "pm")
    assert.is_nil(s:agent("pm"))
    local item = s:inbox()[1]
    local done = assert(s:decide(item.id, { decision = "approve" }))
    assert.is_false(done.delivered)
    assert.matches("has terminated", done.note)
    s:run()
    assert.same({}, s:messages({ type = "decision" }))
    assert.equal(1, #s:activity({ type = "decision", agent = "pm" }))
    assert.equal("already_decided", select(2, s:decide(item.id, { decision = "reject" })).error)
    assert(scene.law_holds(s))
  end)

  it("otherwise waits for the decision first", function()
    local s, item = firm()
    scene.tell(s, "root", { force = false })
    assert.equal("ending", s:agent("pm").status)
    assert.is_true(assert(s:decide(item.id, { decision = "approve" })).delivered)
    s:run()
    assert.is_nil(s:agent("pm"))
    assert(scene.law_holds(s))
  end)
end)

describe("an item", function()
  after_each(scene.close)

  it("is the same after a restart, folded or not", function()
    local folder = scene.folder()
    local acts = { pm = clerk }
    local s = scene.troupe(acts, { store = folder })
    scene.tell(s, "pm", { title = "in time?", timeout_ms = 1000, priority = "P0" })
    scene.tell(s, "pm", { title = "whenever", wait = false })
    local before = s:inbox()
    assert.is_true(before[1].overdue)
    assert.is_nil(before[2].overdue)
    s:crash():recover()
    assert.same(before, s:inbox())
    s:dump() -- folds
    s:crash():recover()
    assert.same(before, s:inbox())
    assert(s:decide(before[1].id, { decision = "approve" }))
    s:dump()
    s:crash():recover()
    assert.equal(1, #s:inbox())
    assert.equal("already_decided",
      select(2, s:decide(before[1].id, { decision = "approve" })).error)
  end)
end)
