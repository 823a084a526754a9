-- What happens to a turn that fails: retries with back-off, then a dead letter; and scripts
-- cannot hold up the host.
--
-- Covers: core/parts/supervision/alert.c

local scene = require("scene")

describe("supervision", function()
  after_each(scene.close)

  local function failing(settings, tries)
    local times = {}
    local s = scene.troupe({
      a = function(a)
        times[#times + 1] = a:now() - 1767225600000
        if #times < (tries or 99) then
          error("boom " .. #times)
        end
      end,
    }, settings)
    scene.tell(s, "a")
    return s, times
  end

  it("retries after 100, 200 and 400 ms and then gives up", function()
    local s, times = failing()
    assert.same({ 0, 100, 300, 700 }, times)
    assert.equal(1, s:stats().dead)
  end)

  it("continues after a retry that succeeds", function()
    local s, times = failing(nil, 3)
    assert.same({ 0, 100, 300 }, times)
    assert.equal(0, s:stats().dead)
    assert.equal(2, s:stats().processed)
  end)

  it("does not retry what could only see the same recorded error", function()
    for _, case in ipairs({
      { tries = 1, look = function() end },
      { tries = 1, look = function(a) a:log("info", "again") end },
      { tries = 4, look = function(a) a:now() end }, -- asks for something else
    }) do
      local tries = 0
      local s = scene.troupe({
        a = function(a)
          local answer, err = a:request { to = "b", payload = "?", timeout_ms = 5 }
          assert(answer == nil and err.error == "timeout")
          tries = tries + 1
          case.look(a)
          error("no answer")
        end,
        b = function(b) b:sleep(1000) end,
      })
      scene.tell(s, "a")
      assert.equal(case.tries, tries)
      assert.equal(1, s:stats().dead)
      assert.matches("no answer", s:dead_letters()[1].error.message, 1, true)
      assert.equal(case.tries == 1, s:transcript():find("no_retry a: ", 1, true) ~= nil)
      scene.close()
    end
  end)

  it("asks the policy in force", function()
    local times = {}
    local s = scene.new({ app = function(s)
      s:policy("supervision", "backoff", { first_ms = 10, retries_max = 2, factor = 3 })
      s:root(function(root)
        times[#times + 1] = root:now() - 1767225600000
        error("boom")
      end)
    end })
    scene.tell(s, "root")
    assert.same({ 0, 10, 40 }, times)
  end)

  it("accepts a policy of the app", function()
    local times = {}
    local s = scene.new({ app = function(s)
      s:policy("supervision", function(request)
        return request.failures == 1 and request.agent.id == "root" and 5 or nil
      end)
      s:root(function(root)
        times[#times + 1] = root:now() - 1767225600000
        error("boom")
      end)
    end })
    scene.tell(s, "root")
    assert.same({ 0, 5 }, times)
    assert.equal(1, s:stats().dead)
  end)

  it("counts the failures of one turn, not of earlier ones", function()
    local failures = { 2, 2 }
    local s = scene.troupe({
      a = function(a)
        for stage = 1, 2 do
          if failures[stage] > 0 then
            failures[stage] = failures[stage] - 1
            error("boom")
          end
          a:sleep(1)
        end
      end,
    })
    scene.tell(s, "a")
    assert.equal(0, s:stats().dead)
  end)

  it("keeps the error and the traceback, with file and line", function()
    local s = scene.new({ app = scene.app([[
local function inner()
  error("told so")
end
require("society").root(function() inner() end)
]]) })
    scene.tell(s, "root")
    local reason = scene.reason(s:dead_letters()[1])
    assert.equal("script_error", reason.error)
    assert.matches("app.lua:2: told so", reason.message, 1, true)
    assert.matches("app.lua:2", reason.traceback, 1, true)
    assert.matches("app.lua:4", reason.traceback, 1, true)
  end)

  it("keeps an error value that is a table", function()
    local s = scene.troupe({ a = function() error({ code = 7 }) end })
    scene.tell(s, "a")
    assert.matches('"code":7', scene.reason(s:dead_letters()[1]).message, 1, true)
  end)

  it("treats a reply that cannot be sent as a failure", function()
    local s = scene.troupe({ a = function() return { f = print } end })
    scene.tell(s, "a")
    assert.equal(1, s:stats().dead)
    assert.matches("f", scene.reason(s:dead_letters()[1]).message, 1, true)
  end)
end)

describe("an activation with too many effects", function()
  after_each(scene.close)

  it("becomes a dead letter immediately: activation_too_long", function()
    local runs = 0
    local s = scene.troupe({
      a = function(a)
        runs = runs + 1
        for _ = 1, 11 do
          a:now()
        end
      end,
    }, { config = { effects_max = 10 } })
    scene.tell(s, "a")
    assert.equal(1, runs)
    assert.equal("activation_too_long", scene.reason(s:dead_letters()[1]).error)
  end)

  it("may have exactly as many as the limit", function()
    local s = scene.troupe({
      a = function(a)
        for _ = 1, 10 do
          a:now()
        end
      end,
    }, { config = { effects_max = 10 } })
    scene.tell(s, "a")
    assert.equal(0, s:stats().dead)
  end)

  it("has a limit of 10,000 by default", function()
    local s = scene.troupe({
      a = function(a, message)
        for _ = 1, message.payload.n do
          a:now()
        end
      end,
    })
    scene.tell(s, "a", { n = 10000 })
    assert.equal(0, s:stats().dead)
    scene.tell(s, "a", { n = 10001 })
    assert.equal(1, s:stats().dead)
  end)

  it("counts across all its turns, and across a crash", function()
    local s = scene.troupe({
      a = function(a)
        for _ = 1, 6 do
          a:sleep(1)
        end
      end,
    }, { config = { effects_max = 5 } })
    assert(s:send("user", { to = "a", payload = "x" }))
    s:advance(3)
    s:crash()
    s:recover()
    s:run()
    assert.equal("activation_too_long", scene.reason(s:dead_letters()[1]).error)
  end)

  it("cannot hide it by pcall, and does nothing more", function()
    local s = scene.new({
      config = { effects_max = 5 },
      app = scene.app([[
        require("society").root(function(root)
          for _ = 1, 20 do
            pcall(root.send_message, root, { to = "user", payload = "x" })
          end
        end)
      ]]),
    })
    scene.tell(s, "root")
    assert.equal(1, s:stats().dead)
    assert.equal(1, s:stats().sent)
  end)
end)

describe("an endless loop", function()
  after_each(scene.close)

  local function looping(body)
    local s = scene.new({
      config = { steps_max = 1000000 },
      app = scene.app(('require("society").root(function(root) %s end)'):format(body)),
    })
    scene.tell(s, "root")
    assert.equal(1, s:stats().dead)
    return scene.reason(s:dead_letters()[1])
  end

  for name, body in pairs({
    ["plain"] = "while true do end",
    ["inside pcall"] = "pcall(function() while true do end end) print('never')",
    ["pcall again and again"] = "while true do pcall(function() while true do end end) end",
    ["inside a coroutine"] = "coroutine.wrap(function() while true do end end)()",
    ["in a handler of xpcall"] = "xpcall(error, function() while true do end end)",
  }) do
    it("is stopped by the step budget and not retried: " .. name, function()
      local reason = looping(body)
      assert.equal("budget_exceeded", reason.error)
      assert.is_string(reason.message)
      assert.matches(":1$", reason.where) -- the body has one line
    end)
  end

  it("leaves other agents their time", function()
    local s = scene.new({
      config = { steps_max = 1000000 },
      app = scene.app([[
        local society = require("society")
        society.role{ id = "spinner", name = "s", behaviour = function() while true do end end }
        society.root(function(root, message)
          root:spawn_agent("spinner", { objective = "o", constraints = {}, inputs = "i",
            outputs = "o", completion_criteria = "c" }, { id = "s1", message = "spin" })
          root:sleep(1)
          return "alive"
        end)
      ]]),
    })
    assert.equal("alive", s:dispatch("root", "x").payload.text)
  end)
end)
