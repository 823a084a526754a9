-- What agents do across hosts, and what does not hold them up: tasks, introductions, a Redis that
-- is down, mail that expires, one full mailbox, frames with a wrong signature.
--
-- Covers: core/embed/joined.c, core/bridge/links/links.c, core/parts/hosts/hosts_in.c

local json = require("society.json")
local program = require("program")
local redis = require("redis")

local BRIEF = [[{ objective = "o", constraints = { "c" }, inputs = "i", outputs = "o",
  completion_criteria = "c" }]]

local BETA = [[
local society = require("society")
society.config { name = "duo", mailbox_max = 20 }
society.role { id = "helper", name = "Helper", prompt = "x",
  behaviour = function(agent, message) return { text = "helped " .. message.payload.text } end }
society.role { id = "sleeper", name = "Sleeper", prompt = "x",
  behaviour = function(agent) agent:sleep(3600000) end }
society.root {
  task_assignment = function(root, message)
    if message.task_id == "T2" then
      return root:fail(message, "no way")
    end
    root:complete(message, { by = root.id })
  end,
  collaboration_request = function(root, message)
    local child = assert(root:spawn_agent(message.payload.text, ]] .. BRIEF .. [[,
      { id = message.payload.text .. "1" }))
    return { text = child.id }
  end,
  general = function() return { text = "hi" } end,
}
]]

local ALPHA = [[
local society = require("society")
local json = require("society.json")
society.config { name = "duo" }
local brief = ]] .. BRIEF .. [[

local function note(name, answer, err)
  print(json.encode({ name = name, answer = answer or err }))
end
society.root {
  collaboration_request = function(root, message)
    local one = { to = "root@beta", payload = { text = "x" } }
    note("stranger", root:send_message(one))
    note("add", root:add_contact { id = "root@beta" })
    note("request", root:request(one))
    for _, id in ipairs { "T1", "T2" } do
      note(id, root:request { to = "root@beta", type = "task_assignment", task_id = id,
        payload = brief })
    end
    root:request { to = "root@beta", type = "collaboration_request", payload = { text = "helper" } }
    note("introduction", root:request_introduction { to = "root@beta", reason = "r",
      required_capability = "Helper" })
    note("helper", root:request { to = "helper1@beta", payload = { text = "me" } })
    note("ack", root:send_message { to = "helper1@beta", payload = { text = "x" },
      wait_ack = "received" })
    return { text = "done" }
  end,
  general = function() return { text = "local" } end,
  alert = function(root, message)
    root.state[message.payload.alert_type] = (root.state[message.payload.alert_type] or 0) + 1
  end,
  delivery_failed = function(root) root.state.failed = true end,
}
society.main(function(user)
  if arg[1] == "work" then
    assert(user:request { to = "root", type = "collaboration_request", payload = { text = "go" },
      timeout_ms = 120000 })
  end
end)
]]

describe("agents on two hosts", function()
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
    place:write("alpha.lua", ALPHA)
  end)

  after_each(function()
    for _, running in ipairs(started) do
      if not running:code() then
        running:kill("KILL")
        running:wait()
      end
    end
    if not server.running:code() then
      server:stop()
    end
    place:remove()
  end)

  local function command(name, peer)
    return ("run %s.lua --state %s --redis %s --host %s --peers %s"):format(name, name, server.url,
      name, peer)
  end

  local function start(name, peer, more)
    local running = place:start_ready(command(name, peer) .. (more or ""), name)
    table.insert(started, running)
    return running
  end

  local function root_of(state)
    local rows = program.rows(place:run("inspect agent root --json --state " .. state))
    return rows[1] and rows[1].state or {}
  end

  local function link_of(state)
    return program.rows(place:run("inspect links --json --state " .. state))[1] or {}
  end

  local function stats_of(state)
    return program.rows(place:run("inspect stats --json --state " .. state))[1]
  end

  local function is_up()
    return link_of("alpha").state == "up" and link_of("beta").state == "up"
  end

  local function send(to, more)
    local result = place:run("call send --state alpha " .. program.quote(json.encode({
      to = to, payload = { text = "x" }, ttl_seconds = more })))
    assert.equal(0, result.code, result.err)
  end

  it("give tasks, introduce and ask for acks", function()
    start("beta", "alpha")
    local result = place:run(command("alpha", "beta") .. " --once --quiet -- work")
    assert.equal(0, result.code, result.err)
    local said = {}
    for _, row in ipairs(program.rows(result)) do
      said[row.name] = row.answer
    end
    assert.equal("unknown_contact", said.stranger.error)
    assert.equal("manual", said.add.source)
    assert.equal("hi", said.request.payload.text)
    assert.same({ "done", "root" }, { said.T1.payload.status, said.T1.payload.output.by })
    assert.same({ "failed", "no way" }, { said.T2.payload.status, said.T2.payload.error })
    assert.same({ "helper1@beta", "Helper", "introduction", "root@beta" }, {
      said.introduction.id, said.introduction.role, said.introduction.source,
      said.introduction.introducedBy })
    assert.equal("helped me", said.helper.payload.text)
    assert.equal("received", said.ack.ack)
    -- Keys jump when a host gets its number; no list stops there.
    local stats = stats_of("alpha")
    assert.equal(stats.sent + stats.taken,
      #program.rows(place:run("inspect messages --json --state alpha")))
    local states = {}
    for _, task in ipairs(program.rows(place:run("inspect tasks --json --state alpha"))) do
      states[task.task_id] = task.agent .. " " .. task.state
    end
    assert.same({ T1 = "root@beta completed", T2 = "root@beta failed" }, states)
  end)

  it("cancel a task on the host of its owner", function()
    place:write("beta.lua", [[
      local society = require("society")
      society.config { name = "duo" }
      society.root { task_assignment = function(root) root:sleep(3600000) end,
        abort = function(root, message) root.state.told = message.payload.task_id end }
    ]])
    place:write("alpha.lua", [[
      local society = require("society")
      society.config { name = "duo" }
      society.root(function(root)
        root:add_contact { id = "root@beta" }
        assert(root:send_message { to = "root@beta", type = "task_assignment", task_id = "T9",
          payload = ]] .. BRIEF .. [[ })
      end)
    ]])
    local function task_of(state)
      local row = program.rows(place:run("inspect tasks --json --state " .. state))[1]
      return row and row.state
    end
    start("beta", "alpha")
    start("alpha", "beta")
    send("root")
    program.wait_for("the task", function() return task_of("beta") == "processing" end)
    assert.equal(0, place:run("cancel T9 --state alpha").code)
    program.wait_for("the end", function() return task_of("beta") == "cancelled" end)
    assert.equal("cancelled", task_of("alpha"))
    program.wait_for("the word", function() return root_of("beta").told == "T9" end)
  end)

  it("go on while Redis is down, say so once, and let mail expire in the outbox", function()
    start("beta", "alpha")
    start("alpha", "beta")
    program.wait_for("both", is_up)
    server:stop()
    program.wait_for("the alert", function() return root_of("alpha").carrier_lost == 1 end)
    send("root@beta", 1)
    send("root@beta")
    local answer = place:run("send --to root --wait --state alpha x")
    assert.equal(0, answer.code, answer.err)
    program.wait_for("the expiry", function() return stats_of("alpha").expired == 1 end)
    assert.equal(1, link_of("alpha").waiting)
    assert.equal("carrier_lost", link_of("alpha").state)
    server:restart()
    program.wait_for("the rest", function() return stats_of("alpha").handed_over == 1 end)
    assert.equal(1, root_of("alpha").carrier_lost)
  end)

  it("are not held up by one full mailbox", function()
    start("beta", "alpha")
    start("alpha", "beta")
    program.wait_for("both", is_up)
    assert.equal(0, place:run("call request --state alpha " .. program.quote(json.encode({
      to = "root@beta", type = "collaboration_request", payload = { text = "sleeper" } }))).code)
    for _ = 1, 30 do
      send("sleeper1@beta")
    end
    for _ = 1, 5 do
      local result = place:run("send --to root@beta --wait --state alpha x")
      assert.equal(0, result.code, result.err)
    end
    -- Some are in the mailbox there; the others wait here. If beta was slow it may have taken all
    -- of them at once, before it could say that there is no room; then later ones wait.
    program.wait_for("the rest to wait", function()
      local link = link_of("alpha")
      if link.waiting > 0 and link.acked == link.sent then
        return true
      elseif link.waiting == 0 then
        send("sleeper1@beta")
      end
    end)
    local taken = link_of("beta").taken
    send("sleeper1@beta")
    assert.equal(0, place:run("send --to root@beta --wait --state alpha x").code)
    assert.equal(taken + 1, link_of("beta").taken)
  end)

  it("take nothing that is signed with another key, and show no key", function()
    local key = "canary-key-of-the-fleet"
    local app = BETA:gsub('name = "duo"', 'name = "duo", hosts = { secret_env = "FLEET_KEY" }')
    place:write("beta.lua", app)
    place:write("alpha.lua", app)
    local function begin(name, peer, keys)
      local running = place:start(command(name, peer), "FLEET_KEY=" .. keys)
      table.insert(started, running)
      program.wait_for("the socket", function()
        return place:shell("test -S " .. name .. "/socket").code == 0
      end)
      return running
    end
    begin("beta", "alpha", key)
    local alpha = begin("alpha", "beta", "another-key-of-somebody")
    send("root@beta")
    alpha:expect("the frame is signed with a key this host lacks")
    assert.equal(0, link_of("beta").taken)
    alpha:kill("TERM")
    alpha:wait()
    begin("alpha", "beta", "another-key-of-somebody," .. key):expect("")
    alpha = started[#started]
    alpha:kill("TERM")
    alpha:wait()
    begin("alpha", "beta", key .. ",another-key-of-somebody")
    program.wait_for("the message", function() return link_of("beta").taken == 1 end)
    server:call("SAVE")
    local found = place:shell(("grep -rl %s . ; redis-cli -s %s --raw XRANGE "
      .. "'society:duo:{beta}:from:alpha' - + | grep -c %s"):format(key,
      program.quote(server.socket), key))
    assert.equal("0\n", (found.out:gsub("%./dump.rdb\n", "")))
    local err = place:run("run alpha.lua --state other --host x --redis " .. server.url).err
    assert.matches("the environment variable FLEET_KEY is not set", err, 1, true)
  end)
end)
