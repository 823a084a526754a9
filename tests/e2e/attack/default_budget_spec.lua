-- The budget of a turn in an app that sets none: 200 ms of CPU time, for the app's own agents and
-- for isolated ones, and 1,000 ms for a script in run_lua. Until it is spent no hook of Lua counts:
-- the program ends if it finds one when a turn begins (core/script/turns/budget.c).

local json = require("society.json")
local program = require("program")

local APP = [[
local society = require("society")
local json = require("society.json")
local BRIEF = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
  completion_criteria = "c" }
local function behaviour(agent, message)
  if message.payload.text == "short" then return "done" end
  while true do end
end
society.role { id = "own", name = "o", behaviour = behaviour }
society.role { id = "apart", name = "a", isolated = true, behaviour = behaviour }
society.root(function(root)
  local seen = {}
  for _, role in ipairs { "own", "apart" } do
    local id = assert(root:spawn_agent(role, BRIEF, { id = role })).id
    for _, text in ipairs { "short", "endless" } do
      local reply, err = root:request { to = id, payload = text, timeout_ms = 250000 }
      seen[#seen + 1] = reply and reply.payload.text or err.error
    end
  end
  local _, err = root:run_lua { script = "while true do end", timeout_ms = 250000 }
  return { seen = seen, run_lua = err }
end)
society.main(function(user)
  print(json.encode(assert(user:request { to = "root", payload = "go", timeout_ms = 250000 })
    .payload))
end)
]]

describe("the budget of a turn that no app has set", function()
  local place

  before_each(function()
    place = program.place()
    place:write("app.lua", APP)
  end)

  after_each(function()
    place:remove()
  end)

  it("is what the docs say", function()
    local result = place:run("run app.lua --quiet")
    assert.equal(0, result.code, result.err)
    local answer = json.decode(result.out)
    assert.same({ "done", "receiver_failed", "done", "receiver_failed" }, answer.seen)
    assert.same({ "budget_exceeded", "cpu_ms", 1000 },
      { answer.run_lua.error, answer.run_lua.which, answer.run_lua.limit })
    local limits = {}
    for _, letter in ipairs(program.rows(place:run("inspect dead-letters --json"))) do
      assert.same({ "budget_exceeded", "cpu_ms" }, { letter.error.error, letter.error.which })
      limits[letter.to] = letter.error.limit
    end
    assert.same({ own = 200, apart = 200 }, limits)
  end)
end)
