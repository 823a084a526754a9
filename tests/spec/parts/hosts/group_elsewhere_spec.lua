-- Broadcasts to all hosts, checkpoints of agents elsewhere, acks from afar, and what becomes of
-- requests to agents that fail there.
--
-- Covers: core/parts/hosts/hosts_in.c

local fleets = require("fleets")
local scene = require("scene")

local function listener(s)
  s.role { id = "clerk", behaviour = {
    broadcast = function(agent, message) agent.state.heard = message.payload.text end,
  } }
  s.role { id = "failing", behaviour = {
    ask = function(agent)
      agent:send_message { to = agent.id, type = "fall", payload = "x" }
    end,
    fall = function() error("on purpose") end,
  } }
  s.role { id = "ending", behaviour = { ask = function(agent) agent:stop() end } }
  s.root {
    broadcast = function(root, message)
      root.state.heard = { message.from, message.to, message.payload.text }
    end,
    checkpoint_request = function(_, message)
      if message.payload.round ~= 2 then
        return { at = message.payload.round }
      end
    end,
    hire = function(root)
      assert(root:spawn_agent("clerk", scene.brief(), { id = "clerk" }))
    end,
    slow = function(root) root:sleep(3000) end,
    bad = function() error("on purpose") end,
    stuck = function(root) root:sleep(3600000) end,
  }
end

local function act(story, options)
  return fleets.act(story, { beta = listener, gamma = listener }, options)
end

local function hire(f)
  assert(f.beta:send("user", { to = "root", type = "hire", payload = "x" }))
  f:run()
end

describe("a broadcast to All@*", function()
  after_each(scene.close)

  it("reaches everybody on every host, once, and on one host with All@HOST", function()
    local f, got = act(function(root)
      local sent = assert(root:send_message { to = "All@*", payload = "all" })
      root:sleep(100)
      assert(root:send_message { to = "All@gamma", type = "broadcast", payload = "some" })
      return sent
    end, { before = hire })
    assert.is_string(got.messageId)
    assert.same({ "root@alpha", "All", "all" }, f.beta.agent("root").state.heard)
    assert.equal("all", f.beta.agent("clerk").state.heard)
    assert.same({ "root@alpha", "All", "some" }, f.gamma.agent("root").state.heard)
    assert.equal(1, #f.beta:messages({ type = "broadcast" }))
  end)

  it("needs the right to broadcast", function()
    local function play(options)
      options.alpha = function(s)
        s.role { id = "meek", behaviour = function(agent)
          local errors = {}
          for i, to in ipairs({ "All@*", "All@beta" }) do
            local _, err = agent:send_message { to = to, type = "broadcast", payload = "x" }
            errors[i] = err and err.error or "sent"
          end
          return { errors = errors }
        end }
      end
      return select(2, act(function(root)
        assert(root:spawn_agent("meek", scene.brief(), { id = "meek" }))
        return assert(root:request { to = "meek", payload = "x" }).payload.errors
      end, options))
    end
    assert.same({ "forbidden", "forbidden" }, play({}))
    assert.same({ "sent", "sent" },
      play({ policies = { messages = { "any" }, contacts = "open" } }))
  end)

  it("arrives at a host that was down, and is gone if the turn is", function()
    local f = act(function(root)
      root:send_message { to = "All@*", payload = "late" }
    end, { before = function(f) f.beta:crash() end })
    f.beta:recover()
    f:run()
    assert.equal("late", f.beta.agent("root").state.heard[3])
    local g = act(function(root)
      root:send_message { to = "All@*", payload = "x" }
      error("taken back")
    end)
    assert.is_nil(g.beta.agent("root").state)
  end)
end)

describe("a checkpoint", function()
  after_each(scene.close)

  it("asks agents elsewhere by their addresses and names who did not answer", function()
    local _, got = act(function(root)
      local both = assert(root:checkpoint { payload = { round = 1 },
        agents = { "root@beta", "root@gamma" } })
      local none = assert(root:checkpoint { payload = { round = 2 }, timeout_ms = 1000,
        agents = { "root@beta" } })
      return { both = both.responses, missing = none.missing }
    end)
    assert.same({ ["root@beta"] = { at = 1 }, ["root@gamma"] = { at = 1 } }, got.both)
    assert.same({ "root@beta" }, got.missing)
  end)

  it("survives that the asking host is killed", function()
    local f = act(function(root)
      return assert(root:checkpoint { payload = { round = 1 }, timeout_ms = 60000,
        agents = { "root@beta", "nobody@gamma" } })
    end, { before = function(f) f:cut("beta") end, faults = function(f)
      f:advance(2000)
      f.alpha:crash()
      f:mend("beta")
      f.alpha:recover()
    end })
    local got = f.alpha.agent("root").state.got
    assert.same({ ["root@beta"] = { at = 1 } }, got.responses)
    assert.same({ "nobody@gamma" }, got.missing)
  end)
end)

describe("an ack from another host", function()
  after_each(scene.close)

  it("says when the message was processed, or that it never will be", function()
    local _, got = act(function(root)
      local function wait(type, timeout_ms)
        local before = root:now()
        local ack, err = root:send_message { to = "root@beta", type = type, payload = "x",
          wait_ack = "processed", timeout_ms = timeout_ms }
        return { ack and ack.ack or err.error, root:now() - before }
      end
      root:add_contact { id = "root@beta" }
      return { slow = wait("slow", 10000), bad = wait("bad", 60000)[1],
        stuck = wait("stuck", 2000)[1] }
    end)
    assert.same({ slow = { "processed", 3000 }, bad = "receiver_failed", stuck = "timeout" }, got)
  end)
end)

describe("a request to an agent on another host", function()
  after_each(scene.close)

  it("ends when that agent fails or is ended, not by its time-out", function()
    local f, got = act(function(root)
      local all = {}
      for _, id in ipairs({ "failing", "ending" }) do
        local child = assert(root:spawn_agent(id, scene.brief(), { id = id, host = "beta" }))
        local before = root:now()
        local _, err = root:request { to = child.id, type = "ask", payload = "x",
          timeout_ms = 3600000 }
        all[id] = { err.error, root:now() - before < 60000 }
      end
      return all
    end, { policies = { messages = { "any" }, contacts = "open",
      supervision = { kind = "supervision", version = 1, examples = {},
        retry_after = function() return nil end,
        is_failed = function() return true end } }})
    assert.same({ failing = { "receiver_failed", true }, ending = { "receiver_failed", true } },
      got)
    assert.is_not_nil(f)
  end)
end)
