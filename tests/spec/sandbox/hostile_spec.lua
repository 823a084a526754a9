-- Scripts that misuse the gate: their turn ends, the host and its totals stay intact.

local json = require("society.json")
local scene = require("scene")

--- A society whose root behaves as `behaviour`, told once; `app` adds to it.
local function told(behaviour, app)
  local s = scene.new({ app = function(s)
    if app then app(s) end
    s:root(behaviour)
  end })
  assert(s:send("user", { to = "root", payload = "go" }))
  return s
end

local function with_index(fields, act)
  return setmetatable(fields, { __index = function() act() end })
end

describe("misuse that the script catches", function()
  after_each(scene.close)

  for name, misuse in pairs({
    ["an empty list of receivers"] = function(a) a:send_message({ to = {}, payload = "x" }) end,
    ["a list with a number"] = function(a)
      a:send_message({ to = { "user", 5 }, payload = "x" })
    end,
    ["an unknown option of spawn_agent"] = function(a) a:spawn_agent("r", {}, { bogus = 1 }) end,
    ["a time-out that is no number"] = function(a) a:receive({ timeout_ms = "x" }) end,
  }) do
    it("leaves nothing behind, also across a crash: " .. name, function()
      local ends = 0
      local s = told(function(root)
        assert.is_false(pcall(misuse, root))
        root:sleep(10)
        ends = ends + 1
      end)
      s:step()
      s:crash()
      s:recover()
      s:run()
      assert.equal(1, ends)
      assert.same({ 1, 1, 0 }, { s:stats().sent, s:stats().processed, s:stats().waiting })
    end)
  end

  it("names the same unknown option whatever order Lua keeps", function()
    local err
    told(function(root)
      err = select(2, pcall(root.send_message, root, {
        to = "user", payload = "x", zeta = 1, alpha = 1, mid = 1, beta = 1,
      }))
    end):run()
    assert.matches("unknown option 'alpha'", err, 1, true)
  end)
end)

describe("an effect inside another one", function()
  after_each(scene.close)

  it("cannot be reached through the metatable of options", function()
    local s = told(function(root)
      local act = function() root:now() end
      root:send_message(with_index({ to = "user", content = { x = 1 } }, act))
      root:receive(with_index({ timeout_ms = 5 }, act))
    end)
    s:run()
    assert.equal(0, s:stats().dead)
  end)

  it("cannot be reached through the metatable of a brief", function()
    local _, err
    local s = told(function(root)
      local act = function() root:now() end
      local brief = with_index({ objective = "o", constraints = with_index({}, act) }, act)
      _, err = root:spawn_agent("r", brief)
    end, function(s) s:role({ id = "r", name = "r", behaviour = function() end }) end)
    s:run()
    assert.equal(0, s:stats().dead)
    assert.same({ "inputs", "outputs", "completion_criteria" }, err.missing_fields)
    assert.same({}, s:activity({ type = "policy_failed" }))
  end)

  it("ends the activation, not the host, when a policy is led to it", function()
    local handle
    local s = told(function(root)
      handle = root
      root:spawn_agent("r", scene.brief())
      root:now()
    end, function(s)
      s:role({ id = "r", name = "r", behaviour = function() end })
      s:policy("briefs", function() handle:now() end)
    end)
    s:run()
    assert.equal("refused", s:dead_letters()[1].reason)
  end)

  it("does not let a hidden payload through", function()
    local s = told(function(root)
      local ring = {}
      ring.ring = ring
      root:send_message(setmetatable({ to = "user", content = { x = 1 } },
        { __index = function() return ring end }))
    end)
    s:run()
    assert.same({ x = 1 }, s:messages({})[2].payload)
  end)
end)

describe("a <close> handler", function()
  after_each(scene.close)

  it("can do nothing once its turn has failed", function()
    local errors = {}
    local s
    s = told(function()
      local guard <close> = setmetatable({}, { __close = function()
        local ok, err = pcall(function() s:root(function() end) end)
        errors[#errors + 1] = not ok and err or "it worked"
      end })
      error(guard and "stop")
    end)
    s:run()
    assert.is_true(#errors > 0)
    for _, err in ipairs(errors) do assert.matches("can", err) end
    assert.equal("script_error", s:dead_letters()[1].reason)
  end)
end)

describe("a payload of the maximum depth", function()
  after_each(scene.close)

  it("can be requested, received and kept in a state", function()
    local function deep(levels)
      local value = { 1 }
      for _ = 2, levels do value = { value } end
      return value
    end
    local got
    local s = told(function(root)
      root.state = { deep = deep(62) }
      root:send_message({ to = "root", type = "deep", payload = deep(64) })
      got = root:receive({ type = "deep" })
    end)
    s:run()
    assert.equal(0, s:stats().dead)
    assert.is_table(got.payload)
    assert.is_table(s:agents())
  end)
end)

describe("a message that falls due while the society is down", function()
  after_each(scene.close)

  it("goes to the receive that waits for it", function()
    local got
    local s = told(function(root)
      root:send_message({ to = "root", type = "tick", payload = "x", delay_ms = 50 })
      got = root:receive({ type = "tick" })
    end)
    s:step()
    s:crash()
    s:advance(100)
    s:recover()
    s:run()
    assert.equal("x", got.payload.text)
    assert.equal(0, s:stats().pending)
  end)

  it("comes too late for a receive that had timed out before", function()
    local got, err
    local s = told(function(root, message)
      if message.type == "tick" then return end
      root:send_message({ to = "root", type = "tick", payload = "x", delay_ms = 50 })
      got, err = root:receive({ type = "tick", timeout_ms = 20 })
    end)
    s:step()
    s:crash()
    s:advance(100)
    s:recover()
    s:run()
    assert.is_nil(got)
    assert.equal("timeout", err.error)
  end)
end)

describe("a script changed while an activation waited", function()
  after_each(scene.close)

  local function changed(before, after)
    local behaviour = before
    local s = scene.new({ app = function(s) s:root(behaviour) end })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:step()
    behaviour = after
    s:crash()
    s:recover()
    s:run()
    return s
  end

  local function waits(root) root:now() root:sleep(10) end

  it("is detected if it now returns immediately", function()
    local s = changed(waits, function() end)
    assert.equal("nondeterministic", s:dead_letters()[1].reason)
  end)

  it("is detected if it now raises immediately", function()
    local s = changed(waits, function() error("new") end)
    assert.equal("nondeterministic", s:dead_letters()[1].reason)
  end)

  it("is detected if it now has no handler", function()
    local s = changed({ default = waits }, { other = waits })
    assert.equal("nondeterministic", s:dead_letters()[1].reason)
  end)

  it("does not ask the presentation again", function()
    local words, texts = "one", {}
    local s = scene.new({ app = function(s)
      s:policy("presentation", function() return words end)
      s:root(function(root, message)
        texts[#texts + 1] = message.text
        root:sleep(10)
      end)
    end })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:step()
    words = "two"
    s:crash()
    s:recover()
    s:run()
    assert.same({ "one", "one" }, texts)
  end)
end)

describe("the host", function()
  after_each(scene.close)

  it("reserves its roles: they cannot be spawned or declared", function()
    local errs = {}
    local s = told(function(root)
      for _, id in ipairs({ "user", "unknown", "root" }) do
        errs[#errs + 1] = select(2, root:spawn_agent(id, scene.brief())).error
      end
    end)
    s:run()
    assert.same({ "unknown_role", "unknown_role", "unknown_role" }, errs)
    assert.has_error(function() s:role({ id = "user", name = "u", behaviour = function() end }) end)
  end)

  it("applies its rule for task ids to every send", function()
    local err
    told(function(root)
      err = select(2, root:send_message({ to = "user", payload = "x", task_id = "../ bad" }))
    end):run()
    assert.equal("invalid_id", err.error)
  end)

  it("records no state that was only read", function()
    local s = told(function(root) return root.state.count end)
    s:run()
    assert.is_nil(s:agent("root").state)
  end)

  it("fails a turn whose result cannot be sent as the reply", function()
    local s = told(function() return { message_type = "two words" } end)
    s:run()
    assert.equal("script_error", s:dead_letters()[1].reason)
  end)

  it("uses the result as the reply if an explicit reply failed", function()
    local s = told(function(root, message)
      assert.is_nil((root:reply(message, nil)))
      return { text = json.encode({ 1 }) }
    end)
    s:run()
    assert.same({ text = "[1]" }, s:messages({})[2].payload)
  end)
end)
