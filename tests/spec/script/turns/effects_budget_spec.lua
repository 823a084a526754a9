-- What a script asks of the society is charged as it is asked: where Lua calls one function of
-- the society after the other, nothing else ends the turn.
-- Covers: core/script/turns/budget.c

local scene = require("scene")

local APP = [[
local society = require("society")
society.root(function(root)
  local closer = setmetatable({}, { __close = society.agents })
  local function nest(n)
    local x <close> = closer
    if n == 0 then coroutine.yield() end
    local unused = nest(n - 1)
    return unused
  end
  local co = coroutine.create(nest)
  coroutine.resume(co, 3000)
  coroutine.close(co) -- asks 3,000 times
  return "survived"
end)
]]

describe("the budget of a turn", function()
  after_each(scene.close)

  it("has the calls of the society that handlers of a closed coroutine make", function()
    local s = scene.new({ app = scene.app(APP), config = { steps_max = 200000 } })
    local _, err = s:dispatch("root", "go", { timeout_ms = 60000 })
    assert.equal("receiver_failed", err.error)
    local letter = s:dead_letters()[1]
    assert.equal("budget_exceeded", letter.error.error)
    assert.equal("steps", letter.error.which)
  end)
end)
