-- Deadlocks: detected when the last edge is added. One agent of the cycle is released, the
-- others keep waiting.

local scene = require("scene")

-- A society whose agents obey: { request = id } asks, { receive = id } receives from.
-- `ends` collects the outcomes as { id, result, err }.
local function ring_of(options)
  local ends, acts = {}, {}
  local function act(agent, message)
    local order = message.payload
    if type(order) ~= "table" or not (order.request or order.receive) then
      return order.answer
    end
    local result, err
    if order.request then
      result, err = agent:request({ to = order.request, payload = order.ask or { n = 1 },
        timeout_ms = 60000 })
    else
      result, err = agent:receive({ from = order.receive, type = order.type, timeout_ms = 60000 })
    end
    ends[#ends + 1] = { id = agent.id, result = result, err = err }
    return { text = agent.id .. " is done" }
  end
  for _, id in ipairs(options.agents or { "a", "b", "c", "d" }) do
    acts[id] = act
  end
  acts.root = options.root or act
  local s = scene.troupe(acts, { policies = options.policies })
  return s, ends
end

-- Tells one agent to wait, then runs everything that can run now.
local function order(s, id, payload)
  assert(s:send("user", { to = id, payload = payload }))
  s:advance(0)
end

local function events(s, name)
  local found = {}
  for _, entry in ipairs(s:activity({ type = name })) do
    found[#found + 1] = entry
  end
  return found
end

local function waiting(s)
  local ids = {}
  for _, wait in ipairs(s:waits()) do
    ids[#ids + 1] = wait.agent .. ">" .. table.concat(wait.waits_for, ",")
  end
  return table.concat(ids, " ")
end

describe("a cycle of waiting agents", function()
  after_each(scene.close)

  it("is reported in order as it closes, and the earliest waiter is released", function()
    local s, ends = ring_of({})
    order(s, "a", { request = "b" })
    order(s, "b", { request = "c" })
    assert.equal("a>b b>c", waiting(s))
    assert.same({}, ends)
    local before = s:now()
    order(s, "c", { request = "a" })
    assert.equal(before, s:now())
    assert.equal(1, #ends)
    assert.equal("a", ends[1].id)
    assert.is_nil(ends[1].result)
    assert.equal("deadlock", ends[1].err.error)
    assert.same({ "a", "b", "c" }, ends[1].err.cycle)
    assert.matches("wait for each other", ends[1].err.message, 1, true)
    assert.equal("b>c c>a", waiting(s))
  end)

  it("stays broken: the others keep waiting, then get their replies", function()
    local s, ends = ring_of({})
    order(s, "a", { request = "b", ask = { request = "a" } })
    assert.equal("a", ends[1].id)
    assert.same({ "a", "b" }, ends[1].err.cycle)
    s:run()
    assert.equal(2, #ends)
    assert.equal("b", ends[2].id)
    assert.is_nil(ends[2].result)
    assert.equal("timeout", ends[2].err.error) -- a had no answer to b's question
    assert.equal("", waiting(s))
  end)

  it("lets a later activation answer the handler that was asked back", function()
    local s, ends = ring_of({})
    order(s, "a", { request = "b", ask = { request = "a", ask = { answer = { text = "fine" } } } })
    s:run()
    assert.equal("deadlock", ends[1].err.error)
    assert.equal("fine", ends[2].result.payload.text)
    -- b's reply to the released wait comes too late
    local late = scene.message(s, {}, { from = "b", to = "a", status = "dropped" })
    assert.equal("late_reply", late.reason)
    assert.matches("late_reply", s:transcript(), 1, true)
  end)

  it("may consist of receives, or of requests and receives", function()
    local s, ends = ring_of({})
    order(s, "a", { receive = "b" })
    order(s, "b", { receive = "a" })
    assert.same({ "a", "b" }, ends[1].err.cycle)
    assert.equal("b>a", waiting(s))
    order(s, "c", { receive = "b" })
    order(s, "a", { request = "c", ask = { text = "not from b" } })
    assert.equal(2, #ends)
    assert.equal("b", ends[2].id)
    assert.same({ "b", "a", "c" }, ends[2].err.cycle)
  end)

  it("has exactly one victim, logged once in the activity log", function()
    local s = ring_of({})
    order(s, "a", { request = "b" })
    order(s, "b", { request = "c" })
    order(s, "c", { request = "d" })
    order(s, "d", { request = "a" })
    local told = events(s, "deadlock")
    assert.equal(1, #told)
    assert.equal("a", told[1].agent)
    assert.equal('{"cycle":["a","b","c","d"],"victim":"a"}', told[1].detail)
    assert.equal(s:messages({ agent = "a" })[1].id, told[1].correlation_id)
    assert.matches("deadlock", s:transcript(), 1, true)
  end)

  it("with waits of the same moment is broken by order, not by time", function()
    for _, first in ipairs({ "a", "b" }) do
      local second = first == "a" and "b" or "a"
      local s, ends = ring_of({})
      assert(s:send("user", { to = first, payload = { receive = second, type = "x" } }))
      assert.is_true(s:step())
      assert(s:send("user", { to = second, payload = { receive = first, type = "x" } }))
      assert.is_true(s:step())
      s:advance(0)
      assert.equal(first, ends[1].id)
      assert.equal(1, #ends)
    end
  end)

  it("closes for a later asker that waits for a member", function()
    local s, ends = ring_of({})
    order(s, "d", { request = "a" }) -- waits for the cycle without being part of it
    order(s, "a", { request = "b" })
    order(s, "b", { request = "a" })
    assert.equal("a", ends[1].id)
    assert.same({ "a", "b" }, ends[1].err.cycle)
    assert.equal("b>a d>a", waiting(s))
  end)

  it("through root and its child ends as seed and script determine", function()
    local said = {}
    local s = scene.troupe({
      root = function(root, message)
        if message.payload.text == "price?" then
          return { text = "ask later" }
        end
        local answer, err = root:request({ to = "sales", payload = "quote?" })
        said.root = answer and answer.payload.text or err.error
      end,
      sales = function(sales)
        local answer, err = sales:request({ to = "root", payload = "price?" })
        said.sales = answer and answer.payload.text or err.error
        return { text = "100" }
      end,
    })
    scene.tell(s, "root")
    assert.same({ root = "deadlock", sales = "ask later" }, said)
    assert.is_true(scene.law_holds(s))
  end)
end)

describe("the deadlock policy", function()
  after_each(scene.close)

  local function close_ring(policies, policy)
    local s, ends = ring_of({ policies = policies })
    if policy then
      s:policy("deadlock", policy)
    end
    order(s, "a", { request = "b" })
    s:advance(5)
    order(s, "b", { request = "c" })
    order(s, "c", { request = "a" })
    assert.equal(1, #ends)
    return ends[1], s
  end

  it("latest releases the agent that closed the cycle", function()
    local last = close_ring({ contacts = "open", deadlock = "latest" })
    assert.equal("c", last.id)
    assert.same({ "c", "a", "b" }, last.err.cycle)
  end)

  it("is given who waits for whom, since when and how", function()
    local asked
    local victim = close_ring(nil, function(request)
      asked = request
      return "b"
    end)
    assert.same({ "b", "c", "a" }, victim.err.cycle)
    assert.equal(3, #asked.cycle)
    local c, a, b = table.unpack(asked.cycle)
    assert.same({ "c", "actor", "root", "a", "reply" }, { c.id, c.role, c.parent, c.waits_for,
      c.kind })
    assert.same({ "a", "b", "b", "c" }, { a.id, a.waits_for, b.id, b.waits_for })
    assert.equal(a.since + 5, b.since)
    assert.is_true(a.order < b.order and b.order < c.order)
  end)

  it("falls back to the default, and is reported, if it returns nonsense", function()
    for _, nonsense in ipairs({
      function() return "nobody" end,
      function() return 7 end,
      function() error("no idea") end,
    }) do
      local victim, s = close_ring(nil, nonsense)
      assert.equal("a", victim.id)
      assert.matches("policy_failed", s:transcript(), 1, true)
    end
  end)
end)

describe("a cycle and a crash", function()
  after_each(scene.close)

  it("an edge is restored after a restart and closes the cycle", function()
    local s, ends = ring_of({})
    order(s, "a", { request = "b" })
    order(s, "b", { receive = "c" })
    s:crash()
    s:recover()
    s:advance(0)
    assert.equal("a>b b>c", waiting(s))
    order(s, "c", { request = "a" })
    assert.equal(1, #ends)
    assert.same({ "a", "b", "c" }, ends[1].err.cycle)
  end)

  it("a broken cycle stays broken: the victim gets the same error again", function()
    local s, ends = ring_of({})
    order(s, "a", { request = "b" })
    assert(s:send("user", { to = "b", payload = { request = "a" } }))
    assert.is_true(s:step()) -- b waits, the cycle is broken, a has not run
    assert.same({}, ends)
    s:crash()
    s:recover()
    s:advance(0)
    assert.equal(1, #ends)
    assert.same({ "a", "b" }, ends[1].err.cycle)
    assert.equal(1, #events(s, "deadlock"))
    assert.equal("b>a", waiting(s))
  end)
end)
