-- Turns commit atomically.

local json = require("society.json")
local scene = require("scene")

describe("a turn that raises", function()
  after_each(scene.close)

  -- What a society shows of itself, except for the message that failed.
  local function picture(s)
    local agents = {}
    for _, agent in ipairs(s:agents()) do
      agents[#agents + 1] = { agent.id, agent.state, agent.status, s:contacts(agent.id) }
    end
    return json.encode(agents)
  end

  -- Lets a turn of root act and raise. `after` is what root does in a later turn.
  local function fail_after(act, after)
    local s = scene.troupe({
      root = function(root, message)
        if message.type == "after" then return after(root) end
        act(root, message)
        error("boom")
      end,
      a = function() end, b = function() end,
    })
    local before = picture(s)
    scene.tell(s, "root")
    assert.equal(1, s:stats().dead)
    assert.equal(before, picture(s))
    return s
  end

  it("leaves no message behind", function()
    local s = fail_after(function(root, message)
      assert(root:send_message({ to = "a", payload = "x" }))
      assert(root:send_message({ to = { "a", "b" }, payload = "x" }))
      assert(root:reply(message, "x"))
    end)
    assert.equal(2, s:stats().sent)
    assert.equal(2, #s:messages())
  end)

  it("leaves no agent behind, and its id is free again", function()
    local s = fail_after(function(root)
      assert(root:spawn_agent("actor", scene.brief(), { id = "c", message = "start" }))
      assert(root:spawn_agent("actor", scene.brief()))
    end)
    assert.equal(4, s:stats().agents)
    assert.is_nil(s:agent("c"))
  end)

  it("leaves no contact changed", function()
    fail_after(function(root)
      assert(root:add_contact({ id = "a", interfaceSpec = { services = "s" } }))
      assert(root:send_message({ to = "b", payload = "x" }))
    end)
  end)

  it("leaves no role behind", function()
    local err
    scene.tell(fail_after(function(root)
      assert(root:create_role({ id = "fresh", name = "f", prompt = "p", behaviour = "actor" }))
      assert(root:spawn_agent("fresh", scene.brief()))
    end, function(root)
      err = select(2, root:spawn_agent("fresh", scene.brief()))
    end), "root", "go", "after")
    assert.equal("unknown_role", err.error)
  end)

  it("leaves no state behind", function()
    fail_after(function(root) root.state.n = 1 end)
  end)

  it("prints nothing", function()
    local s = scene.new({ app = scene.app([[
      require("society").root(function(root, message)
        print("never seen")
        if message.payload.text == "bad" then error("boom") end
        print("seen")
      end)
    ]]) })
    scene.tell(s, "root", "bad")
    assert.equal(0, scene.count(s:transcript(), "never seen"))
    scene.tell(s, "root", "good")
    assert.equal(1, scene.count(s:transcript(), "never seen"))
    assert.equal(1, scene.count(s:transcript(), "print root: seen"))
  end)

  it("keeps what earlier turns of the activation did, once", function()
    local fails = 2
    local got = {}
    local s = scene.troupe({
      root = function(root)
        root:send_message({ to = "a", payload = "before" })
        root:sleep(10)
        root:send_message({ to = "a", payload = "after" })
        if fails > 0 then
          fails = fails - 1
          error("boom")
        end
      end,
      a = function(_, message) got[#got + 1] = message.payload.text end,
    })
    scene.tell(s, "root")
    assert.same({ "before", "after" }, got)
    assert.equal(4, s:stats().processed)
  end)

  it("fails alone: the society continues", function()
    local seen
    local s = scene.troupe({
      a = function() error("boom") end,
      b = function() seen = true end,
    })
    scene.tell(s, "a")
    scene.tell(s, "b")
    assert.is_true(seen)
  end)
end)

describe("agent.state", function()
  after_each(scene.close)

  it("is kept from one activation to the next", function()
    local s = scene.troupe({
      a = function(a) a.state.n = (a.state.n or 0) + 1 end,
    })
    for _ = 1, 3 do
      scene.tell(s, "a")
    end
    assert.same({ n = 3 }, s:agent("a").state)
  end)

  it("can be replaced as a whole, and no other field can", function()
    local raised
    local s = scene.troupe({
      a = function(a)
        a.state = { fresh = true }
        local _, err = pcall(function() a.id = "b" end)
        raised = err
      end,
    })
    scene.tell(s, "a")
    assert.same({ fresh = true }, s:agent("a").state)
    assert.matches("agent.id cannot be set", raised, 1, true)
  end)

  it("is committed when the activation ends, not when a turn does", function()
    local s = scene.troupe({
      a = function(a)
        a.state.n = 1
        a:sleep(10)
        a.state.n = 2
      end,
    })
    assert(s:send("user", { to = "a", payload = "x" }))
    s:advance(5)
    assert.is_nil(s:agent("a").state)
    s:run()
    assert.same({ n = 2 }, s:agent("a").state)
  end)

  it("is rolled back if the activation fails", function()
    local s = scene.troupe({
      a = function(a, message)
        a.state.n = message.payload.n
        a:sleep(1)
        if message.payload.n == 2 then
          error("boom")
        end
      end,
    })
    scene.tell(s, "a", { n = 1 })
    scene.tell(s, "a", { n = 2 })
    assert.same({ n = 1 }, s:agent("a").state)
  end)

  it("survives a crash", function()
    local s = scene.troupe({ a = function(a) a.state.list = { 1, { x = "y" } } end })
    scene.tell(s, "a")
    s:crash()
    s:recover()
    assert.same({ list = { 1, { x = "y" } } }, s:agent("a").state)
  end)

  local function fails_with(act)
    local s = scene.troupe({ a = act })
    scene.tell(s, "a")
    assert.equal(1, s:stats().dead)
    assert.is_nil(s:agent("a").state)
    return scene.reason(s:dead_letters()[1]).message
  end

  it("that is not JSON raises and names the place", function()
    assert.matches("state.a.b", fails_with(function(a)
      a.state.a = { b = function() end }
    end), 1, true)
    assert.matches("state.list[2]", fails_with(function(a)
      a.state.list = { 1, 0 / 0 }
    end), 1, true)
    assert.matches("state", fails_with(function(a) a.state[a] = 1 end), 1, true)
  end)

  it("over one megabyte raises; exactly one megabyte is allowed", function()
    assert.matches("1 MB", fails_with(function(a)
      a.state.text = ("x"):rep(1 << 20)
    end), 1, true)
    local s = scene.troupe({ a = function(a) a.state.text = ("x"):rep((1 << 20) - 11) end })
    scene.tell(s, "a")
    assert.equal((1 << 20) - 11, #s:agent("a").state.text)
  end)
end)

describe("an agent's handle", function()
  after_each(scene.close)

  it("knows itself", function()
    local seen
    local s = scene.troupe({
      a = function(a)
        seen = { a.id, a.role, a.parent, a.brief.objective, a.status }
      end,
    })
    scene.tell(s, "a")
    assert.same({ "a", { id = "actor", name = "演员" }, "root", "do it", "working" }, seen)
  end)

  it("raises outside its own activation", function()
    local kept, errors = nil, {}
    local s = scene.troupe({
      a = function(a)
        if kept then
          errors[#errors + 1] = select(2, pcall(kept.send_message, kept, { to = "a", payload = 1 }))
          errors[#errors + 1] = select(2, pcall(function() return kept.state end))
        end
        kept = a
      end,
      b = function()
        errors[#errors + 1] = select(2, pcall(kept.now, kept))
      end,
    })
    scene.tell(s, "a")
    errors[#errors + 1] = select(2, pcall(kept.now, kept))
    scene.tell(s, "a")
    scene.tell(s, "b")
    assert.equal(4, #errors)
    for _, err in ipairs(errors) do
      assert.matches("only inside its own activation", err, 1, true)
    end
  end)

  it("raises after a crash", function()
    local kept
    local s = scene.troupe({ a = function(a) kept = a end })
    scene.tell(s, "a")
    s:crash()
    assert.is_false(pcall(kept.now, kept))
    s:recover()
    assert.is_false(pcall(kept.now, kept))
  end)
end)

describe("society.* inside a turn", function()
  after_each(scene.close)

  it("may query, and the query is an effect", function()
    local first, again
    local s
    s = scene.troupe({
      a = function(a)
        local agents = #s:agents()
        a:sleep(10)
        first, again = agents, #s:agents()
      end,
      b = function() end,
    })
    assert(s:send("user", { to = "a", payload = "x" }))
    s:advance(0)
    assert(s:send("user", { to = "root", type = "enter", payload = { ids = { "c" } } }))
    s:crash()
    s:recover()
    s:run()
    assert.equal(4, first)
    assert.equal(5, again)
  end)

  for _, name in ipairs({ "role", "root", "main", "policy", "config", "redeliver", "drop" }) do
    it("may not change: " .. name, function()
      local raised
      local s
      s = scene.troupe({
        a = function() raised = select(2, pcall(s[name], s, {}, {})) end,
      })
      scene.tell(s, "a")
      assert.matches("society." .. name, raised, 1, true)
    end)
  end
end)
