-- The policy `hosts`: where agents are born, and what is taken from elsewhere.
--
-- Covers: core/script/answers/hosts.c

local fleets = require("fleets")
local scene = require("scene")

local function worker(s)
  s.role { id = "worker", name = "Worker", behaviour = {
    task_assignment = function(agent, message) agent:complete(message, { by = agent.id }) end,
    general = function(agent) return { text = agent.id } end,
  } }
  s.role { id = "clerk", behaviour = function() end }
  s.root(function(root)
    for i = 1, 3 do
      assert(root:spawn_agent("clerk", scene.brief(), { id = "clerk" .. i }))
    end
    return "hired"
  end)
end

local function act(story, policy, settings, hosts)
  return fleets.act(story, hosts or { beta = worker, gamma = worker }, {
    alpha = function(s)
      worker(s)
      s.policy("hosts", policy, settings)
    end,
    before = function(f) f.beta:dispatch("root", "hire") f:advance(3000) end,
  })
end

local function hire(root)
  local ids = {}
  for i = 1, 4 do
    ids[i] = assert(root:spawn_agent("worker", scene.brief(), { id = "w" .. i })).id
    root:sleep(5000) -- until the cards say so
  end
  return ids
end

describe("the policy hosts", function()
  after_each(scene.close)

  it("lets agents be born where their parent is unless another is chosen", function()
    local _, got = act(hire, "local")
    assert.same({ "w1", "w2", "w3", "w4" }, got)
  end)

  it("places by role", function()
    local _, got = act(function(root)
      return { assert(root:spawn_agent("worker", scene.brief(), { id = "w" })).id,
        assert(root:spawn_agent("clerk", scene.brief(), { id = "c" })).id,
        assert(root:spawn_agent("worker", scene.brief(), { id = "own", host = "alpha" })).id,
        assert(root:spawn_agent("worker", scene.brief(),
          { id = "t", message = "x", wait = true })).result.output.by }
    end, "by_role", { roles = { worker = "gamma" } })
    assert.same({ "w@gamma", "c", "own", "t" }, got)
  end)

  it("places on the reachable host with the fewest agents", function()
    local f, got = act(hire, "least_loaded")
    assert.same({ "w1", "w2@gamma", "w3", "w4@gamma" }, got)
    assert.same({}, fleets.ids(f.beta, "worker"))
  end)

  it("can be a function of the app that sees brief and hosts", function()
    local _, got = act(function(root)
      return { root:spawn_agent("worker", scene.brief(), { id = "w" }) }
    end, function(role, brief, hosts)
      if role == "worker" and brief.objective == "do it" and hosts[1].is_local
        and hosts[1].name == "alpha" and hosts[2].name == "beta" and hosts[2].is_reachable then
        return hosts[2].name
      end
    end)
    assert.equal("w@beta", got[1].id)
  end)

  it("says what is taken from other hosts, and the sender hears why not", function()
    local function guarded(s)
      worker(s)
      s.policy("hosts", {
        kind = "hosts", version = 1, place = function() return nil end,
        accept = function(from, to, type)
          if type == "host_spawn" then
            return false, "no births here"
          end
          return not (from == "root@alpha" and to == "root@beta" and type == "general")
        end,
        examples = {},
      })
    end
    local f, got = act(function(root)
      root:add_contact { id = "root@beta" }
      local _, birth = root:spawn_agent("worker", scene.brief(), { host = "beta" })
      local _, request = root:request { to = "root@beta", payload = "x" }
      return { birth = birth, request = request }
    end, "local", nil, { beta = guarded, gamma = worker })
    assert.equal("refused", got.birth.error)
    assert.equal("refused", got.request.error)
    assert.same({}, fleets.ids(f.beta, "worker"))
  end)
end)
