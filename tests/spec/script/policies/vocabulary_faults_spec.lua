-- Vocabularies with code of their own, and with faults.
--
-- Covers: core/script/policies/rule.c, core/script/policies/vocabulary.c

local json = require("society.json")
local scene = require("scene")

local USUAL = { "society", "workflow", "helix" }

local function vocabulary(types, more)
  local made = { kind = "messages", version = 1, types = types }
  for name, value in pairs(more or {}) do
    made[name] = value
  end
  return made
end

local function pair()
  return scene.pair({ messages = USUAL })
end

local function send(s, type, payload)
  local sent, err = s:send("a", { to = "b", type = type, payload = payload or "x" })
  return sent ~= nil, err
end

local function raised(s, ...)
  local ok, err = pcall(s.policy, s, "messages", ...)
  assert.is_false(ok)
  return err
end

describe("a check function", function()
  after_each(scene.close)

  local function with(check)
    local s = pair()
    s:policy("messages", vocabulary({ order = {
      required = { "n" }, fields = { n = "integer" }, check = check,
    } }, { defaults = { most = 9 } }))
    return s
  end

  it("gets the payload and the settings, after the declared fields are checked", function()
    local seen = {}
    local s = with(function(payload, settings)
      seen[#seen + 1] = json.encode({ payload, settings.most, settings.mode })
      return payload.n <= settings.most, { missing_fields = { "m" }, details = { "too many" } }
    end)
    assert.is_false(send(s, "order", {}))
    assert.is_true(send(s, "order", { n = 9 }))
    local _, err = send(s, "order", { n = 10 })
    assert.same({ '[{"n":9},9,"reject"]', '[{"n":10},9,"reject"]' }, seen)
    assert.same({ "m" }, err.missing_fields)
    assert.same({ "too many" }, err.details)
  end)

  it("may return a message, or just false", function()
    local s = with(function(payload) return false, payload.n > 0 and "too many" or nil end)
    assert.same({ "too many" }, select(2, send(s, "order", { n = 1 })).details)
    assert.same({ "order does not accept this payload" },
      select(2, send(s, "order", { n = 0 })).details)
  end)

  it("that raises or returns nonsense is reported once; the declared fields still apply", function()
    for _, check in ipairs({ function() error("oh") end, function() return 7 end,
      function() return nil end, function() while true do end end }) do
      local s = with(check)
      assert.is_true(send(s, "order", { n = 1 }))
      assert.is_true(send(s, "order", { n = 2 }))
      assert.is_false(send(s, "order", { n = "x" }))
      assert.equal(1, scene.count(s:transcript(), "policy_failed"))
    end
  end)

  it("cannot change what is sent", function()
    local s = with(function(payload) payload.n = 99 return true end)
    assert.is_true(send(s, "order", { n = 1 }))
    s:run()
    assert.equal(1, scene.message(s, { type = "order" }).payload.n)
  end)
end)

describe("a faulty vocabulary", function()
  after_each(scene.close)

  it("is refused with a message, and the one in force stays", function()
    local s = pair()
    local deep = { kind = "object" }
    deep.fields = { again = deep }
    for _, case in ipairs({
      { vocabulary(nil), "types must be a table" },
      { vocabulary({ order = 7 }), "app: order: a table expected, got number" },
      { vocabulary({ order = { colour = 1 } }), "order: unknown field 'colour'" },
      { vocabulary({ ["a b"] = {} }), "a b: a type has 1 to 64 characters of" },
      { vocabulary({ order = { fields = { n = "text" } } }), "order.n: there is no kind 'text'" },
      { vocabulary({ order = { fields = { n = 7 } } }), "order.n: a kind or a table of rules" },
      { vocabulary({ order = { fields = { n = { values = { 1 } } } } }), "list of strings" },
      { vocabulary({ order = { fields = { n = { items = "odd" } } } }), "order.n[]: there is no" },
      { vocabulary({ order = { required = { "n" } } }), "required names fields, and there are" },
      { vocabulary({ order = { required = { "n" }, fields = {} } }), "order.n: required, and not" },
      { vocabulary({ order = { required = { "n", "n" }, fields = { n = "any" } } }), "twice" },
      { vocabulary({ order = { fields = { deep = deep } } }), "rules are at most 8 deep" },
      { vocabulary({ order = { check = 1 } }), "order: check must be a function" },
      { vocabulary({ order = { requires_ack = 1 } }), "requires_ack must be true or false" },
      { vocabulary({}, { kind = "contacts" }), 'kind must be "messages"' },
      { vocabulary({}, { version = "1" }), "version must be a number" },
      { vocabulary({}, { colour = 1 }), "unknown field 'colour'" },
      { vocabulary({}, { defaults = { mode = "shout" } }), 'mode must be "reject" or "warn"' },
      { vocabulary({}, { defaults = { requires_ack = { x = true } } }), "has no type 'x'" },
      { function() end, "types must be a table" },
      { "nowhere", "there is no policy messages/nowhere.lua" },
      { { "society", "society" }, "vocabulary 'society' is listed twice" },
      { { "society", 7 }, "a list of names and vocabularies expected" },
      { ",", "at least one vocabulary must be active" },
      { {}, "at least one vocabulary must be active" },
    }) do
      assert.matches(case[2], raised(s, case[1]), 1, true)
    end
    assert.matches("has no setting 'colour'", raised(s, "helix", { colour = 1 }), 1, true)
    assert.matches("it has no type 'task'",
      raised(s, "society", { requires_ack = { task = true } }), 1, true)
    assert.is_true(send(s, "query", { query = "?" }))
    assert.is_false(send(s, "order", "x"))
  end)

  it("is refused if it fails one of its own examples", function()
    local s = pair()
    local types = { order = { required = { "n" }, fields = { n = "integer" } } }
    for _, case in ipairs({
      { { type = "order", payload = {} }, 'example 1: a order was refused: "n is missing"' },
      { { type = "order", payload = { n = 1 }, expect = false }, "example 1: a order was taken" },
      { { type = "order", payload = { n = 1 }, expect = { "n" } }, "example 1: a order lacks []" },
      { { type = "order", payload = {}, expect = { "m" } }, 'example 1: a order lacks ["n"]' },
      { { type = "bill", payload = {} }, "example 1: there is no type 'bill'" },
      { { type = "order" }, "example 1: " },
    }) do
      assert.matches(case[2], raised(s, vocabulary(types, { examples = { case[1] } })), 1, true)
    end
    local good = { type = "order", payload = { n = 1 } }
    for _, examples in ipairs({ { good, 7, good }, { good, "x" }, { good, false } }) do
      assert.matches("example 2: it must be a table",
        raised(s, vocabulary(types, { examples = examples })), 1, true)
    end
    types.order.check = function() error("oh") end
    assert.matches("the check of order fails",
      raised(s, vocabulary(types, { examples = { { type = "order", payload = { n = 1 } } } })), 1,
      true)
    assert.is_false(send(s, "order", { n = 1 }))
  end)
end)
