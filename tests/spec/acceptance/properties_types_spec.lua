-- The correctness property of message types: generated payloads of the types with required
-- fields, compared with what the protocol says about each.

local json = require("society.json")
local property = require("property")
local scene = require("scene")

local at = property.at

-- Values a field may get; each type says below what it makes of them.
local VALUES = { "text", { a = 1 }, { "one" }, json.array({}), 7, true, json.null, "", "t", "../x" }

local function is_missing(value)
  return value == nil or value == json.null or value == ""
end

local function is_object(value)
  return type(value) == "table" and #value == 0 and value ~= VALUES[4]
end

local function is_list(value)
  return type(value) == "table" and not is_object(value)
end

-- By type: the fields that are tried, and verdict(payload) -> fits, the missing fields.
local TYPES = {}

TYPES[1] = { name = "introduction_request", fields = { "reason", "required_capability", "note" } }

TYPES[1].verdict = function(payload)
  local missing, fits = {}, true
  for _, name in ipairs({ "reason", "required_capability" }) do
    if is_missing(payload[name]) then
      missing[#missing + 1] = name
    elseif type(payload[name]) ~= "string" then
      fits = false
    end
  end
  return fits and #missing == 0, missing
end

local BRIEF = { "objective", "constraints", "inputs", "outputs", "completion_criteria" }

TYPES[2] = { name = "task_assignment", is_mostly_good = true, fields = {
  "objective", "constraints", "inputs", "outputs", "completion_criteria", "note",
} }

TYPES[2].verdict = function(brief)
  local missing, fits = {}, is_list(brief.constraints)
  for _, name in ipairs(BRIEF) do
    if is_missing(brief[name]) then
      missing[#missing + 1] = name
    elseif name ~= "constraints" and type(brief[name]) ~= "string" then
      fits = false
    end
  end
  return fits and #missing == 0, missing
end

TYPES[3] = { name = "introduction_response", fields = {
  "reason", "usage_hint", "target.id", "target.role", "target.interface_spec", "targetAgentId",
  "agent_id", "target_agent",
} }

local function is_wrong(value, is_right)
  return value ~= nil and value ~= json.null and not is_right(value)
end

local function is_text(value)
  return type(value) == "string"
end

-- Whether every present field is of its kind.
local function has_kinds(payload, target)
  if is_wrong(payload.reason, is_text) or is_wrong(payload.usage_hint, is_text) then
    return false
  end
  return not target or (is_object(target) and not is_wrong(target.role, is_text)
    and not is_wrong(target.interface_spec, is_object))
end

-- Whom the response names: the first of these that is present.
local function named(payload, target)
  for _, value in ipairs({ target and target.id or "", payload.targetAgentId or "",
    payload.agent_id or "" }) do
    if not is_missing(value) then
      return value
    end
  end
  return nil
end

local function missing_of(payload, target)
  if target then
    return { "target_agent.id" }
  end
  return { payload.target_agent == nil and "target_agent" or "reason" }
end

TYPES[3].verdict = function(payload)
  local target = payload.target_agent ~= json.null and payload.target_agent or nil
  if not has_kinds(payload, target) then
    return false
  end
  local id = named(payload, target)
  if id ~= nil then
    return id == "t" or id == "text", nil, id
  end
  if not target and not is_missing(payload.reason) then
    return true
  end
  return false, missing_of(payload, target)
end

for _, name in ipairs({ "status_report", "collaboration_request", "collaboration_response",
  "general" }) do
  TYPES[#TYPES + 1] = { name = name, fields = { "text", "note" },
    verdict = function() return true end }
end

-- Where the type is: in the envelope, in the payload, or in both.
local PLACES = { { "type" }, { "message_type" }, { "messageType" }, { "type", "message_type" } }

local function generate(random)
  local case = { type = random:chance(90) and random:between(0, 2) or random:number_of(TYPES),
    place = random:number_of(PLACES), fields = {} }
  local rule = at(TYPES, case.type)
  for number = 0, #rule.fields - 1 do
    if random:chance(rule.is_mostly_good and 90 or 50) then
      local value = random:pick({ 0, 0, 0, 1, 8, random:number_of(VALUES) })
      if rule.fields[number + 1] == "constraints" and random:chance(90) then
        value = random:pick({ 2, 3 })
      end
      case.fields[#case.fields + 1] = { name = number, value = value }
    end
  end
  return case
end

local function payload_of(case, rule)
  local payload = {}
  for _, field in ipairs(case.fields) do
    local name, value = at(rule.fields, field.name), at(VALUES, field.value)
    local inner = name:match("^target%.(.*)")
    if inner then
      payload.target_agent = payload.target_agent or {}
      payload.target_agent[inner] = value
    else
      payload[name] = value
    end
  end
  return payload
end

describe("Property 10: a sent message fits its type", function()
  after_each(scene.close)

  -- `asker` asks `sender` for an introduction before it gets a response; t is somebody.
  local function stage()
    local function idle() end
    local s = scene.troupe({ sender = idle, asker = idle, t = idle }, {
      quiet = true, policies = { contacts = "open", introductions = "agent" },
    })
    s:policy("messages", { "society" })
    assert(s:send("t", { to = "sender", payload = "hello" }))
    s:run()
    return s
  end

  local function ask(s, rule)
    if rule.name == "introduction_response" then
      assert(s:send("asker", { to = "sender", type = "introduction_request",
        payload = { reason = "r", required_capability = "c" } }))
      s:run()
    end
  end

  local function options_of(rule, case)
    local options = { to = "asker", payload = payload_of(case, rule) }
    for _, name in ipairs(at(PLACES, case.place)) do
      local place = name == "type" and options or options.payload
      place[name] = rule.name
    end
    return options
  end

  -- Fits: it is sent, unless it names somebody who does not exist.
  local function check_taken(s, sent, err, id)
    if id == "text" then
      return err.error == "agent_not_found", err.error
    end
    assert(sent, err and err.message)
    if id == "t" then
      s:run()
      assert(#s:contacts("asker") >= 3, "t was not introduced")
    end
    return true
  end

  local function check_refused(rule, err, missing)
    assert.equal("invalid_message_format", err.error)
    assert.equal(rule.name, err.message_type)
    assert.is_true(#err.details > 0 and #err.message > 0)
    if missing and #missing > 0 then
      assert.same(missing, err.missing_fields)
    end
    return true
  end

  it("otherwise the missing fields are named and nothing has changed", function()
    local s = stage()
    local taken, refused = {}, {}
    property.check({ cases = 3000, seed = 110 }, generate, function(case)
      local rule = at(TYPES, case.type)
      ask(s, rule)
      local options = options_of(rule, case)
      local fits, missing, id = rule.verdict(payload_of(case, rule))
      local before = s:stats()
      local sent, err = s:send("sender", options)
      local counts = fits and taken or refused
      counts[rule.name] = (counts[rule.name] or 0) + 1
      if fits then
        return check_taken(s, sent, err, id)
      end
      assert.is_nil(sent)
      assert.same(before, s:stats())
      return check_refused(rule, err, missing)
    end)
    for index = 1, #TYPES do
      assert.is_true(taken[TYPES[index].name] > (index <= 3 and 100 or 10))
      assert.is_true(index > 3 or refused[TYPES[index].name] > 100)
    end
    s:run()
    assert.is_true(scene.law_holds(s))
  end)
end)
