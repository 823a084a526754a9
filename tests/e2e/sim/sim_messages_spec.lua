-- What `society sim` prints about a failing seed, so that people can find out why.

local program = require("program")

describe("sim prints", function()
  local place

  before_each(function() place = program.place() end)
  after_each(function() place:remove() end)

  it("who did not repeat itself, with which message, and what differs", function()
    place:write("app.lua", [[
      local society = require("society")
      local times = 0 -- file-level variables do not last
      society.root { default = function(root)
        times = times + 1
        root:send_message { to = "user", payload = { n = times } }
        root:sleep(10)
      end }
      society.main(function(user) user:send_message { to = "root", payload = "go" } end)
    ]])
    local result = place:run("sim app.lua --seeds 1..200 --faults evict")
    assert.equal(1, result.code)
    assert.matches("^society: root, message msg_20260101_%d+_%x+: its handler did not repeat "
      .. "itself: effect 1 of the script was send, and now its arguments differ; "
      .. 'now: %[{"payload":{"n":2},"to":"user"}%]\n', result.err)
  end)

  it("in the transcript of a failing seed which fault it was", function()
    place:write("app.lua", [[
      local society = require("society")
      local times = 0 -- file-level variables do not last
      society.root(function(root)
        times = times + 1
        root:send_message { to = "user", payload = { n = times } }
        root:sleep(10)
      end)
      society.main(function(user) user:send_message { to = "root", payload = "go" } end)
    ]])
    local result = place:run("sim app.lua --seeds 1..200 --faults evict")
    local command = result.err:match("repeat it with: ([^\n]+)\n$")
    local transcript = place:shell(command .. " --dump dump").out
    assert.matches("\n00:00:00.000 info fault root: evict: [^\n]+\n.*"
      .. "00:00:00.010 error turn_failed root: ", transcript)
    assert.equal(transcript, place:shell(command).out)
    assert.is_nil(place:read("dump"):find('"fault"', 1, true))
    assert.matches('"level":"info","event":"fault","agent":"root",'
      .. '"detail":{"fault":"evict","text":"[^"]+"}}\n', place:shell(command .. " --json").out)
  end)

  local SLEEPING = [[
    local society = require("society")
    society.root(function(root) root:sleep(10) end)
    society.main(function(user)
      for _ = 1, 40 do
        user:send_message { to = "root", payload = "x" }
        user:sleep(100)
      end
    end)
  ]]

  local OUTSIDE = [[
    local society = require("society")
    society.role { id = "out", behaviour = "external" }
    society.root(function(root)
      root:spawn_agent("out", { objective = "o", constraints = {}, inputs = "i", outputs = "o",
        completion_criteria = "c" }, { id = "out" })
      for _ = 1, 12 do
        root:request { to = "out", payload = "?", timeout_ms = 1000000 }
      end
    end)
    society.main(function(user)
      user:send_message { to = "root", payload = "go" }
      user:sleep(10000000)
    end)
  ]]

  local MODEL = [[
    local society = require("society")
    society.config { llm = { provider = "scripted", answers = function() return "yes" end } }
    society.main(function(user)
      for _ = 1, 5 do user:chat { messages = { { role = "user", content = "?" } } } end
    end)
  ]]

  local LINES = {
    crash = { SLEEPING, ": crash: the society is killed %(kill %-9%).* restarts, .* %-?%d+ ms\n" },
    raise = { SLEEPING, " root: raise: the turn raises at its end\n[^\n]*turn_failed root" },
    slow = { SLEEPING, ": slow: %d+ ms pass\n" },
    jump = { SLEEPING, ": jump: the wall clock is set by %-?%d+ ms\n" },
    power = { SLEEPING, ": power: the society dies in a disk call, the power fails" },
    full = { SLEEPING, ": full: the disk is full\n.*: full: the disk has space again\n" },
    io = { SLEEPING, ": io: a disk call fails and the society stops" },
    drop = { OUTSIDE, " out: drop: never receives msg_%S+\n" },
    double = { OUTSIDE, " out: double: receives twice msg_%S+\n" },
    delay = { OUTSIDE, " out: delay: sends late for msg_%S+\n" },
    dead = { OUTSIDE, " out: dead: all outside agents are silent for a minute from msg_%S+\n" },
    model = { MODEL, ": model: model call is %l+\n" },
  }

  for fault, line in pairs(LINES) do
    it("the fault " .. fault .. " in the transcript", function()
      place:write("app.lua", line[1])
      for seed = 1, 60 do
        local words = ("sim app.lua --seed %d --faults %s"):format(seed, fault)
        local transcript = place:run(words).out
        if transcript:find("info fault" .. line[2]) then
          assert.equal(transcript, place:run(words).out)
          return
        end
      end
      error("no seed reports it")
    end)
  end
end)
