-- Joined hosts with --once: they end when what they have sent has arrived, or cannot.
--
-- Covers: core/bridge/links/links.c

local hosts_pair = require("hosts_pair")
local program = require("program")
local redis = require("redis")

-- Both write to each other, and wait for what the other writes.
local ONCE = [[
local society = require("society")
society.config { name = "duo" }
society.root(function() end)
society.main(function(user)
  assert(user:send_message { to = "user@PEER", payload = { text = "from NAME" } })
  local message = assert(user:receive { from = "user@PEER", timeout_ms = 600000 })
  print(message.payload.text)
end)
]]

-- Writes to the other, and waits for nothing.
local LETTER = [[
local society = require("society")
society.config { name = "duo" }
society.root(function() end)
society.main(function(user)
  assert(user:send_message { to = "root@beta", type = "status_report",
    payload = { text = "x", number = 1 } })
end)
]]

describe("joined hosts with --once", function()
  if not redis.is_there() then
    pending("redis-server is not installed")
    return
  end
  local place, pair

  before_each(function()
    place = program.place()
    pair = hosts_pair.open(place)
  end)

  after_each(function()
    pair:close()
    place:remove()
  end)

  it("both end when they have written to each other", function()
    local running = {}
    for name, peer in pairs({ alpha = "beta", beta = "alpha" }) do
      place:write(name .. ".lua", (ONCE:gsub("PEER", peer):gsub("NAME", name)))
      running[name] = place:start(pair:command(name) .. " --once --quiet")
      pair.hosts[name] = running[name]
    end
    for name, peer in pairs({ alpha = "beta", beta = "alpha" }) do
      local result = running[name]:wait()
      assert.same({ 0, "from " .. peer .. "\n" }, { result.code, result.out }, result.err)
    end
  end)

  it("do not wait for a Redis that is down, and deliver with the next start", function()
    place:write("letter.lua", LETTER)
    pair.server:stop()
    local command = pair:command("alpha", "alpha", "letter.lua") .. " --once --quiet"
    local result = place:run(command)
    assert.equal(0, result.code, result.err)
    local stats = program.rows(place:run("inspect stats --json --state alpha"))[1]
    assert.same({ 1, 0 }, { stats.pending, stats.handed_over })
    pair.server:restart()
    pair:start("beta")
    -- It ends without having delivered if it was kept from running for ten seconds.
    program.wait_for("the letter at beta", function()
      assert.equal(0, place:run(command).code)
      return pair:root("beta").last == 1
    end)
    stats = program.rows(place:run("inspect stats --json --state alpha"))[1]
    assert.same({ 0, 1 }, { stats.pending, stats.handed_over })
  end)
end)
