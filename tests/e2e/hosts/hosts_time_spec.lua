-- Hosts whose clocks are an hour ahead or behind: what is left of a TTL and the moment of a
-- deadline are the same for all, and the wrong clock is reported.
--
-- Covers: core/parts/hosts/hosts_in.c, core/parts/hosts/hosts_out.c

local json = require("society.json")
local program = require("program")
local redis = require("redis")

local HOUR_MS = 3600000
local OFF_MS_MAX = 1000 -- of a TTL or a deadline

local APP = [[
local society = require("society")
society.config { name = "times" }
society.root(function() end)
society.main(function() end)
]]

-- Milliseconds of a time as commands print it.
local function ms_of(text)
  local year, month, day, hour, min, sec, ms =
    text:match("(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)%.(%d+)Z")
  local seconds = os.time { year = year, month = month, day = day, hour = hour, min = min,
    sec = sec, isdst = false }
  return seconds * 1000 + tonumber(ms)
end

describe("hosts with clocks that differ by an hour", function()
  if not redis.is_there() then
    pending("redis-server is not installed")
    return
  end
  local place, server, started

  before_each(function()
    place = program.place()
    server = redis.start(place)
    place:write("app.lua", APP)
    started = {}
  end)

  after_each(function()
    for _, running in pairs(started) do
      running:kill("KILL")
      running:wait()
    end
    server:stop()
    place:remove()
  end)

  local function start(name, peers, ahead_ms)
    local environment
    if ahead_ms then
      place:write(name .. ".clock", ("<i8"):pack(ahead_ms))
      environment = ("CLOCK_FILE=%s LD_PRELOAD=%s"):format(
        program.quote(place.path .. "/" .. name .. ".clock"),
        program.quote(place:preload("clock")))
    end
    started[name] = place:start(("run app.lua --state %s --redis %s --host %s --peers %s"):format(
      name, server.url, name, peers), environment)
    program.wait_for("the socket of " .. name, function()
      return place:shell(("test -S %s/socket"):format(name)).code == 0
    end)
  end

  local function call(state, operation, parameters)
    local result = place:run(("call %s --state %s %s"):format(operation, state,
      program.quote(json.encode(parameters))))
    assert.equal(0, result.code, result.err)
    return json.decode(result.out)
  end

  local function find(state, id)
    local result = place:run("inspect messages --json --state " .. state)
    assert.equal(0, result.code, result.err)
    for _, row in ipairs(program.rows(result)) do
      if row.id == id then
        return row
      end
    end
  end

  -- Sends a message that expires, both ways, and compares its times on the two hosts; the clock
  -- of `there` is ahead by `ahead_ms` of that `here`.
  local function compare(here, there, ahead_ms)
    local id = call(here, "send", { to = "root@" .. there, payload = { text = "x" },
      type = "general", ttl_seconds = 600, deadline = "2099-01-01T00:00:00.000Z" }).messageId
    local taken = program.wait_for("the message", function() return find(there, id) end)
    local sent = find(here, id)
    local function expiry(row)
      return ms_of(row.timestamp) + row.ttl_seconds * 1000
    end
    assert.near(expiry(sent) + ahead_ms, expiry(taken), OFF_MS_MAX)
    assert.near(ms_of(sent.deadline) + ahead_ms, ms_of(taken.deadline), OFF_MS_MAX)
    assert.near(ms_of(sent.timestamp) + ahead_ms, ms_of(taken.timestamp), 600000)
  end

  it("agree on what is left of a TTL, and on deadlines", function()
    start("alpha", "early,late")
    start("early", "alpha,late", -HOUR_MS)
    start("late", "alpha,early", HOUR_MS)
    -- They know the time of Redis well when they say that theirs is another.
    started.early:expect("clock_skew")
    started.late:expect("clock_skew")
    compare("alpha", "early", -HOUR_MS)
    compare("alpha", "late", HOUR_MS)
    compare("late", "alpha", -HOUR_MS)
    compare("late", "early", -2 * HOUR_MS)
    assert.is_nil(started.alpha:err():find("clock_skew", 1, true))
  end)
end)
