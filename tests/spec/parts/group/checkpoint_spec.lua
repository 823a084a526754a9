-- Barriers: who is asked, who counts as missing, what comes too late.
--
-- Covers: core/parts/group/barriers.c, core/parts/group/group.c

local barriers = require("barriers")
local scene = require("scene")

local begin, ready, troupe = barriers.begin, barriers.ready, barriers.troupe

local function events(s, name)
  local list = {}
  for _, row in ipairs(s:activity({ type = name })) do
    list[#list + 1] = row
  end
  return list
end

local function nothing() end

describe("checkpoint", function()
  after_each(scene.close)

  it("counts a failed agent as missing and asks the others", function()
    local got = {}
    local function fail() error("boom") end
    local s = scene.troupe({ ann = ready, bob = fail, root = function(root, message)
      if message.type ~= "alert" then
        got[#got + 1] = table.pack(root:checkpoint({ timeout_ms = 1000 }))
      end
    end })
    scene.tell(s, "bob")
    scene.tell(s, "bob")
    assert.equal("failed", s:agent("bob").status)
    scene.tell(s, "root")
    assert.same({ "bob" }, got[1][1].missing)
    assert.same({ ann = { ready = true } }, got[1][1].responses)
  end)

  it("asks all agents except the asker and user, and collects their replies", function()
    local seen = {}
    local function act(agent, message)
      seen[#seen + 1] = agent.id .. " " .. message.type .. " " .. message.from
      return ready(agent, message)
    end
    local s, got = troupe({ payload = { round = 7 }, timeout_ms = 1000 }, { ann = act, bob = act },
      { policies = { contacts = "strict" } })
    s:policy("messages", { "society", "workflow", "helix" })
    scene.tell(s, "root")
    local result = got[1][1]
    assert.matches("^chk_%d+_%d+_", result.checkpoint_id)
    assert.same({ ann = { ready = true, round = 7 }, bob = { ready = true, round = 7 } },
      result.responses)
    assert.same({}, result.missing)
    table.sort(seen)
    assert.same({ "ann checkpoint_request root", "bob checkpoint_request root" }, seen)
    local request = scene.message(s, { type = "checkpoint_request" }, { to = "ann" })
    assert.equal(result.checkpoint_id, request.payload.checkpoint_id)
    assert.is_true(request.requires_ack)
    local response = scene.message(s, { type = "checkpoint_response" }, { from = "ann" })
    assert.equal(result.checkpoint_id, response.payload.checkpoint_id)
    assert.equal(1, #events(s, "checkpoint"))
    assert.equal(1, #events(s, "checkpoint_end"))
    assert.is_true(scene.law_holds(s))
  end)

  it("returns at the timeout with the missing agents, and drops late answers", function()
    local question
    local s, got = troupe({ timeout_ms = 1000 }, {
      ann = ready,
      bob = function(agent, message)
        if message.type == "checkpoint_request" then
          question = message
          agent:sleep(5000)
          return { late = true }
        end
      end,
    })
    begin(s, "root")
    assert.equal(0, #got)
    local wait = s:waits()[1]
    assert.same({ "root", "checkpoint", { "bob" } }, { wait.agent, wait.kind, wait.waits_for })
    assert.equal(question.payload.checkpoint_id, wait.checkpoint_id)
    s:advance(1000)
    assert.same({ "bob" }, got[1][1].missing)
    assert.same({ ann = { ready = true } }, got[1][1].responses)
    assert.equal(0, #events(s, "late_checkpoint"))
    s:advance(5000)
    local late = events(s, "late_checkpoint")
    assert.equal(1, #late)
    assert.equal("bob", late[1].agent)
    assert.matches(question.payload.checkpoint_id, late[1].detail, 1, true)
    assert.equal(1, #got)
    assert.equal(1, scene.counts(s).dropped)
    assert.is_true(scene.law_holds(s))
  end)

  it("accepts a message that names the checkpoint, without contacts, once each", function()
    local id
    local s, got = troupe({ agents = { "ann", "bob" }, timeout_ms = 1000 }, {
      ann = function(_, message) id = message.payload.checkpoint_id end,
      bob = nothing,
      eve = nothing,
    }, { policies = { contacts = "strict" } })
    begin(s, "root")
    local function respond(from, payload)
      payload.checkpoint_id = id
      local sent, err = s:send(from,
        { to = "root", type = "checkpoint_response", payload = payload })
      s:advance(1)
      return sent, err
    end
    assert.is_truthy(respond("ann", { n = 1 }))
    assert.is_truthy(respond("ann", { n = 2 }))
    assert.is_truthy(respond("eve", { n = 3 })) -- was not asked
    assert.equal(0, #got)
    assert.is_truthy(respond("bob", { n = 4 }))
    assert.same({ ann = { n = 1 }, bob = { n = 4 } }, got[1][1].responses)
    assert.is_truthy(respond("bob", { n = 5 }))
    assert.equal(3, #events(s, "late_checkpoint"))
    assert.is_true(scene.law_holds(s))
  end)

  it("adds no contacts and lets a stranger answer", function()
    local s, got
    s, got = troupe(nil, {
      root = nothing,
      ann = function(ann)
        got[#got + 1] = table.pack(ann:checkpoint({ agents = { "bob" }, timeout_ms = 10 }))
      end,
      bob = ready,
    })
    scene.tell(s, "ann")
    assert.same({ bob = { ready = true } }, got[1][1].responses)
    assert.same({ "root" }, scene.contact_ids(s, "bob"))
    assert.same({ "root", "user" }, scene.contact_ids(s, "ann"))
  end)

  it("asks strangers under strict only for agents that may broadcast", function()
    local function ask(options, settings)
      local got
      local s = scene.troupe({
        ann = function(ann) got = table.pack(ann:checkpoint(options)) end,
        bob = ready,
      }, settings)
      scene.tell(s, "ann")
      return got
    end
    local strict = { policies = { contacts = "strict" } }
    local all = ask({ timeout_ms = 10 }, strict)
    assert.same({ nil, "forbidden" }, { all[1], all[2].error })
    local named = ask({ agents = { "bob" }, timeout_ms = 10 }, strict)
    assert.same({ nil, "unknown_contact" }, { named[1], named[2].error })
    local head = ask({ agents = { "bob" }, timeout_ms = 10 },
      { policies = { contacts = "strict" }, config = { orchestrator = "ann" } })
    assert.same({ bob = { ready = true } }, head[1].responses)
  end)

  it("counts an agent that terminates or fails as missing immediately", function()
    local s, got = troupe({ agents = { "ann", "bob", "cid" }, timeout_ms = 60000 }, {
      ann = function(agent, message)
        if message.type == "checkpoint_request" then
          agent:stop()
        end
      end,
      bob = function(_, message)
        assert(message.type ~= "checkpoint_request", "broken")
      end,
      cid = ready,
    })
    scene.tell(s, "root")
    assert.equal(1, #got)
    assert.same({ "ann", "bob" }, got[1][1].missing)
    assert.same({ cid = { ready = true } }, got[1][1].responses)
    scene.tell(s, "root")
    assert.same({ "ann", "bob" }, got[2][1].missing)
    assert.is_true(scene.law_holds(s))
  end)

  it("refuses unknown agents and oneself, and sends nothing", function()
    local got = {}
    local s = troupe(nil, {
      root = function(root)
        for i, agents in ipairs({ { "ann", "nobody" }, { "ann", "root" } }) do
          got[i] = select(2, root:checkpoint({ agents = agents, timeout_ms = 10 }))
        end
        got[3] = root:checkpoint({ agents = {}, timeout_ms = 10 })
        got[4] = select(2, pcall(root.checkpoint, root, { agents = "ann" }))
      end,
      ann = ready,
    })
    local before = scene.counts(s).sent
    scene.tell(s, "root")
    assert.equal("agent_not_found", got[1].error)
    assert.same({ "deadlock", { "root" } }, { got[2].error, got[2].cycle })
    assert.same({ {}, {} }, { got[3].responses, got[3].missing })
    assert.matches("'agents' must be a list of ids", tostring(got[4]), 1, true)
    assert.equal(before + 1, scene.counts(s).sent)
  end)

  it("keeps two concurrent checkpoints apart", function()
    local got = {}
    local function ask(agents, round)
      return function(agent)
        got[agent.id] = agent:checkpoint({ agents = agents, payload = { round = round },
          timeout_ms = 1000 })
      end
    end
    local s = scene.troupe({ ann = ask({ "cid", "dan" }, 1), bob = ask({ "cid", "dan" }, 2),
      cid = ready, dan = ready })
    s:send("user", { to = "ann", payload = "go" })
    s:send("user", { to = "bob", payload = "go" })
    s:run()
    for id, round in pairs({ ann = 1, bob = 2 }) do
      local each = { ready = true, round = round }
      assert.same({ cid = each, dan = each }, got[id].responses)
    end
    assert.are_not.equal(got.ann.checkpoint_id, got.bob.checkpoint_id)
  end)
end)
