-- The status of an agent, derived from its state, and its changes in the activity log.

local house = require("house")
local json = require("society.json")
local scene = require("scene")

local function changes(s, id)
  local list = {}
  for _, entry in ipairs(s:activity({ agent = id })) do
    if entry.event == "blocked" or entry.event == "unblocked" then
      local detail = json.decode(entry.detail)
      list[#list + 1] = ("%s: %s to %s, %s %s"):format(entry.event, detail.from, detail.to,
        detail.kind, table.concat(detail.waits_for, ","))
    end
  end
  return list
end

describe("status", function()
  after_each(scene.close)

  it("changes to blocked and back are logged with their chain", function()
    local s = scene.troupe({
      a = function(a)
        a:request({ to = "b", payload = "x" })
        a:receive({ from = "user", timeout_ms = 5 })
        a:receive({ type = "any", timeout_ms = 5 })
      end,
      b = function(b)
        b:sleep(10)
        return "y"
      end,
    })
    assert(s:send("user", { to = "a", payload = "go", correlation_id = "c-9" }))
    s:run()
    assert.same({
      "blocked: working to blocked_internal, reply b",
      "unblocked: blocked_internal to working, reply b",
      "blocked: working to blocked_user, receive user",
      "unblocked: blocked_user to working, receive user",
      "blocked: working to blocked_internal, receive ",
      "unblocked: blocked_internal to working, receive ",
    }, changes(s, "a"))
    assert.same({}, changes(s, "b")) -- an agent that sleeps or queries is busy
    assert.equal(3, #s:activity({ correlation_id = "c-9", type = "blocked" }))
  end)

  it("changes without a correlation id are found by the first message of their chain", function()
    local s = scene.troupe({ a = function(a) a:receive({ timeout_ms = 5 }) end })
    local id = scene.tell(s, "a")
    assert.equal(1, #s:activity({ correlation_id = id, type = "blocked" }))
  end)

  it("changes of main carry the id of its request", function()
    local s = scene.new({ app = function(world)
      world:root(function() return "x" end)
      world:main(function(user) user:request({ to = "root", payload = "x" }) end)
    end })
    s:run()
    local asked = scene.message(s, {}, { from = "user" })
    local told = s:activity({ agent = "user", type = "blocked" })
    assert.equal(1, #told)
    assert.equal(asked.id, told[1].correlation_id)
  end)

  it("is not logged if a reply ends the wait immediately", function()
    local s = scene.troupe({
      a = function(a)
        a:send_message({ to = "a", type = "note", payload = "x" })
        a:receive({ type = "note" })
      end,
    })
    scene.tell(s, "a")
    assert.same({}, changes(s, "a"))
  end)

  it("is logged once per wait, whatever crashes come between", function()
    local s = scene.troupe({ a = function(a) a:receive({ from = "root", timeout_ms = 50 }) end })
    assert(s:send("user", { to = "a", payload = "go" }))
    s:advance(10)
    for _ = 1, 2 do
      s:crash()
      s:recover()
      s:advance(10)
      assert.equal("blocked_internal", s:agent("a").status)
    end
    s:run()
    assert.same({
      "blocked: working to blocked_internal, receive root",
      "unblocked: blocked_internal to working, receive root",
    }, changes(s, "a"))
    assert.equal("idle", s:agent("a").status)
  end)

  it("is working during a query, a sleep, or while a turn waits for its retry", function()
    local s = scene.troupe({
      a = function(a) a:sleep(50) end,
      b = function() error("boom") end,
    })
    assert(s:send("user", { to = "a", payload = "go" }))
    assert(s:send("user", { to = "b", payload = "go" }))
    s:advance(10)
    assert.equal("working", s:agent("a").status)
    assert.equal("working", s:agent("b").status)
  end)
end)

describe("waiting for an introduction", function()
  after_each(scene.close)

  -- paul asks north, for whom the host answers; north asks root onward, root asks south, who
  -- answers for itself as `answer` says.
  local function street(answer)
    local s = house.new(nil, { tester = { introduction_request = answer } })
    house.hire(s, {
      { "root", "manager", "north" }, { "root", "tester", "south" },
      { "north", "programmer", "paul" },
    })
    assert(s:send("user", { to = "paul", payload = { order = "seek", to = "north",
      what = "deep sea diving" } }))
    s:advance(1)
    return s
  end

  local function targets(s)
    local list = {}
    for _, wait in ipairs(s:waits()) do
      list[#list + 1] = wait.agent .. ">" .. table.concat(wait.waits_for, ",")
    end
    return table.concat(list, " ")
  end

  it("waits for the agent asked onward, not for the one the host answers for", function()
    local s = street(function(agent)
      agent:sleep(100)
    end)
    assert.equal("south> paul>south", targets(s))
    s:crash()
    s:recover()
    assert.equal("south> paul>south", targets(s))
    s:run()
    assert.equal("no_introduction", house.state(s, "paul").refused.error)
  end)

  it("can deadlock with the agent asked onward, and names only those two", function()
    local s = street(function(agent, message)
      agent.state.waited = table.pack(agent:receive({ from = "paul", timeout_ms = 60000 }))[2]
      agent:decline(message, "no")
    end)
    local err = house.state(s, "paul").refused
    assert.equal("deadlock", err.error)
    assert.same({ "paul", "south" }, err.cycle)
    assert.equal("south>paul", targets(s))
    s:run()
    assert.equal(1, #s:activity({ type = "deadlock" }))
    assert.is_true(scene.law_holds(s))
  end)

  -- The host asks east, who takes its time and declines, then south.
  local function close_later(s)
    house.hire(s, {
      { "root", "manager", "north" }, { "root", "tester", "east" }, { "root", "tester", "south" },
      { "north", "programmer", "paul" },
    })
    assert(s:send("user", { to = "south", payload = "wait" }))
    s:advance(1)
    assert(s:send("user", { to = "paul", payload = { order = "seek", to = "north",
      what = "diving" } }))
    s:advance(1)
    assert.equal("east> south>paul paul>east", targets(s))
    local closed_at = s:now() + 9
    s:run()
    local told = s:activity({ type = "deadlock" })
    assert.equal(1, #told)
    assert.equal(closed_at, 1767225600000 + tonumber(told[1].time:match("%.(%d+)Z")))
    local err = house.state(s, "south").err
    assert.equal("deadlock", err.error)
    assert.same({ "south", "paul" }, err.cycle)
  end

  it("can deadlock when the host asks an agent that already waits", function()
    local s = house.new(nil, { tester = {
      introduction_request = function(agent, message)
        if agent.id == "east" then
          agent:sleep(10)
        end
        agent:decline(message, "no")
      end,
      default = function(agent)
        local _, err = agent:receive({ from = "paul", timeout_ms = 60000 })
        agent.state.err = err
      end,
    } })
    close_later(s)
    -- south was released and declined as well
    assert.equal("no_introduction", house.state(s, "paul").refused.error)
  end)

  it("can deadlock when the host asks consent of an agent that already waits", function()
    local s = house.new({ policies = { contacts = "open" } }, { manager = { note = function(agent)
      agent.state.err = table.pack(agent:receive({ from = "paul", timeout_ms = 60000 }))[2]
    end }, tester = { introduction_request = function(agent, message)
      agent:sleep(10)
      agent:decline(message, "no")
    end } })
    s:policy("introductions", function(request)
      if #request.asked == 0 then
        return { ask = "east" }
      end
      return request.consent and { refuse = "no" } or { confirm = "mona" }
    end)
    house.hire(s, { { "root", "tester", "east" }, { "root", "manager", "mona" },
      { "mona", "programmer", "paul" } })
    assert(s:send("user", { to = "mona", type = "note", payload = "wait" }))
    assert(s:send("user", { to = "paul", payload = { order = "seek", to = "root", what = "x" } }))
    s:advance(5)
    assert.equal("east> mona>paul paul>east", targets(s))
    s:advance(5)
    assert.same({ "mona", "paul" }, house.state(s, "mona").err.cycle)
    assert.equal("paul>mona", targets(s))
  end)
end)
