-- A deadlock through two real hosts, with and without a kill of one of them meanwhile, and its
-- replay.
--
-- Covers: core/parts/hosts/hosts_probe.c, core/parts/hosts/hosts_ring.c

local program = require("program")
local recorded = require("recorded")
local redis = require("redis")

local ALPHA = [[
local society = require("society")
local json = require("society.json")
society.config { name = "duo", history = "full" }
society.root {
  general = function(root, message)
    if message.payload.text ~= "begin" then
      return { text = "here" }
    end
    assert(root:add_contact { id = "root@beta" })
    local _, err = root:request { to = "root@beta", payload = { text = "?" }, timeout_ms = 600000 }
    return err
  end,
}
society.main(function(user)
  local answer = assert(user:request { to = "root", payload = { text = "begin" },
    timeout_ms = 600000 })
  print(answer.payload.error, json.encode(answer.payload.cycle))
end)
]]

local BETA = [[
local society = require("society")
society.config { name = "duo", history = "full" }
society.root {
  general = function(root, message)
    root.state.is_asked = true
    local answer, err = root:request { to = message.from, payload = { text = "?" },
      timeout_ms = 600000 }
    root.state.got = err and err.error or answer.payload.text
  end,
}
]]

describe("a deadlock through two hosts", function()
  if not redis.is_there() then
    pending("redis-server is not installed")
    return
  end
  local place, server, started

  before_each(function()
    place = program.place()
    started = {}
    server = redis.start(place)
    place:write("alpha.lua", ALPHA)
    place:write("beta.lua", BETA)
  end)

  after_each(function()
    for _, running in ipairs(started) do
      if not running:code() then
        running:kill("KILL")
        running:wait()
      end
    end
    server:stop()
    place:remove()
  end)

  local function start(name, peer)
    local running = place:start_ready(("run %s.lua --state %s --redis %s --host %s --peers %s")
      :format(name, name, server.url, name, peer), name)
    table.insert(started, running)
    return running
  end

  local function deadlocks(state)
    return program.rows(place:run("inspect activity --type deadlock --json --state " .. state))
  end

  local function expect_end(alpha)
    alpha:expect('deadlock\t["root","root@beta"]')
    program.wait_for("the answer at beta", function()
      local rows = program.rows(place:run("inspect agent root --json --state beta"))
      return rows[1] and rows[1].state and rows[1].state.got == "here"
    end)
    assert.equal(1, #deadlocks("alpha"))
    assert.equal(0, #deadlocks("beta"))
  end

  it("ends one of the waits, and the other gets its answer", function()
    start("beta", "alpha")
    expect_end(start("alpha", "beta"))
  end)

  it("is replayed from the record, with its question to the policy", function()
    start("beta", "alpha")
    expect_end(start("alpha", "beta"))
    for _, name in ipairs({ "alpha", "beta" }) do
      recorded.assert_same(place, "--state " .. name)
    end
    local _, differences = recorded.replay(place, "--state alpha --policy deadlock=latest")
    assert.equal(1, #differences)
    assert.matches("^deadlock%.", differences[1].asked)
  end)

  it("is found after a host was killed and Redis has lost everything", function()
    local beta = start("beta", "alpha")
    local alpha = start("alpha", "beta")
    program.wait_for("the question at beta", function()
      local stats = program.rows(place:run("inspect stats --json --state beta"))[1]
      return stats and stats.taken > 0
    end)
    beta:kill("KILL")
    beta:wait()
    server:call("FLUSHALL")
    start("beta", "alpha")
    expect_end(alpha)
  end)
end)
