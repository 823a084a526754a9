-- spawn_agent{ host }: children on other hosts, from birth to end.
--
-- Covers: core/parts/hosts/hosts_orders.c

local fleets = require("fleets")
local scene = require("scene")

local function worker(s)
  s.role { id = "worker", name = "Worker", behaviour = {
    task_assignment = function(agent, message)
      if message.payload.text == "fail" then
        return agent:fail(message, "no way")
      end
      agent:complete(message, { done = message.payload.text, by = agent.id })
    end,
    general = function(agent, message)
      agent.state.seen = (agent.state.seen or 0) + 1
      return { text = agent.id .. " " .. message.payload.text }
    end,
  } }
  s.root(function(root)
    assert(root:spawn_agent("worker", scene.brief(), { id = "local" }))
    return "hired"
  end)
end

local function act(story, options)
  return fleets.act(story, { beta = worker, gamma = worker }, options)
end

describe("an agent born on another host", function()
  after_each(scene.close)

  it("is known to its parent, which knows it, and answers under its address", function()
    local f, got = act(function(root)
      local child = assert(root:spawn_agent("worker", scene.brief(), { id = "w", host = "beta" }))
      local answer = assert(root:request { to = child.id, payload = "x" })
      return { child = child, text = answer.payload.text, contact = root:contact(child.id) }
    end)
    assert.same({ id = "w@beta", roleId = "worker", roleName = "Worker" }, got.child)
    assert.equal("w x", got.text)
    assert.same({ "child", "Worker" }, { got.contact.source, got.contact.role })
    local info = f.beta.agent("w")
    assert.same({ "root@alpha", 1 }, { info.parent, info.state.seen })
    assert.equal("parent", f.beta.contacts("w")[1].source)
    assert.is_nil(f.gamma.agent("w"))
  end)

  it("gets an id that no other host gives", function()
    local _, got = act(function(root)
      local ids = {}
      for _, host in ipairs({ "beta", "gamma" }) do
        ids[#ids + 1] = assert(root:spawn_agent("worker", scene.brief(), { host = host })).id
      end
      return ids
    end)
    assert.matches("^worker_%d+@beta$", got[1])
    assert.matches("^worker_%d+@gamma$", got[2])
    assert.not_equal(got[1]:match("%d+"), got[2]:match("%d+"))
  end)

  it("takes the first task with its birth, and spawn waits for the end of it", function()
    local f, got = act(function(root)
      local good = assert(root:spawn_agent("worker", scene.brief(),
        { id = "g", host = "beta", message = "dig", wait = true }))
      local bad = assert(root:spawn_agent("worker", scene.brief(),
        { id = "b", host = "gamma", message = "fail", wait = true }))
      return { good = good, bad = bad }
    end)
    assert.same({ "g@beta", "done", "dig" },
      { got.good.id, got.good.result.status, got.good.result.output.done })
    assert.same({ "failed", "no way" }, { got.bad.result.status, got.bad.result.error })
    assert.equal(0, f.alpha:stats().tasks_open or 0)
  end)

  it("is refused by the rules of its host, and its task fails with it", function()
    local f, got = act(function(root)
      local all = {}
      local function try(role, options)
        local child, err = root:spawn_agent(role, scene.brief(), options)
        all[#all + 1] = child and (child.result and child.result.error or "born") or err.error
      end
      try("worker", { host = "nowhere" })
      try("nobody", { host = "beta" })
      try("worker", { host = "beta", id = "w" })
      try("worker", { host = "beta", id = "w" })
      try("worker", { host = "beta", id = "not an id" })
      try("nobody", { host = "beta", message = "x", wait = true })
      try("worker", { host = "beta", id = "local", message = "x", wait = true })
      return all
    end, { before = function(f) f.beta:dispatch("root", "hire") end })
    assert.same({ "unknown_host", "unknown_role", "born", "already_exists", "invalid_id",
      "unknown_role", "agent_not_found" }, got)
    assert.same({ "local", "w" }, fleets.ids(f.beta, "worker"))
    assert.is_nil(f.beta.agent("local").state)
  end)

  it("is born once, whatever is lost on the way", function()
    for seed = 1, 10 do
      local f, got = act(function(root)
        return { root:spawn_agent("worker", scene.brief(), { id = "w", host = "beta",
          timeout_ms = 600000 }) }
      end, { seed = seed, faults = function(f)
        f:delay(300)
        f:advance(seed * 37)
        f:flush()
        f.beta:crash()
        f:advance(500)
        f.alpha:crash()
        f.beta:recover()
        f:failback(4)
        f.alpha:recover()
      end })
      assert.equal("w@beta", got[1] and got[1].id)
      assert.same({ "w" }, fleets.ids(f.beta, "worker"))
      scene.close()
    end
  end)

  it("waits for a host that is down, for as long as its parent does", function()
    local f, got = act(function(root)
      local child, err = root:spawn_agent("worker", scene.brief(),
        { id = "w", host = "beta", timeout_ms = 5000 })
      return { child or err.error, (root:now()) }
    end, { before = function(f) f:cut("beta") end })
    assert.equal("timeout", got[1])
    f:mend("beta")
    f:run()
    assert.same({ "w" }, fleets.ids(f.beta, "worker"))
    assert.equal("child", fleets.find(f.alpha.contacts("root"), "w@beta").source)
  end)

  it("is paused, resumed and ended by its parent alone", function()
    local f, got = act(function(root)
      assert(root:spawn_agent("worker", scene.brief(), { id = "w", host = "beta" }))
      root:sleep(100)
      local paused = assert(root:pause("w@beta", { reason = "rest" }))
      local _, silent = root:request { to = "w@beta", payload = "x", timeout_ms = 1000 }
      assert(root:resume("w@beta"))
      root:sleep(100)
      local ended = assert(root:terminate("w@beta", { reason = "enough" }))
      root:sleep(100)
      local _, stranger = root:terminate("other@beta")
      local _, gone = root:request { to = "w@beta", payload = "x" }
      return { paused = paused.count, silent = silent.error, ended = ended.status,
        stranger = stranger.error, gone = gone.error, contact = root:knows("w@beta").inRegistry }
    end)
    assert.same({ paused = 1, silent = "timeout", ended = "ending", stranger = "forbidden",
      gone = "unknown_contact", contact = false }, got)
    assert.same({}, fleets.ids(f.beta, "worker"))
  end)

  it("ends with its parent", function()
    local f = act(function(root)
      assert(root:spawn_agent("boss", scene.brief(), { id = "boss" }))
      assert(root:request { to = "boss", payload = "hire" })
      root:terminate("boss")
      return {}
    end, { alpha = function(s)
      s.role { id = "boss", behaviour = function(agent)
        assert(agent:spawn_agent("worker", scene.brief(), { id = "w", host = "beta" }))
        return "hired"
      end }
    end })
    assert.same({}, fleets.ids(f.beta, "worker"))
    assert.is_not_nil(fleets.find(f.beta:activity({ type = "stopped" }), "w", "agent"))
  end)

  it("brings its collaborators as addresses; the parent must know them", function()
    local f, got = act(function(root)
      assert(root:spawn_agent("worker", scene.brief(), { id = "near", host = "gamma" }))
      local function brief(id)
        return scene.brief { collaborators = { { agentId = id, role = "R", description = "d" } } }
      end
      local _, unknown = root:spawn_agent("worker", brief("nobody"), { host = "beta" })
      assert(root:spawn_agent("worker", brief("near@gamma"), { id = "w", host = "beta" }))
      assert(root:spawn_agent("worker", brief("user"), { id = "v", host = "beta" }))
      return { unknown.error }
    end)
    assert.same({ "agent_not_found" }, got)
    assert.equal("preset", fleets.find(f.beta.contacts("w"), "near@gamma").source)
    assert.equal("preset", fleets.find(f.beta.contacts("v"), "user@alpha").source)
  end)
end)

describe("a message to the end of a host", function()
  after_each(scene.close)

  it("is refused: only the host itself gives orders", function()
    local _, got = act(function(root)
      local _, err = root:send_message { to = "system@beta", type = "host_end",
        payload = { id = "root" } }
      return err
    end, { policies = { messages = { "any" }, contacts = "open" } })
    assert.equal("agent_not_found", got.error)
  end)
end)
