-- Correct apps whose agents fail, are paused or outside, and whose disk fails while they
-- read their history: the simulator finds nothing wrong with them.

local program = require("program")

describe("a correct app passes with", function()
  local place

  before_each(function()
    place = program.place()
  end)

  after_each(function()
    place:remove()
  end)

  local function passes(words)
    local result = place:run("sim app.lua " .. words)
    assert.equal(0, result.code, words .. ": " .. result.err)
    return result
  end

  it("turns that raise by the plan: no agent fails for those alone", function()
    place:write("app.lua", [[
      local society = require("society")
      society.root(function(root) root.state.n = (root.state.n or 0) + 1 end)
      society.main(function(user)
        for _ = 1, 60 do
          user:send_message { to = "root", payload = "x" }
          user:sleep(500)
        end
        user:sleep(1000)
        print("handled " .. society.agent("root").state.n, society.agent("root").status)
      end)
    ]])
    passes("--seeds 1..200 --faults raise")
    local raised = 0
    for seed = 1, 12 do
      local out = passes(("--seed %d --faults raise"):format(seed)).out
      assert.matches("handled 60\tidle", out, 1, true)
      raised = math.max(raised, select(2, out:gsub("a simulated failure", "")))
    end
    assert.equal(5, raised) -- as many as the policy allows
    passes("--seeds 18..18")
  end)

  it("messages left for agents that failed, are paused or outside", function()
    place:write("app.lua", [[
      local society = require("society")
      local brief = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
        completion_criteria = "c" }
      society.role { id = "w", behaviour = function(_, message)
        if message.payload.text == "boom" then error("boom") end
      end }
      society.role { id = "x", behaviour = "external" }
      society.root(function(root, message)
        if message.from ~= "user" then return end
        local what = message.payload.text
        root:spawn_agent("w", brief, { id = "w" })
        root:spawn_agent("x", brief, { id = "x" })
        if what == "paused" then root:pause("w") end
        for _ = 1, 3 do
          root:send_message { to = "w", payload = what == "failed" and "boom" or "x" }
        end
        root:send_message { to = "x", payload = "hi", requires_ack = true }
        root:request { to = "x", payload = "q", timeout_ms = 1000 }
      end)
      society.main(function(user)
        user:send_message { to = "root", payload = arg[1] }
        user:sleep(2000)
        print(society.agent("w").status, society.agent("w").queue_length)
      end)
    ]])
    assert.matches("failed\t1", passes("-- failed").out, 1, true)
    assert.matches("paused\t3", passes("-- paused").out, 1, true)
    assert.matches("idle\t0", passes("-- outside").out, 1, true)
    for _, what in ipairs({ "failed", "paused", "outside" }) do
      passes("--seeds 1..60 -- " .. what)
    end
  end)

  it("its own contacts policy under a shipped name", function()
    place:shell("mkdir -p policies/contacts")
    place:write("policies/contacts/strict.lua", [[
      return { kind = "contacts", version = 1, may_send = function() return true end }
    ]])
    place:write("app.lua", [[
      local society = require("society")
      local brief = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
        completion_criteria = "c" }
      society.role { id = "w", behaviour = function(agent, message)
        if message.from == "root" then agent:send_message { to = "b", payload = "hi" } end
      end }
      society.root(function(root)
        root:spawn_agent("w", brief, { id = "a" })
        root:spawn_agent("w", brief, { id = "b" })
        root:send_message { to = "a", payload = "go" }
      end)
      society.main(function(user) user:send_message { to = "root", payload = "go" } end)
    ]])
    passes("--seeds 1..20")
  end)

  for _, faults in ipairs({ "io", "full", "power,full,io,crash", "default" }) do
    it("a disk that fails while it reads its history: " .. faults, function()
      place:write("app.lua", [[
        local society = require("society")
        society.root(function(root) root:sleep(100) return "ok" end)
        society.main(function(user)
          for _ = 1, 20 do
            user:request { to = "root", payload = "go", timeout_ms = 1e9 }
            local messages, activity = society.messages {}, society.activity {}
            assert(#messages > 0 and #activity > 0)
          end
        end)
      ]])
      passes("--seeds 1..40 --faults " .. faults)
      for seed = 1, 12 do
        passes(("--seed %d --faults %s --dump %s/dump"):format(seed, faults,
          program.quote(place.path)))
        local file = assert(io.open(place.path .. "/dump"))
        assert.is_true(#file:read("a") > 5000, "the dump of seed " .. seed)
        file:close()
      end
    end)
  end
end)
