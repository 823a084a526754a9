-- An isolated agent's children are isolated on other hosts as well, so that what a stranger
-- wrote runs in no host's own process.
--
-- Covers: core/parts/hosts/hosts_orders.c

local json = require("society.json")
local program = require("program")
local redis = require("redis")

local HEAD = [[
local society = require("society")
local json = require("society.json")
local BRIEF = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
  completion_criteria = "c" }
society.config { name = "duo" }
society.role { id = "plain", name = "p", behaviour = function()
  return { seen = HOST or "apart" }
end }
]]

local BETA = HEAD .. [[
society.root(function()
  HOST = "host"
  return "ready"
end)
]]

-- The guest's children are told where to be born, or the policy says.
local ALPHA = HEAD .. [[
society.policy("hosts", function(_, brief)
  return brief.inputs == "policy" and "beta" or nil
end)
society.role { id = "guest", name = "g", isolated = true, behaviour = "guest" }
society.root(function(root)
  root:add_contact { id = "root@beta" }
  assert(root:request { to = "root@beta", payload = "be ready", timeout_ms = 250000 })
  local guest = assert(root:spawn_agent("guest", BRIEF)).id
  local answer = assert(root:request { to = guest, payload = "go", timeout_ms = 250000 }).payload
  local plain = assert(root:spawn_agent("plain", BRIEF, { host = "beta", timeout_ms = 250000 })).id
  answer.of_root = assert(root:request { to = plain, payload = "?", timeout_ms = 250000 })
    .payload.seen
  return answer
end)
society.main(function(user)
  local answer, err = user:request { to = "root", payload = "go", timeout_ms = 250000 }
  print(json.encode(answer and answer.payload or err))
end)
]]

local GUEST = [[
return function(agent)
  local function child(inputs, options)
    local brief = { objective = "o", constraints = {}, inputs = inputs, outputs = "o",
      completion_criteria = "c" }
    local id = assert(agent:spawn_agent("plain", brief, options)).id
    return id:match("@.*"),
      assert(agent:request { to = id, payload = "?", timeout_ms = 250000 }).payload.seen
  end
  local answer = {}
  answer.there, answer.named = child("i", { host = "beta", timeout_ms = 250000 })
  answer.chosen, answer.placed = child("policy")
  return answer
end
]]

describe("an isolated agent", function()
  if not redis.is_there() then
    pending("redis-server is not installed")
    return
  end
  local place, server, beta

  before_each(function()
    place = program.place()
    server = redis.start(place)
    place:write("alpha.lua", ALPHA)
    place:write("beta.lua", BETA)
    place:write("guest.lua", GUEST)
  end)

  after_each(function()
    beta:kill("KILL")
    beta:wait()
    server:stop()
    place:remove()
  end)

  it("has isolated children on another host, wherever their place comes from", function()
    local options = " --state %s --redis " .. server.url .. " --host %s --peers %s"
    beta = place:start_ready("run beta.lua" .. options:format("beta", "beta", "alpha"), "beta")
    local result = place:run("run alpha.lua --once --quiet"
      .. options:format("alpha", "alpha", "beta"))
    assert.equal(0, result.code, result.err)
    assert.same({ there = "@beta", named = "apart", chosen = "@beta", placed = "apart",
      of_root = "host" }, json.decode(result.out))
  end)
end)
