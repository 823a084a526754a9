-- Whatever a sender may say of a message is taken or refused alike at every door: as an
-- option of send_message, at the control socket, in a line of a file. The cases come from
-- the table of fields (core/model/message_fields.h), so that a new field is tried as well.

local cases_of = require("field_cases")
local doors = require("doors")
local json = require("society.json")
local society = require("society")

-- What a message stores of what was said.
local STORED = { flag = true, key = true, name = true, payload = true, priority = true,
  seconds = true, time = true, type = true }

-- The stored fields of an answer. What a door adds of its own is left out: a key to lines
-- without one, and the moment from which a delay counts.
local function envelope(answer, case)
  local list = {}
  for _, field in ipairs(society.message_fields()) do
    local is_key_said = case.field.name == "dedupe_key" and case.value ~= json.null
    local is_own = field.name == "dedupe_key" and not is_key_said
      or field.name == "deliver_at" and case.field.kind == "span"
    if STORED[field.kind] and not is_own then
      list[field.name] = answer.row[field.name]
    end
  end
  -- As a value: doors keep the spelling they were given.
  local payload = assert(json.decode("[" .. list.payload .. "]"))
  local introduction = type(payload[1]) == "table" and payload[1].self_introduction
  if type(introduction) == "table" then
    introduction.role = nil -- the host's: doors have different senders
  end
  list.payload = json.encode(payload)
  return list
end

local function shown(answer, case)
  return {
    kind = answer.kind, text = answer.text, code = answer.code,
    envelope = answer.row and envelope(answer, case),
  }
end

-- Compares answers of two doors, case by case.
local function compare(cases, one, other)
  assert.equal(#cases, #one)
  assert.equal(#cases, #other)
  for i, case in ipairs(cases) do
    assert.same(shown(one[i], case), shown(other[i], case), cases_of.words(case))
  end
end

-- Bad values are refused by a sentence about the field, and good ones are not.
local function judge(cases, answers)
  local counts = { misuse = {}, taken = {}, refused = {} }
  for i, case in ipairs(cases) do
    local answer = answers[i]
    local name = case.field.name
    counts[answer.kind][name] = (counts[answer.kind][name] or 0) + 1
    assert.equal(not cases_of.is_good(case), answer.kind == "misuse", cases_of.words(case))
    if answer.kind == "misuse" then
      assert.equal(("'%s' must be %s"):format(name, case.field.expects), answer.text,
        cases_of.words(case))
      assert.is_true(answer.member == nil or answer.member == name)
    end
  end
  for _, case in ipairs(cases) do
    local field = case.field
    assert.is_truthy(counts.taken[field.name] or counts.refused[field.name], field.name)
    assert.is_truthy(counts.misuse[field.name] or not field.expects, field.name)
  end
end

local function pick(cases, fits)
  local list = {}
  for _, case in ipairs(cases) do
    if fits(case) then
      list[#list + 1] = case
    end
  end
  return list
end

local function choose(cases, answers, fits)
  local list, chosen = {}, {}
  for i, case in ipairs(cases) do
    if fits(case) then
      list[#list + 1], chosen[#chosen + 1] = case, answers[i]
    end
  end
  return list, chosen
end

-- s:outside_send has one receiver.
local function is_single(case)
  return case.field.kind ~= "receiver" or type(case.value) ~= "table"
end

describe("every field of a message", function()
  local place

  setup(function()
    place = doors.open()
  end)

  teardown(function()
    place:close()
  end)

  it("has the same good and bad values in Lua, at the socket and in files", function()
    local cases = cases_of.all("socket")
    local at_socket, in_files = place:socket(cases, "send"), place:file(cases)
    judge(cases, at_socket)
    compare(cases, at_socket, in_files)
    local in_lua, at_socket_too = choose(cases, at_socket, function(case)
      return case.field.names.agent
    end)
    compare(in_lua, doors.agent(in_lua, "send_message"), at_socket_too)
    assert.is_true(#in_lua > 500)
  end)

  it("has them for agents outside in virtual time, as in files", function()
    local cases = pick(cases_of.all("file"), is_single)
    local in_virtual_time = doors.outside(cases)
    judge(cases, in_virtual_time)
    local files = doors.open()
    local ok, err = pcall(compare, cases, in_virtual_time, files:file(cases))
    files:close()
    assert(ok, err)
  end)

  it("has them in a broadcast", function()
    local cases = cases_of.all("broadcast")
    judge(cases, doors.agent(cases, "broadcast"))
  end)

  it("has them in a request, and so has its timeout", function()
    local function kinds(cases, answers)
      local list = {}
      for i, case in ipairs(cases) do
        local answer = answers[i]
        if answer.code == "timeout" then -- whether a few ms are enough is left to chance
          answer = { kind = "taken" }
        end
        list[i] = { cases_of.words(case), answer.kind, answer.text }
      end
      return list
    end
    local cases = cases_of.all("wait")
    local in_lua, at_socket = doors.agent(cases, "request"), place:socket(cases, "request")
    judge(cases, at_socket)
    assert.same(kinds(cases, in_lua), kinds(cases, at_socket))
  end)

  it("is taken from the payload alike", function()
    local cases = cases_of.in_payload()
    local at_socket = place:socket(cases, "send")
    compare(cases, at_socket, place:file(cases))
    compare(cases, at_socket, doors.agent(cases, "send_message"))
  end)
end)
