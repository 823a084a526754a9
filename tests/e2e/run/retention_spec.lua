-- Retention of the built program: at full traffic the files stay within their bound, what is
-- live stays, cursors below the first line are told, and no step of the loop is long.
--
-- RETENTION_SECONDS says for how long; `make soak` lets it run for two minutes.
-- Covers: core/store/tables/prune.c

local json = require("society.json")
local program = require("program")
local stalls = require("stalls")
local web = require("web")

local SECONDS = tonumber(os.getenv("RETENTION_SECONDS") or 3)
local LIMIT_MB = 8
local LOG_MB = 36 -- what the write-ahead log may have, and the journal before it is folded

-- Two agents write to each other as fast as they can; a third one sleeps over its first message.
local APP = [[
  local society = require("society")
  society.config { no_progress_max = 1000000000, hops_max = 1000000000 }
  local brief = { objective = "x", constraints = {}, inputs = "x", outputs = "x",
    completion_criteria = "x" }
  local function pass(agent, message)
    agent:send_message {
      to = agent.id == "root" and "other" or "root",
      payload = { fill = message.payload.fill },
    }
  end
  society.role { id = "passer", name = "passer", prompt = "x", behaviour = { general = pass } }
  society.role { id = "sleeper", name = "sleeper", prompt = "x",
    behaviour = { general = function(agent) agent:sleep(1000000000) end } }
  society.root { general = pass }
  society.main(function(user)
    user:spawn_agent("passer", brief, { id = "other" })
    user:spawn_agent("sleeper", brief, { id = "sleeper" })
    user:send_message { to = "sleeper", payload = { text = "first" } }
    user:send_message { to = "sleeper", payload = { text = "queued" } }
    user:send_message { to = "other", payload = { fill = ("x"):rep(300) } }
  end)
]]

describe("retention", function()
  local place

  before_each(function()
    place = program.place()
    place:write("app.lua", APP)
  end)

  after_each(function()
    place:remove()
  end)

  local function size_mb(pattern)
    return tonumber(place:shell(("cat .society/%s 2> /dev/null | wc -c"):format(pattern)).out)
      / 1048576
  end

  local function last_line(options)
    local result = place:run("verify --json " .. (options or ""))
    assert.equal(0, result.code, result.err)
    return json.decode(result.out).line
  end

  local function totals()
    local sum = {}
    for _, row in ipairs(program.rows(place:run("inspect stats --json"))) do
      for name, value in pairs(row) do
        sum[name] = value
      end
    end
    return sum
  end

  local function check_totals()
    local sum = totals()
    assert.equal(sum.sent, sum.processed + sum.pending + sum.expired + sum.dead + sum.dropped
      + sum.cancelled)
    assert.is_true(sum.sent > 100)
  end

  -- The messages that are still to be handled by the one who sleeps.
  local function check_live()
    local rows = program.rows(place:run("inspect messages --agent sleeper --json"))
    assert.equal(2, #rows)
    assert.same({ "first", "queued" }, { rows[1].payload.text, rows[2].payload.text })
    assert.same({ "pending", "pending" }, { rows[1].status, rows[2].status })
  end

  it("bounds the files at full traffic, and holds nobody up", function()
    local step_ms = math.ceil(stalls.LIMIT_MS * stalls.slowness())
    local door = web.start(place, "run app.lua --quiet --http 0 --set retention_mb=" .. LIMIT_MB,
      nil,
      "SOCIETY_WATCHDOG_MS=" .. step_ms)
    program.wait_for("more messages than the limit holds", function()
      return totals().sent > 40000
    end)
    local ends, largest = os.time() + SECONDS, 0
    repeat
      largest = math.max(largest, size_mb("society.db*"))
      place:shell("sleep 0.2")
    until os.time() >= ends
    assert.is_true(largest < LIMIT_MB * 2 + LOG_MB, ("the files had %.1f MB"):format(largest))

    local gone = door:curl("/api/v1/activity?after=5")
    assert.equal(410, gone.status)
    assert.equal("gone", gone.json.error)
    assert.is_true(gone.json.first > 6)
    local stream = door:curl("--max-time 250 /api/v1/events?after=5")
    assert.same({ 410, "gone" }, { stream.status, stream.json.error })
    assert.is_true(stream.json.first >= gone.json.first)
    local activity = place:run("inspect activity --limit 1 --json")
    assert.equal(0, activity.code, activity.err)

    local ended = door:stop()
    assert.equal(0, ended.code, ended.err)
    for cpu_ms in ended.err:gmatch('"step_cpu_ms":([%d.]+)') do -- of those that took long
      assert.is_true(tonumber(cpu_ms) <= step_ms, ended.err)
    end
    assert.is_true(size_mb("society.db") <= LIMIT_MB * 1.1, size_mb("society.db"))
    check_live()
    check_totals()
    assert.equal(0, place:run("inspect activity").code)
  end)

  it("bounds what is kept for replay as well", function()
    local running = place:start_ready("run app.lua --quiet --set history=full --set retention_mb="
      .. LIMIT_MB)
    program.wait_for("more history than the limit holds", function()
      return totals().sent > 20000
    end)
    running:kill("TERM")
    running:wait()
    assert.is_true(size_mb("society.db") < LIMIT_MB * 4, size_mb("society.db"))
    check_live()
  end)

  it("survives kills, and a restart goes on", function()
    local line = 0
    for _ = 1, 3 do
      local running = place:start_ready("run app.lua --quiet --set retention_mb=4")
      program.wait_for("traffic", function() return last_line() > line + 30000 end)
      running:kill("KILL")
      running:wait()
      local after = last_line()
      assert.is_true(after > line)
      line = after
      check_live()
      check_totals()
    end
  end)

  it("is off unless it is asked for, and refuses nonsense", function()
    place:write("app.lua", [[require("society").main(function() print("done") end)]])
    for _, value in ipairs({ "retention_days=-1", "retention_mb=x", "retention_mb=1.5" }) do
      local result = place:run("run app.lua --set " .. value)
      assert.equal(2, result.code)
      assert.matches("an integer from 0 to", result.err, 1, true)
    end
  end)
end)
