-- What a script may change without breaking activations that wait: what it prints and logs,
-- and what it asks agent:version about.

local scene = require("scene")

describe("a waiting activation", function()
  after_each(scene.close)

  -- Runs `before` until it waits, crashes, and goes on with `after`.
  local function change(before, after, config)
    local behaviour = before
    local s = scene.new({ config = config, app = function(s) s:root(behaviour) end })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:step()
    behaviour = after
    s:crash()
    s:recover()
    s:run()
    return s, s:agent("root").state or {}
  end

  -- The same with apps in files: only there `print` is the host's. Steps are those until root
  -- waits and what it did is durable.
  local function change_file(before, after, config)
    local path = scene.app(before)
    local s = scene.new({ app = path, config = config })
    assert(s:send("user", { to = "root", payload = "go" }))
    while s:step() do end -- luacheck: ignore 542
    local file = assert(io.open(path, "w"))
    file:write(after)
    file:close()
    s:crash()
    s:recover()
    s:run()
    return s, s:agent("root").state or {}
  end

  local function lines(s)
    local list = {}
    for line in s:transcript():gmatch("[^\n]*") do
      list[#list + 1] = line:match("print root: (.*)") or line:match("log root: (.*)")
    end
    return list
  end

  it("goes on if the script prints and logs other lines, or none", function()
    local APP = [[require("society").root(function(root)
      %s
      root:send_message { to = "user", payload = "sent" }
      root:sleep(10)
      print("awake")
      root.state.done = true
    end)]]
    local BEFORE = [[print("a") root:log("info", "b")]]
    for _, now in ipairs({ BEFORE, "", [[print("other")]], [[root:log("warn", "a") print("b")]],
      [[for i = 1, 3 do print(i) root:log("info", "i") end]] }) do
      local s, state = change_file(APP:format(BEFORE), APP:format(now))
      assert.same({ done = true }, state, now)
      assert.same({}, s:dead_letters())
      assert.same({ "b", "a", "awake" }, lines(s))
      assert.equal(1, s:stats().sent - 1)
      scene.close()
    end
  end)

  it("prints nothing twice, and everything behind its wait", function()
    local APP = [[require("society").root(function(root)
      root:sleep(10)
      print("one")
      root:sleep(10)
      print("two")
    end)]]
    local path = scene.app(APP)
    local s = scene.new({ app = path })
    assert(s:send("user", { to = "root", payload = "go" }))
    for _ = 1, 30 do
      if not s:step() then
        s:advance(1)
      end
      s:crash()
      s:recover()
    end
    s:run()
    assert.same({ "one", "two" }, lines(s))
  end)

  it("is not kept from its end by a script that prints endlessly", function()
    local s = change_file([[require("society").root(function(root) root:sleep(10) end)]],
      [[require("society").root(function(root)
        while true do
          print("again")
        end
        root:sleep(10)
      end)]], { steps_max = 20000 })
    assert.equal("budget_exceeded", s:dead_letters()[1].error.error)
    assert.same({}, lines(s))
  end)

  it("takes the old way where it had passed agent:version before there was one", function()
    local function new(root)
      if root:version("polite", 0) > 0 then
        root:send_message { to = "user", payload = "please" }
      end
      root:sleep(10)
      root.state.ways = { root:version("polite", 0), root:version("short", 3, 7) }
      root.state.again = root:version("polite", 0)
      root:sleep(10)
      root.state.last = root:version("polite", 0)
    end
    local s, state = change(function(root)
      root:sleep(10)
      root:sleep(10)
    end, new)
    assert.same({ ways = { 0, 7 }, again = 0, last = 0 }, state)
    assert(s:send("user", { to = "root", payload = "go" }))
    s:run()
    assert.same({ ways = { 1, 7 }, again = 1, last = 1 }, s:agent("root").state)
  end)

  it("keeps its version, whatever the script says later or if it no longer asks", function()
    local function asks(current)
      return function(root)
        root.state.first = current and root:version("polite", 0, current)
        root:sleep(10)
        root.state.then_ = current and root:version("polite", 0, current)
      end
    end
    local _, state = change(asks(1), asks(2))
    assert.same({ first = 1, then_ = 1 }, state)
    local s = change(asks(1), asks(nil))
    assert.same({}, s:dead_letters())
  end)

  it("is told what is no version", function()
    local s = change(function() end, function(root)
      local ok, err = pcall(function() root:version("polite", 3, 3) end)
      root.state.faults = { ok, err, select(2, pcall(function() root:version(7) end)) }
    end)
    assert(s:send("user", { to = "root", payload = "go" }))
    s:run()
    local faults = s:agent("root").state.faults
    assert.is_false(faults[1])
    assert.matches("bad argument #3 to 'version' (an integer above the default expected)",
      faults[2], 1, true)
    assert.matches("bad argument #1 to 'version' (string expected, got number)", faults[3], 1, true)
  end)
end)
