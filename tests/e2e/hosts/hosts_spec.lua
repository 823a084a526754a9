-- Two hosts joined through a real Redis server: requests, failures, kills of both sides and of
-- Redis, directories that were put back or copied.
--
-- Covers: core/embed/joined.c, core/bridge/links/links.c
-- Covers: core/parts/hosts/hosts_in.c, core/parts/hosts/hosts_out.c
-- Covers: core/parts/hosts/hosts_operations.c, core/parts/hosts/hosts_part.c

local json = require("society.json")
local program = require("program")
local redis = require("redis")

local BETA = [[
local society = require("society")
society.config { name = "duo" }
society.root {
  general = function(root, message)
    return { text = "hello " .. message.payload.text, from = message.from, id = message.id }
  end,
  status_report = function(root, message)
    local last = root.state.last or 0
    root.state.last = message.payload.number
    if message.payload.number ~= last + 1 then
      root.state.fault = ("%d after %d"):format(message.payload.number, last)
    end
  end,
}
]]

local ALPHA = [[
local society = require("society")
local json = require("society.json")
society.config { name = "duo" }
society.root(function() end)
society.main(function(user)
  local function ask(to)
    local answer, err = user:request { to = to, payload = { text = "Ada" }, timeout_ms = 250000 }
    print(json.encode(answer and { answer.payload, answer.reply_to, answer.from } or err))
  end
  ask("root@beta")
  ask("nobody@beta")
  ask("root@gamma")
end)
]]

-- Sends numbered reports for as long as the test likes.
local SENDER = [[
local society = require("society")
society.config { name = "duo" }
society.root(function() end)
society.main(function(user)
  for number = 1, COUNT do
    assert(user:send_message { to = "root@beta", type = "status_report",
      payload = { text = "x", number = number } })
    if number %% 10 == 0 then
      user:sleep(20)
    end
  end
end)
]]

-- Sends more than the outbox of one agent holds, which is what waits for a carrier that is down.
local FILLER = [[
local society = require("society")
society.config { name = "duo", mailbox_max = 200 }
society.root(function() return { text = "here" } end)
society.main(function(user)
  local sent, full = 0, 0
  for _ = 1, 1000 do
    local message, err = user:send_message { to = "root@beta", type = "status_report",
      payload = { text = "x", number = sent + 1 } }
    assert(message or err.error == "mailbox_full", err and err.message)
    sent, full = sent + (message and 1 or 0), full + (message and 0 or 1)
  end
  print(("sent %d, full %d"):format(sent, full))
end)
]]

describe("two hosts joined through Redis", function()
  if not redis.is_there() then
    pending("redis-server is not installed")
    return
  end
  local place, server, started

  before_each(function()
    place = program.place()
    started = {}
    server = redis.start(place)
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

  local function start(name, app, peer, more)
    local running = place:start_ready(("run %s --state %s --redis %s --host %s --peers %s %s")
      :format(app, name, server.url, name, peer, more or ""), name)
    table.insert(started, running)
    return running
  end

  local function kill(running)
    running:kill("KILL")
    running:wait()
  end

  local function root_of(state)
    local rows = program.rows(place:run("inspect agent root --json --state " .. state))
    return rows[1] and rows[1].state or {}
  end

  local function link_of(state)
    return program.rows(place:run("inspect links --json --state " .. state))[1] or {}
  end

  local function arrives(count)
    program.wait_for("report " .. count, function()
      local state = root_of("beta")
      assert.is_nil(state.fault)
      return state.last == count
    end)
  end

  -- The law of messages for one host.
  local function holds(state)
    local stats = program.rows(place:run("inspect stats --json --state " .. state))[1]
    assert.equal(stats.sent + stats.taken, stats.pending + stats.processed + stats.expired
      + stats.dead + stats.dropped + stats.cancelled + stats.handed_over)
    return stats
  end

  it("ask and answer, keep ids, and say what cannot be delivered", function()
    place:write("alpha.lua", ALPHA)
    start("beta", "beta.lua", "alpha")
    local result = place:run(("run alpha.lua --state alpha --redis %s --host alpha --peers beta"
      .. " --once --quiet"):format(server.url))
    assert.equal(0, result.code, result.err)
    local lines = program.rows(result)
    local answer, reply_to, from = table.unpack(lines[1])
    assert.same({ "hello Ada", "user@alpha", "root@beta" }, { answer.text, answer.from, from })
    assert.equal(answer.id, reply_to)
    assert.equal("agent_not_found", lines[2].error)
    assert.equal("nobody@beta", lines[2].to)
    assert.equal("unknown_host", lines[3].error)

    local alpha, beta = holds("alpha"), holds("beta")
    assert.equal(2, alpha.handed_over)
    assert.equal(alpha.handed_over, beta.taken + 1) -- the one for nobody is no message there
    assert.equal(beta.handed_over, alpha.taken)
    local rows = program.rows(place:run("inspect messages --json --state beta"))
    assert.equal(reply_to, rows[1].id)
  end)

  it("lose, double and reorder nothing under kills of both and of Redis", function()
    local count = 400
    place:write("alpha.lua", (SENDER:gsub("COUNT", count):gsub("%%%%", "%%")))
    local beta = start("beta", "beta.lua", "alpha")
    local alpha = start("alpha", "alpha.lua", "beta")
    program.wait_for("the first report", function() return root_of("beta").last end)
    kill(beta)
    beta = start("beta", "beta.lua", "alpha")
    assert.equal("OK\n", server:call("FLUSHALL").out)
    kill(alpha)
    start("alpha", "alpha.lua", "beta")
    server:stop()
    server:restart()
    kill(beta)
    start("beta", "beta.lua", "alpha")
    arrives(count)
    program.wait_for("the last ack", function()
      return link_of("alpha").acked == link_of("alpha").sent and link_of("alpha").waiting == 0
    end)
    assert.equal("up", link_of("alpha").state)
    assert.equal(holds("alpha").handed_over, link_of("alpha").sent)
    local stats = holds("beta")
    assert.equal(stats.taken, link_of("beta").taken)
    local past = program.rows(place:run("call at --state beta"))[1].totals
    assert.same({ stats.sent, stats.taken }, { past.sent, past.taken })
  end)

  it("keep what an outbox holds while Redis is down, refuse more, and go on by themselves",
    function()
      place:write("alpha.lua", FILLER)
      start("beta", "beta.lua", "alpha")
      server:stop()
      local alpha = start("alpha", "alpha.lua", "beta")
      alpha:expect("sent 200, full 800")
      assert.equal(200, link_of("alpha").waiting)
      assert.equal("carrier_lost", link_of("alpha").state)
      local answer = place:run("send --to root --wait --state alpha x")
      assert.matches("here", answer.out, 1, true)
      server:restart()
      arrives(200)
      program.wait_for("the acks", function() return link_of("alpha").waiting == 0 end)
      assert.equal(200, holds("alpha").handed_over)
    end)

  -- Has the user of alpha send report `number`, and waits until it has arrived.
  local function send(number)
    local result = place:run("call send --state alpha " .. program.quote(json.encode({
      to = "root@beta", type = "status_report", payload = { text = "x", number = number } })))
    assert.equal(0, result.code, result.err)
  end

  local function stop(running)
    running:kill("TERM")
    assert.equal(0, running:wait().code)
  end

  local function waits_for(alpha, beta)
    program.wait_for(alpha .. " and " .. beta, function()
      return link_of("alpha").state == alpha and link_of("beta").state == beta
    end)
  end

  local function reset(state, peer)
    local result = place:run(("call link_reset %s --state %s"):format(
      program.quote(json.encode({ host = peer })), state))
    assert.equal(0, result.code, result.err)
  end

  it("name an older database of the receiver, and go on when both ends are reset", function()
    place:write("alpha.lua", BETA)
    local beta = start("beta", "beta.lua", "alpha")
    start("alpha", "alpha.lua", "beta")
    send(1)
    arrives(1)
    stop(beta)
    place:shell("mkdir old && cp beta/society.db* old/")
    beta = start("beta", "beta.lua", "alpha")
    send(2)
    arrives(2)
    program.wait_for("the ack", function() return link_of("alpha").acked == 2 end)
    kill(beta)
    place:shell("rm beta/society.db* && cp old/society.db* beta/")
    start("beta", "beta.lua", "alpha")
    waits_for("peer_rolled_back", "state_rolled_back")
    send(3) -- waits, and is not taken for a duplicate
    reset("alpha", "beta")
    reset("beta", "alpha")
    waits_for("up", "up")
    program.wait_for("the third report", function() return root_of("beta").last == 3 end)
    assert.equal("3 after 1", root_of("beta").fault)
  end)

  it("fence a host when a copy of its directory is started", function()
    place:write("alpha.lua", BETA)
    start("beta", "beta.lua", "alpha")
    local alpha = start("alpha", "alpha.lua", "beta")
    send(1)
    arrives(1)
    stop(alpha)
    place:shell("cp -r alpha copy && rm -f copy/socket")
    start("alpha", "alpha.lua", "beta")
    waits_for("up", "up")
    local copy = place:start(("run alpha.lua --state copy --redis %s --host alpha --peers beta")
      :format(server.url))
    table.insert(started, copy)
    program.wait_for("the fence", function() return link_of("alpha").state == "fenced" end)
  end)
end)
