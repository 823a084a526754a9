-- Operating joined hosts, as docs/hosts.md says: a directory from before joins, a host is moved,
-- left out and taken in again, restored from a backup.
--
-- Covers: core/parts/hosts/hosts_part.c

local program = require("program")
local redis_server = require("redis_server")

local APP = [[
local society = require("society")
society.config { name = "duo", hosts = { number = NUMBER } }
society.root {
  general = function(root, message)
    root.state.last = message.payload.number
    return { text = "hello " .. message.payload.text }
  end,
}
]]

-- Asks before it has joined, and is answered after; then asks elsewhere.
local EARLY = [[
local society = require("society")
society.config { name = "duo" }
society.root(function(root, message)
  root:receive { from = "user", type = "status_report" }
  return { text = "late for " .. message.payload.text }
end)
society.main(function(user)
  local answer = assert(user:request { to = "root", payload = "Ada", timeout_ms = 600000 })
  print(answer.payload.text)
  local far = user:request { to = "root@beta", payload = { text = "Bob", number = 1 },
    timeout_ms = 600000 }
  print(far and far.payload.text or "alone")
end)
]]

describe("an operator of joined hosts", function()
  if os.execute("command -v redis-server >/dev/null 2>&1") ~= true then
    pending("redis-server is not installed")
    return
  end
  local place, server, started

  before_each(function()
    place, started = program.place(), {}
    server = redis_server.open(place)
    for number, name in ipairs({ "alpha", "beta", "gamma" }) do
      place:write(name .. ".lua", (APP:gsub("NUMBER", tostring(number + 6))))
    end
  end)

  after_each(function()
    for _, running in ipairs(started) do
      if not running:code() then
        running:kill("KILL")
        running:wait()
      end
    end
    server:close()
    place:remove()
  end)

  local function start(name, peers, app, state)
    local running = place:start_ready(("run %s.lua --state %s --redis %s --host %s --peers %s")
      :format(app or name, state or name, server.url, name, peers), state or name)
    started[#started + 1] = running
    return running
  end

  local function stop(running)
    running:kill("TERM")
    running:wait()
  end

  local function rows(command)
    local result = place:run(command)
    assert.equal(0, result.code, result.err)
    return program.rows(result)
  end

  local function link_of(state, host)
    for _, link in ipairs(program.rows(place:run("inspect links --json --state " .. state))) do
      if link.host == host then
        return link
      end
    end
    return {}
  end

  local function is(state, host, what, otherwise)
    program.wait_for(("the link of %s to %s to be %s"):format(state, host, what), function()
      local is_now = link_of(state, host).state
      return is_now == what or (otherwise and is_now == otherwise)
    end)
  end

  local function send(state, to, number)
    return place:run(("call send --state %s %s"):format(state, program.quote(
      ('{"to":"%s","payload":{"text":"x","number":%d}}'):format(to, number))))
  end

  local function arrives(state, number)
    program.wait_for("number " .. number, function()
      local list = program.rows(place:run("inspect agent root --json --state " .. state))
      return list[1] and list[1].state and list[1].state.last == number
    end)
  end

  it("lets a directory from before join: ids stay, and what was asked is answered", function()
    place:write("early.lua", EARLY)
    local running = place:start_ready("run early.lua --state alpha", "alpha")
    started[#started + 1] = running
    program.wait_for("the request", function()
      return rows("inspect agent root --json --state alpha")[1].status ~= "idle"
    end)
    running:kill("KILL")
    running:wait()
    local before = rows("inspect messages --json --state alpha")
    assert.equal(1, #before)
    assert.matches("^msg_%d+_%d+_%x%x%x00", before[1].id)
    assert.equal("pending", before[1].status)
    place:shell("rm -f alpha/socket")
    start("beta", "alpha")
    running = start("alpha", "beta", "early")
    local go = place:run("call send --state alpha " .. program.quote(
      '{"to":"root","type":"status_report","payload":{"text":"go"}}'))
    assert.equal(0, go.code, go.err)
    running:expect("late for Ada")
    running:expect("hello Bob")
    local after = rows("inspect messages --json --state alpha")
    assert.same({ before[1].id, "processed" }, { after[1].id, after[1].status })
    local number = link_of("beta", "alpha")
    assert.is_not_nil(number.acked)
    local far
    for _, message in ipairs(rows("inspect messages --json --state beta")) do
      far = message.from == "user@alpha" and message or far
    end
    assert.not_matches("^msg_%d+_%d+_%x%x%x00", far.id)
    assert.not_matches("^msg_%d+_%d+_%x%x%x08", far.id) -- the number of beta
  end)

  it("moves a host: the whole directory, and never both", function()
    local alpha = start("alpha", "beta")
    start("beta", "alpha")
    assert.equal(0, send("alpha", "root@beta", 1).code)
    arrives("beta", 1)
    stop(alpha)
    place:shell("cp -r alpha moved && rm -rf alpha")
    start("alpha", "beta", "alpha", "moved")
    assert.equal(0, send("moved", "root@beta", 2).code)
    arrives("beta", 2)
    assert.equal(0, send("beta", "root@alpha", 3).code)
    arrives("moved", 3)
  end)

  it("looks at a message by its id on either host", function()
    start("alpha", "beta")
    start("beta", "alpha")
    local asked = place:run("send --to root@beta --wait --timeout 250000 --state alpha Ada")
    assert.matches("hello Ada", asked.out, 1, true)
    local id = rows("inspect messages --json --state beta")[1].id
    for state, to in pairs({ alpha = "root@beta", beta = "root" }) do
      local message = rows(("inspect message %s --json --state %s"):format(id, state))[1]
      assert.same({ id, to, "hello Ada" }, { message.id, message.to,
        message.reply.payload.text })
      for _, entry in ipairs(message.life) do
        assert.equal(id, entry.message_id)
      end
    end
  end)

  it("leaves a host out and takes it in again: what was sent to it waits", function()
    local alpha = start("alpha", "beta")
    is("alpha", "beta", "connecting", "unreachable")
    assert.equal(0, send("alpha", "root@beta", 1).code)
    stop(alpha)
    alpha = start("alpha", "gamma")
    start("gamma", "alpha")
    assert.equal(0, send("alpha", "root@gamma", 1).code)
    arrives("gamma", 1)
    local refused = send("alpha", "root@beta", 2)
    assert.matches("unknown_host", refused.out .. refused.err, 1, true)
    program.wait_for("the mail for beta alone to be pending", function()
      return rows("inspect stats --json --state alpha")[1].pending == 1
    end)
    stop(alpha)
    start("alpha", "beta,gamma")
    start("beta", "alpha")
    arrives("beta", 1)
  end)

  it("loses nothing while Redis has no memory, and hears why", function()
    local alpha = start("alpha", "beta")
    start("beta", "alpha")
    is("alpha", "beta", "up")
    server:call("CONFIG SET maxmemory 1")
    assert.equal(0, send("alpha", "root@beta", 1).code)
    is("alpha", "beta", "carrier_lost")
    alpha:expect("OOM")
    program.wait_for("more tries of both hosts", function()
      local count = server:call("INFO errorstats"):match("errorstat_OOM:count=(%d+)")
      return tonumber(count or 0) >= 8
    end)
    server:call("CONFIG SET maxmemory 0")
    arrives("beta", 1)
    local alerts = 0
    for _, row in ipairs(rows("inspect messages --type alert --json --state alpha")) do
      alerts = alerts + (row.payload.alert_type == "carrier_lost" and row.to == "root" and 1 or 0)
    end
    assert.equal(1, alerts)
  end)

  it("is told by restore which links will stop", function()
    local alpha = start("alpha", "beta")
    start("beta", "alpha")
    assert.equal(0, send("alpha", "root@beta", 1).code)
    arrives("beta", 1)
    assert.equal(0, place:run("backup early.backup --state alpha").code)
    assert.equal(0, send("alpha", "root@beta", 2).code)
    arrives("beta", 2)
    stop(alpha)
    local restored = place:run("restore early.backup --state restored")
    assert.equal(0, restored.code)
    assert.matches("restored is the host alpha, and beta may know", restored.err, 1, true)
    start("alpha", "beta", "alpha", "restored")
    is("restored", "beta", "state_rolled_back")
    is("beta", "alpha", "peer_rolled_back")
    assert.equal(0, place:run("link reset beta --state restored").code)
    assert.equal(0, place:run("link reset alpha --state beta").code)
    is("restored", "beta", "up")
    assert.equal(0, send("restored", "root@beta", 3).code)
    arrives("beta", 3)
  end)
end)
