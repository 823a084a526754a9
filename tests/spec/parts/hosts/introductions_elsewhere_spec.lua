-- Introductions across hosts: chains, targets on a third host, rings, consent; and payloads that
-- only look like one.
--
-- Covers: core/parts/hosts/hosts_qualify.c

local fleets = require("fleets")
local scene = require("scene")

local function helper(s, name)
  s.role { id = name, name = name, behaviour = function(agent, message)
    agent.state.seen = message.payload
    return { text = "I am " .. agent.id }
  end }
end

-- Roots leave introductions to the host; `hires` is a list of { role, id?, host? }.
local function place(hires, more)
  return function(s)
    helper(s, "Baker")
    helper(s, "Cook")
    local behaviour = {
      hire = function(root)
        for _, who in ipairs(hires) do
          assert(root:spawn_agent(who[1], scene.brief(), { id = who.id, host = who.host }))
        end
      end,
      default = function(root, message)
        root.state.seen = root.state.seen or {}
        table.insert(root.state.seen, { type = message.type, payload = message.payload })
      end,
      system = function() end,
    }
    for name, value in pairs(more or {}) do
      behaviour[name] = value
    end
    s.root(behaviour)
  end
end

local function act(story, hosts, options)
  options = options or {}
  options.before = options.before or function(f)
    for _, name in ipairs({ "beta", "gamma" }) do
      assert(f:host(name):send("user", { to = "root", type = "hire", payload = "x" }))
      f:run()
    end
  end
  return fleets.act(story, hosts, options)
end

local function ask(root, what, to)
  root:add_contact { id = to or "root@beta" }
  return root:request_introduction { to = to or "root@beta", reason = "I need one",
    required_capability = what, timeout_ms = 60000 }
end

local function knows_beta()
  return scene.brief { collaborators = {
    { agentId = "root@beta", role = "root", description = "d" },
  } }
end

describe("an introduction by an agent on another host", function()
  after_each(scene.close)

  it("may name an agent on a third host, which can be written to", function()
    local f, got = act(function(root)
      local met = assert(ask(root, "Cook"))
      local answer = assert(root:request { to = met.id, payload = "hello" })
      return { id = met.id, role = met.role, by = met.introducedBy, via = met.via,
        text = answer.payload.text }
    end, { beta = place({ { "Cook", id = "carl", host = "gamma" } }), gamma = place({}) })
    assert.same({ id = "carl@gamma", role = "Cook", by = "root@beta", via = { "root@beta" },
      text = "I am carl" }, got)
    assert.equal("hello", f.gamma.agent("carl").state.seen.text)
  end)

  it("may name an agent of the host of the requester", function()
    local _, got = act(function(root)
      assert(root:spawn_agent("Cook", scene.brief(), { id = "carl" }))
      root:add_contact { id = "root@beta" }
      assert(root:send_message { to = "root@beta", type = "learn", payload = "carl@alpha" })
      root:sleep(1000)
      assert(root:spawn_agent("asker", knows_beta(), { id = "ann" }))
      return assert(root:request { to = "ann", payload = "x", timeout_ms = 60000 }).payload
    end, { beta = place({}, {
      learn = function(root, message) assert(root:add_contact { id = message.payload.text }) end,
    }), gamma = place({}) }, { alpha = function(s)
      helper(s, "Cook")
      s.role { id = "asker", behaviour = function(agent)
        local met = assert(agent:request_introduction { to = "root@beta", reason = "r",
          required_capability = "Cook", timeout_ms = 30000 })
        return { id = met.id, by = met.introducedBy, role = met.role,
          said = assert(agent:request { to = met.id, payload = "x" }).payload.text }
      end }
    end })
    assert.same({ id = "carl", by = "root@beta", role = "Cook", said = "I am carl" }, got)
  end)

  it("is asked onward to a third host, and says by whom it came", function()
    local f, got = act(function(root)
      return assert(ask(root, "Cook"))
    end, {
      beta = place({}, { hire = function(root) root:add_contact { id = "root@gamma" } end }),
      gamma = place({ { "Cook", id = "carl" } }),
    })
    assert.same({ "carl@gamma", "root@beta", { "root@beta", "root@gamma" } },
      { got.id, got.introducedBy, got.via })
    local request = f.gamma:messages({ type = "introduction_request" })[1]
    assert.same({ "root@beta", { "root@alpha", "root@beta" } },
      { request.from, request.payload.via })
  end)

  it("ends in a ring with a refusal that names all who were asked", function()
    local f, got = act(function(root)
      local _, err = ask(root, "Astronaut")
      return err
    end, {
      beta = place({}, { hire = function(root) root:add_contact { id = "root@gamma" } end }),
      gamma = place({}, { hire = function(root) root:add_contact { id = "root@alpha" } end }),
    })
    assert.equal("no_introduction", got.error)
    assert.same({ "root@beta", "root@gamma" }, got.via)
    assert.is_true(#f.alpha:messages({ type = "introduction_request" }) <= 2)
  end)

  it("ends by the limit of hops where agents pass it on themselves", function()
    local function passer(to)
      local app = place({}, {
        hire = function(root) root:add_contact { id = to } end,
        introduction_request = function(root, message)
          root.state.passed = (root.state.passed or 0) + 1
          local _, err = root:send_message { to = to, type = "introduction_request",
            payload = { reason = "r", required_capability = "c" } }
          if err then
            root.state.refused = { error = err.error, via = #err.via }
            assert(root:decline(message, err.reason))
          end
        end,
      })
      return function(s)
        s.config { introduction_hops_max = 5, hops_max = 100 }
        app(s)
      end
    end
    local f = act(function(root)
      root:add_contact { id = "root@beta" }
      root:send_message { to = "root@beta", type = "introduction_request",
        payload = { reason = "r", required_capability = "c" } }
    end, { beta = passer("root@gamma"), gamma = passer("root@beta") })
    local beta, gamma = f.beta.agent("root").state, f.gamma.agent("root").state
    assert.same({ error = "no_introduction", via = 7 }, beta.refused or gamma.refused)
    assert.equal(6, beta.passed + gamma.passed)
  end)

  it("asks the parent on another host for consent, and says who is meant", function()
    local f = act(function(root)
      root:add_contact { id = "root@beta" }
      assert(root:spawn_agent("boss", knows_beta(), { id = "boss" }))
      assert(root:request { to = "boss", payload = "hire" })
      root:sleep(60000)
    end, {
      beta = function(s)
        place({ { "Cook", id = "carl" } })(s)
        s.role { id = "asker", name = "Asker", behaviour = function(agent)
          local met = assert(agent:request_introduction { to = "root", reason = "r",
            required_capability = "Cook", timeout_ms = 30000 })
          agent.state.met = met.id
        end }
      end,
      gamma = place({}),
    }, { policies = { messages = { "any" }, introductions = "confirm" }, alpha = function(s)
      s.role { id = "boss", behaviour = {
        collaboration_request = function(agent, message)
          agent.state.asked = message.payload
          return { accepted = true }
        end,
        default = function(agent)
          local child = assert(agent:spawn_agent("asker", knows_beta(),
            { id = "ann", host = "beta" }))
          agent:send_message { to = child.id, payload = "go" }
          return "hired"
        end,
      } }
    end, before = function(f)
      f:run()
      assert(f.beta:send("user", { to = "root", type = "hire", payload = "x" }))
      f:run()
    end })
    local asked = f.alpha.agent("boss").state.asked
    assert.same({ "ann@beta", "carl@beta" }, { asked.requester.id, asked.target_agent.id })
    assert.equal("carl", f.beta.agent("ann").state.met)
  end)
end)

describe("an introduction request to another host", function()
  after_each(scene.close)

  it("keeps its place, though nobody waits for it any more and its host starts again", function()
    local f = act(function(root)
      root:add_contact { id = "root@beta" }
      root:request_introduction { to = "root@beta", reason = "r", required_capability = "c",
        timeout_ms = 1000 }
      root:send_message { to = "root@beta", payload = "later" }
    end, { beta = place({}), gamma = place({}) }, {
      before = function(f)
        f:cut("alpha")
        f.alpha:crash() -- so that nothing is numbered until the carrier is there again
        f.alpha:recover()
      end,
      faults = function(f)
        f:advance(5000)
        f.alpha:crash()
        f.alpha:recover()
        f:mend("alpha")
      end,
    })
    local came = {}
    for _, message in ipairs(f.beta:messages()) do
      came[#came + 1] = message.from == "root@alpha" and message.type or nil
    end
    assert.same({ "introduction_request", "general" }, came)
  end)
end)

describe("a payload that only looks like an introduction", function()
  after_each(scene.close)

  it("arrives as it was sent", function()
    local payload = { text = "x", via = { "email" }, target_agent = "root",
      collaborators = { { id = "root" } }, task_brief = { collaborators = { { id = "root" } } } }
    local f = act(function(root)
      for _, type in ipairs({ "general", "collaboration_request", "status_report" }) do
        assert(root:send_message { to = "root@beta", type = type, payload = payload })
      end
    end, { beta = place({}), gamma = place({}) },
      { policies = { messages = { "any" }, contacts = "open" } })
    local seen = f.beta.agent("root").state.seen
    assert.equal(3, #seen)
    for _, message in ipairs(seen) do
      message.payload.self_introduction = nil
      assert.same(payload, message.payload)
    end
  end)
end)
