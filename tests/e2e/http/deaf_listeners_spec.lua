-- Listeners that stop reading cost the society little memory, and miss no line.
--
-- Covers: core/bridge/http/streams.c, core/net/server_stream.c, core/net/websocket.c

local canary = require("canary")
local json = require("society.json")
local program = require("program")
local tree = require("tree")
local web = require("web")

local COUNT = 8                           -- of each kind
local ROUNDS = { lines = 12, words = 60 } -- each makes half a megabyte
local HELD_KB_MAX = 256                   -- for each listener
local SLACK_KB_MAX = 48 << 10             -- what the society itself takes meanwhile

local APP = [[
local society = require("society")
society.config { llm = { model = "m" } }
society.root(function(root, message)
  if message.payload.text == "ask" then
    root:escalate { title = "may I?", priority = "high", wait = false }
  elseif message.payload.text == "lines" then
    for i = 1, 128 do root:log("info", ("x"):rep(4000), { number = i }) end
  else
    local words = {}
    for i = 1, 128 do words[i] = ("w"):rep(4000) end
    assert(root:chat { messages = { { role = "user", content = table.concat(words, " ") } } })
  end
  return { text = "done" }
end)
society.main(function() end)
]]

describe("listeners that stop reading", function()
  local place, server, door

  before_each(function()
    place, server = canary.place()
    place:write("app.lua", APP)
    door = web.start(place, "run app.lua --http 0 --log none")
  end)

  after_each(function()
    place:shell("touch go") -- for those that a failure has left
    door:stop()
    program.wait_for("the end of the listeners", function()
      return place:read("heard"):find("end\n", 1, true)
    end)
    server:stop()
    place:remove()
  end)

  local function resident_kb()
    local file = assert(io.open(("/proc/%s/status"):format(door.running.pid)))
    local text = file:read("a")
    file:close()
    return tonumber(text:match("VmRSS:%s*(%d+) kB"))
  end

  local function make(what, rounds)
    for _ = 1, rounds do
      local answer = door:post("/api/v1/intake", { text = what, wait_ms = 60000 })
      assert.equal("done", answer.json.reply.payload.text)
    end
  end

  -- Makes megabytes of it before listeners that do not read, then an item for the inbox, and
  -- returns how many words those report when they do. Lines beyond what the system buffers
  -- for each connection, a few megabytes, have to wait in the log, and words are lost.
  local function tell_the_deaf(kind, what, events)
    make(what, 12) -- so that the society has taken what it needs itself
    local before = resident_kb()
    place:shell(("(python3 %s %d %s '?events=%s' %d %s > heard 2>&1; "
      .. "echo end >> heard) & true"):format(program.quote(
      tree.path("tests/support/deaf_listeners.py")), door.port, door.token, events, COUNT, kind))
    program.wait_for("the listeners", function()
      return (place:read("heard") or ""):find("open\n", 1, true)
    end)
    make(what, ROUNDS[what])
    local grown = resident_kb() - before
    assert.is_true(grown < COUNT * HELD_KB_MAX + SLACK_KB_MAX, grown .. " KB")
    make("ask", 1)
    place:shell("society inspect activity --json > all")
    place:shell(what == "lines" and "mv all log" or "grep escalation all > log")
    place:shell("touch go")
    program.wait_for("all that they were sent", function()
      return place:read("heard"):find("end\n", 1, true)
    end)
    local words, count = 0, 0
    for line in place:read("heard"):gmatch("{[^\n]+") do
      local report = json.decode(line)
      assert.is_true(report.same)
      words, count = words + report.words, count + 1
    end
    assert.equal(COUNT, count, place:read("heard"))
    return words
  end

  for _, kind in ipairs({ "sse", "ws" }) do
    it("by " .. kind .. " are sent every line when they read on", function()
      assert.equal(0, tell_the_deaf(kind, "lines", "*"))
    end)

    it("by " .. kind .. " lose words of models, and no line", function()
      -- Nothing that it wants but words comes before the end: no line makes it full.
      local words = tell_the_deaf(kind, "words", "model.*,inbox.*")
      assert.is_true(words < COUNT * ROUNDS.words * 128)
    end)
  end
end)
