-- The hash of what a call was given, by which replay tells whether a script repeats itself.
-- State directories hold these hashes, so they stay as they are in every later version.
--
-- Covers: core/world/world_fields.c

local cases_of = require("field_cases")
local json = require("society.json")
local scene = require("scene")

-- What is sent, and the hash that was recorded for it when the hash was made.
local SENDS = {
  { "1891202014291260522", { payload = "x" } },
  { "4060102907811949815", { payload = { n = 1 }, type = "status_report" } },
  { "2711092451065459974", { content = "x", taskId = "t1", correlation_id = "c",
    traceparent = "t", dedupe_key = "d" } },
  { "6779515899718569396", { payload = "x", priority = "P0", requires_ack = true,
    ttl_seconds = 2.5 } },
  { "808042049405467871", { payload = "x", priority = "low", requires_ack = false,
    ttl_seconds = 86400 } },
  { "559887230836180179", { payload = "x", delay_ms = 1.5 } },
  { "2893811407147030635", { payload = "x", deliver_at = "2026-02-01T00:00:00+02:00",
    deadline = 1767312000000 } },
  { "7667698018999519931", { payload = "x", from = "somebody" } },
  { "8568036511776417192", { to = { "root", "a" }, payload = "x", task_id = "t2" } },
}

-- Runs act(root) as one activation that then waits, and returns the hashes of its effects.
local function hashes(act)
  local s = scene.troupe({
    root = function(root, message)
      if message.from == "user" then
        act(root, message)
        root:sleep(1e9)
      end
    end,
    a = function() end,
  })
  assert(s:send("user", { to = "root", payload = "go" }))
  s:advance(1e6)
  local list = {}
  for _, row in ipairs(json.decode(s:dump())) do
    if row.table == "effects" and row.agent == "root" and row.kind ~= "sleep" then
      list[#list + 1] = tostring(row.hash)
    end
  end
  return list, s
end

describe("the recorded hash of arguments", function()
  after_each(scene.close)

  it("is for every send what it was in the first version", function()
    local expected = {}
    local got = hashes(function(root)
      for i, case in ipairs(SENDS) do
        expected[i] = case[1]
        local options = { to = "a" }
        for name, value in pairs(case[2]) do
          options[name] = value
        end
        assert(root:send_message(options))
      end
    end)
    assert.same(expected, got)
  end)

  it("is for broadcasts, requests and replies what it was in the first version", function()
    assert.same({ "8865247162967005916", "8357397494537837435", "1739384162663203363" },
      (hashes(function(root)
        root:broadcast({ payload = "all", priority = "high" })
        root:broadcast({ payload = "all" })
        root:request({ to = "a", payload = "q", task_id = "t3" })
      end)))
  end)

  it("does not depend on timeout_ms", function()
    local function of(timeout_ms)
      return (hashes(function(root)
        root:request({ to = "a", payload = "q", timeout_ms = timeout_ms })
        root:request({ to = "a", payload = "q", task_id = "t3", timeout_ms = timeout_ms })
        root:receive({ from = "a", timeout_ms = timeout_ms or 5 })
        root:escalate({ title = "t", timeout_ms = timeout_ms or 5 })
        root:checkpoint({ agents = { "a" }, timeout_ms = timeout_ms or 5 })
        root:request_introduction({ to = "a", reason = "r", required_capability = "c",
          timeout_ms = timeout_ms })
      end))
    end
    local without = of(nil)
    assert.equal(6, #without)
    assert.same(without, of(7))
    assert.same(without, of(9))
  end)

  it("differs with every field that counts, and with no other", function()
    local first, last = {}, {}
    for _, case in ipairs(cases_of.all("agent")) do
      if cases_of.is_good(case) and case.value ~= json.null and case.name == case.field.name then
        first[case.name] = first[case.name] or case
        last[case.name] = case
      end
    end
    for name, case in pairs(first) do
      local got = hashes(function(root)
        root:send_message(cases_of.options(case))
        root:send_message(cases_of.options(last[name]))
      end)
      assert.equal(2, #got, name)
      assert.equal(case.field.hashed ~= "never", got[1] ~= got[2], name)
    end
  end)

  it("does not depend on json.null, which says nothing", function()
    local got = hashes(function(root)
      root:send_message({ to = "a", payload = "x" })
      root:send_message({ to = "a", payload = "x", type = json.null, ttl_seconds = json.null })
    end)
    assert.equal(2, #got)
    assert.equal(got[1], got[2])
  end)

  it("does not depend on what others sent before, also without a payload", function()
    local err
    local s = scene.troupe({
      root = function(root, message)
        if message.from == "user" then
          err = select(2, root:send_message({ to = "a" }))
          root:sleep(1000)
          root.state.is_done = true
        end
      end,
      a = function() end,
    })
    assert(s:send("user", { to = "a", payload = "the last payload before" }))
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(10)
    assert.equal("missing_payload", err.error)
    s:crash()
    s:recover()
    s:run()
    assert.same({}, s:dead_letters())
    assert.is_true(s:agent("root").state.is_done)
  end)
end)
