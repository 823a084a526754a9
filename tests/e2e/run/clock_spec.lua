-- A society whose machine had a wrong clock for one run.
--
-- Covers: core/env/calendar.c, core/kernel/recover.c

local program = require("program")

local HOUR_MS = 3600000

-- An hour of sleep and a delay of an hour begin in `main`. Whatever root is told, it sends
-- itself a note for a date in an hour.
local APP = [[
local society = require("society")
society.policy("messages", "any")
society.root {
  note = function(_, message) print("note", message.payload.text, os.date("!%Y-%m-%d")) end,
  default = function(root, message)
    assert(root:send_message { to = "root", type = "note", deliver_at = root:now() + 3600000,
      payload = { text = message.payload.text } })
    print("told", message.payload.text, os.date("!%Y-%m-%d"))
  end,
}
society.main(function(user)
  assert(user:send_message { to = "root", type = "note", payload = { text = "delayed" },
    delay_ms = 3600000 })
  print("begun", os.date("!%Y-%m-%d"))
  user:sleep(3600000)
  print("woken", os.date("!%Y-%m-%d"))
end)
]]

describe("a state from the future", function()
  local place, running

  local function start(environment)
    running = place:start("run app.lua", environment)
  end

  local function stop()
    if running then
      running:kill("KILL")
      running:wait()
    end
    running = nil
  end

  -- The day by the clock of this machine, or one beside it: midnight may pass, and the society's
  -- own clock is up to an hour ahead once a spec advanced it.
  local function is_today(day)
    for days = -1, 1 do
      if day == os.date("!%Y-%m-%d", os.time() + days * 86400) then
        return true
      end
    end
    return false
  end

  local function day_after(text)
    running:expect(text)
    return assert(running:out():match(text .. "\t([%d-]+)"))
  end

  local function send(text)
    local id = place:run("send --to root " .. text).out
    running:expect("told\t" .. text)
    return id
  end

  -- Runs ten years ahead until `main` sleeps, then with the right clock.
  local function come_back()
    start(("CLOCK_DAYS=3650 LD_PRELOAD=%s"):format(program.quote(place:preload("clock"))))
    assert.is_false(is_today(day_after("begun")))
    local id = send("early")
    stop()
    start(place:clock())
    running:expect("clock system")
    return id
  end

  before_each(function()
    place = program.place()
    place:write("app.lua", APP)
  end)

  after_each(function()
    stop()
    place:remove()
  end)

  it("is warned of at the start, with by how much it is ahead", function()
    come_back()
    assert.matches("warn clock system: the clock of this machine is 36%d%d days .* behind",
      running:err())
  end)

  it("is no reason to warn where the clock was right", function()
    start()
    running:expect("begun")
    stop()
    start()
    send("again")
    assert.is_nil(running:err():find("clock system", 1, true))
  end)

  it("has right times again, and ids that still rise", function()
    local early = come_back()
    local later = send("later")
    assert.is_true(is_today(day_after("told\tlater")))
    assert.is_true(later > early, later)
    local messages = program.rows(place:run("inspect messages --json"))
    local sent, count = {}, 0
    for _, message in ipairs(messages) do
      sent[message.payload.text or ""] = message
      count = count + (message.id .. "\n" == later and 1 or 0)
    end
    assert.equal(1, count)
    assert.is_true(is_today(sent.later.timestamp:sub(1, 10)))
    assert.is_false(is_today(sent.early.timestamp:sub(1, 10)))
    local now = os.date("!%Y-%m-%dT%H:%M:%SZ", os.time() - 86400)
    local tomorrow = os.date("!%Y-%m-%dT%H:%M:%SZ", os.time() + 86400)
    local found = place:run(("inspect messages --json --since %s --until %s"):format(now, tomorrow))
    for _, message in ipairs(program.rows(found)) do
      assert.not_equal("early", message.payload.text)
      count = count + (message.id .. "\n" == later and 1 or 0)
    end
    assert.equal(2, count)
  end)

  it("keeps dates that are given, and what was left of sleeps and delays", function()
    come_back()
    send("later")
    place:advance(HOUR_MS / 2)
    send("half")
    assert.is_nil(running:out():find("note", 1, true))
    assert.is_nil(running:out():find("woken", 1, true))
    place:advance(HOUR_MS / 2 + 1)
    send("whole")
    assert.is_true(is_today(day_after("woken")))
    assert.is_true(is_today(day_after("note\tdelayed")))
    running:expect("note\tlater")
    assert.is_nil(running:out():find("note\tearly", 1, true), "a date ten years on has come")
  end)

  it("is remembered by the next start", function()
    come_back()
    local first = send("first")
    stop()
    start(place:clock())
    local second = send("second")
    assert.is_true(second > first, second)
    assert.is_true(is_today(day_after("told\tsecond")))
    assert.is_nil(running:err():find("clock system", 1, true))
    place:wait_until_folded(".society")
    for _, text in ipairs { "early", "second" } do
      local shown = place:shell(([[sqlite3 -readonly .society/society.db ]] ..
        [["SELECT substr(timestamp, 1, 10) FROM messages WHERE payload = '{\"text\":\"%s\"}']] ..
        [[ AND sender = 'user'"]]):format(text))
      assert.equal(text == "second", is_today(shown.out:gsub("\n", "")), shown.out .. shown.err)
    end
  end)
end)
