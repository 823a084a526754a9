-- Every fault of the simulator matters: an app with a bug that only this fault reveals
-- passes without it and fails with it. Faults that only the host could get wrong (lag,
-- fold, power, full, io) are covered by planted faults, in mutants/list.lua.

local program = require("program")

local HEAD = [[
  local society = require("society")
  local BRIEF = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
    completion_criteria = "c" }
]]

-- Root handles 20 messages with `BODY`; main checks at the end whether anything was wrong.
local COUNTING = HEAD .. [[
  local seen = 0 -- file-level variables do not last
  society.root(function(root, message)
    BODY
  end)
  society.main(function(user)
    for _ = 1, 20 do
      user:send_message { to = "root", payload = "x" }
      user:sleep(100)
    end
    user:sleep(10000)
    assert(not (society.agent("root").state or {}).wrong, "wrong")
  end)
]]

-- Main asks an outside agent, with little patience.
local ASKING = HEAD .. [[
  society.role { id = "out", behaviour = "external" }
  society.root(function(root)
    root:spawn_agent("out", BRIEF, { id = "out" })
    for _ = 1, 12 do
      local answer, err = root:request { to = "out", payload = "?", timeout_ms = PATIENCE }
      root.state.wrong = root.state.wrong or not answer and err.error
    end
  end)
  society.main(function(user)
    user:send_message { to = "root", payload = "go" }
    user:sleep(10000000)
    assert(not society.agent("root").state.wrong, "wrong")
  end)
]]

local CASES = {
  evict = { app = COUNTING, body = [[
    local expected = (root.state.count or 0) + 1
    seen = seen + 1
    root:sleep(10)
    if seen ~= expected then root:sleep(1) end
    root:sleep(10)
    root.state.count = expected]], says = "did not repeat itself" },
  crash = { app = COUNTING, body = [[
    seen = seen + 1
    root.state.count = (root.state.count or 0) + 1
    if seen ~= root.state.count then root.state.wrong = true end]] },
  raise = { app = COUNTING, body = [[
    seen = seen + 1
    root.state.count = (root.state.count or 0) + 1
    if seen ~= root.state.count then root.state.wrong = true end]] },
  slow = { app = COUNTING, body = [[
    local at = root:now()
    root:sleep(10)
    if root:now() - at > 60 then root.state.wrong = true end]] },
  ["crash,jump"] = { app = COUNTING, without = "crash", body = [[
    local at = root:now()
    root:sleep(50)
    if root:now() - at > 100000 then root.state.wrong = true end]] },
  drop = { app = ASKING, patience = 1000 },
  delay = { app = ASKING, patience = 1000 },
  dead = { app = ASKING, patience = 20000 },
  double = { app = HEAD .. [[
    society.role { id = "out", behaviour = "external" }
    society.root(function(root)
      root:spawn_agent("out", BRIEF, { id = "out" })
      for _ = 1, 12 do
        root:request { to = "out", payload = "?", timeout_ms = 1000000 }
      end
    end)
    society.main(function(user)
      user:send_message { to = "root", payload = "go" }
      user:sleep(10000000)
      assert(#society.activity { type = "late_reply" } == 0, "wrong")
    end)
  ]] },
  model = { app = HEAD .. [[
    society.config { llm = { provider = "scripted", answers = function() return "yes" end } }
    society.main(function(user)
      for _ = 1, 20 do
        local at = user:now()
        assert(user:chat { messages = { { role = "user", content = "?" } } })
        assert(user:now() - at < 300, "wrong")
      end
    end)
  ]] },
}

describe("the simulator finds a bug with the fault", function()
  for faults, case in pairs(CASES) do
    it(faults, function()
      local place = program.place()
      local text = case.app:gsub("BODY", function() return case.body end)
      place:write("app.lua", (text:gsub("PATIENCE", tostring(case.patience))))
      local fair = place:run("sim app.lua --seeds 1..10 --faults " .. (case.without or "none"))
      assert.equal(0, fair.code, fair.err)
      local foul = place:run("sim app.lua --seeds 1..200 --faults " .. faults)
      assert.equal(1, foul.code, foul.err)
      assert.matches(case.says or "wrong", foul.err, 1, true)
      place:remove()
    end)
  end
end)

describe("the simulator folds the journal in every seed", function()
  it("if it is told to by name", function()
    local place = program.place()
    place:write("app.lua", (COUNTING:gsub("BODY", "root.state.seen = message.id")))
    for seed = 1, 4 do
      local result = place:run(("sim app.lua --seed %d --faults fold"):format(seed))
      assert.equal(0, result.code, result.err)
      assert.matches("fold: part of the journal is folded", result.out, 1, true)
    end
    place:remove()
  end)
end)
