-- What the host itself sends, and requests that are handled without a reply.
--
-- Covers: core/script/turns/behaviour.c

local scene = require("scene")

-- A society whose root behaves as `behaviour` says and is alerted that its child has failed.
local function alerted(behaviour)
  local s = scene.new({ app = function(s)
    s.role({ id = "clumsy", behaviour = function() error("no luck") end })
    s.root(behaviour)
  end })
  s:send("root", { to = "root", type = "general", payload = "hire" })
  s:run()
  return s
end

local function hire(root, message)
  if message.payload.text == "hire" then
    local child = assert(root:spawn_agent("clumsy", scene.brief()))
    for _ = 1, 5 do
      root:send_message({ to = child.id, payload = "work" })
    end
  end
end

local function count_of(s)
  local alerts = 0
  for _, message in ipairs(s:messages({ type = "alert" })) do
    assert.equal("system", message.from)
    assert.equal("processed", message.status)
    alerts = alerts + 1
  end
  return alerts
end

describe("a message of the host", function()
  after_each(scene.close)

  it("does not reach a behaviour that is a function", function()
    local heard = 0
    local s = alerted(function(root, message)
      heard = heard + 1
      hire(root, message)
    end)
    assert.is_true(count_of(s) > 0)
    assert.equal(1, heard)
    assert.equal(1, scene.count(s:transcript(), "spawned by root"))
  end)

  it("does not reach default, and is logged", function()
    local heard = 0
    local s = alerted({ default = function(root, message)
      heard = heard + 1
      hire(root, message)
    end })
    assert.is_true(count_of(s) > 0)
    assert.equal(1, heard)
    assert.matches("info unhandled root: no handler for messages of type alert", s:transcript(), 1,
      true)
  end)

  it("does not reach the stages sense, think and act", function()
    local heard = 0
    local s = alerted({ sense = function(root, message)
      heard = heard + 1
      hire(root, message)
    end })
    assert.is_true(count_of(s) > 0)
    assert.equal(1, heard)
  end)

  it("reaches the handler of its type before the handler system", function()
    local heard = {}
    alerted({
      general = hire,
      alert = function(_, message) heard[#heard + 1] = "alert " .. message.payload.alert_type end,
      system = function() heard[#heard + 1] = "system" end,
    })
    assert.is_true(#heard > 0)
    for _, line in ipairs(heard) do
      assert.matches("^alert ", line)
    end
  end)

  it("reaches the handler system", function()
    local heard = {}
    local s = alerted({
      default = hire,
      system = function(_, message) heard[#heard + 1] = message.type end,
    })
    assert.equal(count_of(s), scene.count(table.concat(heard, " "), "alert"))
  end)

  it("is taken by receive, whatever the behaviour is", function()
    local got
    alerted(function(root, message)
      hire(root, message)
      got = root:receive({ type = "alert" })
    end)
    assert.equal("system", got.from)
  end)
end)

describe("a request that is handled without a reply", function()
  after_each(scene.close)

  it("is logged at that moment, seen in waits, and named by the time-out", function()
    local err
    local s = scene.troupe({
      a = function(a) err = select(2, a:request({ to = "b", payload = "x", timeout_ms = 500 })) end,
      b = function() end,
    })
    s:send("user", { to = "a", payload = "go" })
    s:advance(10)
    assert.matches("warn no_reply b: handled a request without a reply", s:transcript(), 1, true)
    assert.equal("finished", s:waits()[1].receiver)
    s:run()
    assert.equal("finished", err.receiver)
    assert.equal(1, #s:activity({ type = "no_reply" }))
  end)

  it("is no matter for a warning if the reply is on its way or comes with the result", function()
    local s = scene.troupe({
      a = function(a)
        a:request({ to = "b", payload = "x" })
        a:request({ to = "c", payload = "x" })
      end,
      b = function(b, message) b:reply(message, "later", { delay_ms = 50 }) end,
      c = function() return "now" end,
    })
    s:send("user", { to = "a", payload = "go" })
    s:run()
    assert.equal(0, scene.count(s:transcript(), "no_reply"))
  end)
end)
