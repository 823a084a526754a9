-- Hostile scripts in a simulation: each is ended by its budget of steps, memory or text, and
-- an agent beside it keeps answering.
--
-- Covers: core/script/turns/budget.c, core/lualib/lua_work.c

local hostile = require("hostile")
local scene = require("scene")

describe("hostile scripts in a simulation", function()
  after_each(scene.close)

  it("are ended, each by a budget", function()
    assert.is_true(#hostile.scripts >= 60)
    local s = scene.new({ app = scene.app(hostile.app({ steps_max = 1000000 })) })
    local reply = assert(s:dispatch("root", "go", { timeout_ms = 3600000 }))
    hostile.check(s:dead_letters())
    for i = 1, #hostile.scripts do
      assert.equal(hostile.OUTCOME, reply.payload.outcomes[i])
    end
  end)
end)
