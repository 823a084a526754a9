-- Barriers across crashes, later activations, and in the wait-for graph.

local barriers = require("barriers")
local scene = require("scene")

local begin, ready, troupe = barriers.begin, barriers.ready, barriers.troupe

local function nothing() end

describe("a checkpoint", function()
  after_each(scene.close)

  it("continues after a crash at any step, with each answer counted once", function()
    for cut = 0, 40 do
      local answered = {}
      local acts = {
        root = function(root, message)
          if message.payload.text == "go" then
            local result = root:checkpoint({ timeout_ms = 1000 })
            root.state.result = result
          end
        end,
        ann = function(agent, message)
          answered[#answered + 1] = agent.id
          return ready(agent, message)
        end,
        bob = function(agent, message)
          agent:sleep(300)
          return ready(agent, message)
        end,
        cid = nothing,
      }
      local s = scene.troupe(acts)
      s:send("user", { to = "root", payload = "go" })
      for _ = 1, cut do
        s:step()
      end
      s:crash()
      s:recover()
      s:advance(2000)
      local got = s:agent("root").state.result
      assert.same({ ann = { ready = true }, bob = { ready = true } }, got.responses, "cut " .. cut)
      assert.same({ "cid" }, got.missing)
      assert.same({}, s:waits())
      assert.is_true(scene.law_holds(s))
      scene.close()
    end
  end)

  it("is part of the wait-for graph: a deadlock through it is broken", function()
    local got = {}
    local s = scene.troupe({
      ann = function(ann)
        got.ann = table.pack(ann:checkpoint({ agents = { "cid", "bob" }, timeout_ms = 60000 }))
      end,
      bob = function(bob, message)
        if message.type == "checkpoint_request" then
          return { ok = true }
        end
        got.bob = table.pack(bob:request({ to = "ann", payload = "?" }))
      end,
      cid = ready,
    })
    s:send("user", { to = "ann", payload = "go" })
    s:send("user", { to = "bob", payload = "go" })
    s:advance(1)
    local err = got.ann and got.ann[2] or got.bob[2]
    assert.equal("deadlock", err.error)
    assert.equal(2, #err.cycle)
    s:run()
    assert.is_true(scene.law_holds(s))
  end)

  it("tells the victim of a deadlock who has answered so far", function()
    local err
    local s = scene.troupe({
      ann = function(ann)
        err = err or select(2, ann:checkpoint({ agents = { "cid", "bob" }, timeout_ms = 60000 }))
      end,
      bob = function(bob) bob:receive({ from = "dan", timeout_ms = 1000 }) end,
      cid = ready,
      dan = function(dan) dan:request({ to = "ann", payload = "?", timeout_ms = 2000 }) end,
    })
    s:send("user", { to = "ann", payload = "go" })
    s:advance(1)
    s:send("user", { to = "dan", payload = "go" })
    s:run()
    assert.equal("deadlock", err.error)
    assert.same({ "ann", "bob", "dan" }, err.cycle)
    assert.same({ "bob" }, err.missing)
    assert.same({ cid = { ready = true } }, err.responses)
  end)

  it("can be answered in a later activation, by the question's id", function()
    local s, got = troupe({ agents = { "ann" }, timeout_ms = 1000 }, {
      ann = function(ann, message)
        if message.type == "checkpoint_request" then
          ann.state.id = message.id
        else
          ann:reply(ann.state.id, { answer = message.payload.text })
        end
      end,
    })
    begin(s, "root")
    s:crash()
    s:recover()
    scene.tell(s, "ann", "later")
    local response = scene.message(s, { type = "checkpoint_response" }, {})
    assert.matches("^chk_", response.payload.checkpoint_id)
    assert.same({ ann = { answer = "later" } }, got[1][1].responses)
  end)

  it("survives a crash with its answers in the tables", function()
    local acts = { ann = ready, bob = nothing }
    acts.root = function(root, message)
      if message.payload.text == "go" then
        root.state.result = root:checkpoint({ timeout_ms = 1000 })
      end
    end
    local s = scene.troupe(acts, { store = scene.folder() })
    begin(s, "root")
    assert.is_table(s:messages({})) -- folds
    s:crash()
    s:recover()
    assert.same({ "bob" }, s:waits()[1].waits_for)
    s:advance(1000)
    local result = s:agent("root").state.result
    assert.same({ { "bob" }, { ann = { ready = true } } }, { result.missing, result.responses })
  end)
end)
