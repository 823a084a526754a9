-- Generated messages of every shipped type: valid ones pass, and a removed or changed field
-- is named. Then bad input of every kind.

local json = require("society.json")
local property = require("property")
local scene = require("scene")

local NAMES = { "society", "workflow", "helix" }

-- The rules as the files state them; a type with a check is completed by `complete`.
local rules = {}
for _, name in ipairs(NAMES) do
  for type, rule in pairs(assert(loadfile("policies/messages/" .. name .. ".lua"))().types) do
    if not rule.host_only then
      rules[#rules + 1] = { type = type, rule = rule }
    end
  end
end
table.sort(rules, function(a, b) return a.type < b.type end)

local function pair()
  return scene.pair({ messages = NAMES }, { quiet = true })
end

local function kinds_of(rule)
  local kind = rule
  if type(rule) == "table" then
    kind = rule.kind or (rule.values and "string") or (rule.fields and "object") or "list"
  end
  return type(kind) == "table" and kind or { kind }
end

-- Values by kind; the first is one that no other kind accepts, except a string or number.
local MAKE = {
  string = function(random) return random:pick({ "a b", "文字", "x\ny", "a/b", "1" }) end,
  number = function(random) return random:pick({ 1.5, -2, 0, 1e300 }) end,
  integer = function(random) return random:between(0, 1 << 40) end,
  boolean = function(random) return random:chance(50) end,
  object = function(random) return { n = random:between(0, 9) } end,
  list = function(random) return random:list(1, 3, function() return "e" end) end,
  id = function(random) return random:pick({ "T-1", "a", "x.y_z", ("z"):rep(64) }) end,
  time = function(random)
    return random:pick({ "2026-02-21T20:00:00Z", "2026-02-21T20:00:00.5+08:00" })
  end,
  any = function(random) return random:pick({ 0, "v", true, { 1 } }) end,
}

local function make(random, rule)
  if type(rule) == "table" and rule.values then
    return random:pick(rule.values)
  end
  return MAKE[random:pick(kinds_of(rule))](random)
end

-- A value that the rule does not accept.
local function spoil(random, rule)
  local takes = {}
  for _, kind in ipairs(kinds_of(rule)) do
    takes[kind] = true
  end
  local wrong = {}
  local function add(value, ...)
    for _, kind in ipairs({ ... }) do
      if takes[kind] then
        return
      end
    end
    wrong[#wrong + 1] = value
  end
  add("\0 no id, no time", "string")
  add("../a/b", "string")
  add(1.5, "number")
  add(7, "number", "integer")
  add(true, "boolean")
  add({ n = 1 }, "object")
  add({ 1 }, "list")
  if type(rule) == "table" and rule.values then
    wrong[#wrong + 1] = "none of these"
  end
  return random:pick(wrong)
end

-- What a check asks for beyond the declared fields.
local function complete(random, type, payload)
  if type == "task_assignment" then
    local brief = scene.brief()
    if random:chance(50) then
      payload[random:pick({ "task_brief", "taskBrief" })] = brief
    else
      for name, value in pairs(brief) do
        payload[name] = value
      end
    end
  elseif type == "introduction_response" then
    payload.target_agent = random:chance(70) and { id = "b", role = "r" } or nil
    payload.reason = payload.reason or "none is known"
  elseif payload.status == "failed" then
    payload.error = payload.error or "e"
  end
  return payload
end

local function sorted_names(fields)
  local names = {}
  for name in pairs(fields) do
    names[#names + 1] = name
  end
  table.sort(names)
  return names
end

local function make_payload(random, each, names)
  local payload, needed = {}, {}
  for _, name in ipairs(each.rule.required or {}) do
    needed[name] = true
  end
  for _, name in ipairs(names) do
    if needed[name] or random:chance(40) then
      payload[name] = make(random, each.rule.fields[name])
    end
  end
  payload["extra" .. random:between(1, 9)] = MAKE.any(random)
  return complete(random, each.type, payload)
end

-- A valid message, or one with a field removed (drop) or of a wrong kind (spoil).
local function generate(random)
  local each = random:pick(rules)
  local names = sorted_names(each.rule.fields or {})
  local required = each.rule.required or {}
  local case = { type = each.type, payload = make_payload(random, each, names), what = "keep" }
  local name = #names > 0 and random:pick(names)
  if #required > 0 and random:chance(30) then
    case.what, case.name = "drop", random:pick(required)
    case.payload[case.name] = random:chance(30) and "" or nil
  elseif name and random:chance(40) and kinds_of(each.rule.fields[name])[1] ~= "any" then
    case.what, case.name = "spoil", name
    case.payload[name] = spoil(random, each.rule.fields[name])
  end
  return case
end

-- Whether the refusal names what was done to the case.
local function names_it(case, err)
  local told = table.concat(err.details, "\n")
  local missing = table.concat(err.missing_fields, " ")
  return err.error == "invalid_message_format" and told:find(case.name, 1, true) ~= nil
    and missing == (case.what == "drop" and case.name or ""), told
end

-- What a message of valid form may be refused for: it refers to what is not there, or is.
local BY_REFERENCE = {
  already_exists = true, forbidden = true, task_finished = true, task_not_found = true,
  unknown_query = true, unknown_task = true, unsolicited_introduction = true,
}

describe("a generated message", function()
  after_each(scene.close)

  it("passes if it is valid, otherwise the error names the field and nothing changes", function()
    local s = pair()
    local counts = { keep = 0, drop = 0, spoil = 0 }
    property.check({ cases = 3000 }, generate, function(case)
      local before = s:stats().sent
      local sent, err = s:send("a", { to = "b", type = case.type, payload = case.payload })
      local added = s:stats().sent - before
      counts[case.what] = counts[case.what] + 1
      if case.what == "keep" and err and BY_REFERENCE[err.error] then
        return added == 0
      elseif case.what == "keep" then
        return sent and added >= 1, json.encode(err or json.null) -- the host may answer immediately
      end
      assert(not sent and added == 0, "it was sent")
      return names_it(case, err)
    end)
    assert.is_true(counts.keep > 500 and counts.drop > 300 and counts.spoil > 300)
    s:run()
    assert.is_true(scene.law_holds(s))
  end)
end)

describe("bad input", function()
  after_each(scene.close)

  local function nest(depth)
    local value = {}
    for _ = 1, depth do
      value = { inside = value }
    end
    return value
  end

  local LONG = ("x"):rep(1 << 20)
  local BAD = { LONG, "\0", "a\nb", "a/b", "../../etc", "", "\u{202e}", " ", "a@b@c", 1.5, -1,
    math.mininteger, true, json.null, json.array({}), { 1, { 2 } }, nest(50), { [LONG] = LONG } }

  -- Each field of each type with each bad value: refused with a clear and small error, or
  -- accepted because its kind allows it.
  it("in any field is refused clearly or kept unchanged", function()
    local s = pair()
    local refused = 0
    for _, each in ipairs(rules) do
      for name in pairs(each.rule.fields or {}) do
        for _, value in ipairs(BAD) do
          local before = s:stats().sent
          local sent, err = s:send("a", { to = "b", type = each.type,
            payload = { [name] = value, task_id = name ~= "task_id" and "T" or value } })
          if not sent and not BY_REFERENCE[err.error] then
            refused = refused + 1
            assert.equal("invalid_message_format", err.error)
            assert.is_true(#err.details > 0 and #json.encode(err) < 4096)
            assert.equal(before, s:stats().sent)
          end
        end
      end
      s:run()
    end
    assert.is_true(refused > 400)
  end)

  it("as a payload is refused, and nothing changes", function()
    local s = pair()
    local before = s:stats()
    local function code(options)
      options.to = "b"
      local sent, err = s:send("a", options)
      assert.is_nil(sent)
      assert.equal("string", type(err.message))
      return err.error
    end
    assert.equal("invalid_message_format", code({ type = "task", payload = nest(64) }))
    assert.equal("invalid_message_format", code({ type = "task", payload = { a = "\xff" } }))
    assert.equal("invalid_message_format", code({ type = "task", payload = { print } }))
    assert.equal("invalid_message_format", code({ type = "task", payload = { 1, a = 2 } }))
    assert.equal("missing_payload", code({ type = "task", payload = json.null }))
    assert.equal("too_large", code({ type = "task", payload = { a = LONG:rep(17) } }))
    for _, payload in ipairs({ 7, true, LONG, json.array({}), { 1 } }) do
      assert.equal("invalid_message_format", code({ type = "task", payload = payload }))
    end
    assert.same(before, s:stats())
  end)

  it("as a type is refused, in the envelope and in the payload", function()
    local s = pair()
    local before = s:stats()
    for _, type in ipairs({ "", "a/b", "../x", "a b", "\0", "a\n", ".", ("x"):rep(65), "消息" }) do
      for _, options in ipairs({ { type = type, payload = "x" }, { payload =
        { message_type = type } } }) do
        options.to = "b"
        local sent, err = s:send("a", options)
        assert.is_nil(sent)
        assert.equal("invalid_message_format", err.error)
        assert.same({}, err.missing_fields)
        assert.equal(1, #err.details)
      end
    end
    for _, type in ipairs({ 7, true, { "task" }, LONG, LONG .. "\n" }) do
      local _, err = s:send("a", { to = "b", payload = { message_type = type } })
      assert.equal("invalid_message_format", err.error)
      assert.is_true(#json.encode(err) < 1024)
    end
    local _, err = s:send("a", { to = "b", payload = { message_type = "task",
      messageType = "general" } })
    assert.equal("invalid_message_format", err.error)
    assert.same(before, s:stats())
  end)
end)
