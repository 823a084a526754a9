-- The network and the app's keys are out of an isolated agent's reach, in a real society with
-- worker processes: from the first start on, and again when a restart takes back what was granted.
--
-- Covers: core/script/calls/grants.c, core/script/calls/exchange.c

local json = require("society.json")
local program = require("program")
local servers = require("server")

local APP = [[
local society = require("society")
local BRIEF = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
  completion_criteria = "c" }
society.config { name = "alpha", secrets = { MY_KEY = "%s" } }
society.role { id = "thief", name = "t", isolated = %s, behaviour = "thief" }
society.root(function(root, message)
  if not society.agent("thief") then
    assert(root:spawn_agent("thief", BRIEF, { id = "thief" }))
  end
  return assert(root:request { to = "thief", payload = message.payload, timeout_ms = 250000 })
    .payload
end)
]]

local THIEF = [[
return function(agent, message)
  local got, err = agent:http { url = message.payload.url, secret = message.payload.secret,
    timeout_ms = 250000 }
  return { status = got and got.status, error = err and err.error }
end
]]

describe("an isolated agent of a running society", function()
  local place, server, running

  before_each(function()
    place = program.place()
    server = servers.start(place)
    place:write("thief.lua", THIEF)
  end)

  after_each(function()
    if running then
      running:kill("KILL")
      running:wait()
    end
    server:stop()
    place:remove()
  end)

  local function start(isolated)
    place:write("app.lua", APP:format(server.url, isolated))
    place:shell("rm -f st/socket")
    running = place:start("run app.lua --state st", "MY_KEY=the-key-of-the-app")
    program.wait_for("the socket", function()
      return place:shell("test -S st/socket").code == 0
    end)
  end

  local function stop()
    running:kill("INT")
    running:wait()
    running = nil
  end

  local function ask(payload)
    local sent = place:run(("send %s --json-payload --to root --wait --timeout 250000 --state st")
      :format(program.quote(json.encode(payload))))
    return json.decode(sent.out) or error(sent.out .. sent.err)
  end

  it("reads no service of this machine and sends no key, unless the app grants it", function()
    local url = server.url .. "/echo"
    start("true")
    assert.same({ error = "forbidden" }, ask({ url = url }))
    assert.same({ error = "forbidden" }, ask({ url = url, secret = "MY_KEY" }))
    assert.same({}, server:requests())
    stop()
    start(('{ http = { "%s", "%s/redirect" }, secrets = { "MY_KEY" } }'):format(url, server.url))
    assert.same({ status = 200 }, ask({ url = url, secret = "MY_KEY" }))
    assert.equal("Bearer the-key-of-the-app", server:requests()[1].headers.Authorization)
    assert.same({ error = "forbidden" }, ask({ url = server.url .. "/else" }))
    -- A redirect is an answer and not followed.
    assert.same({ status = 307 },
      ask({ url = server.url .. "/redirect?" .. server.url .. "/else" }))
    stop()
    start("true")
    assert.same({ error = "forbidden" }, ask({ url = url }))
    stop()
    assert.equal(2, #server:requests())
  end)
end)
