-- What a turn may add to Lua's memory does not depend on the garbage that turns before it left.
-- Covers: core/script/turns/budget.c

local society = require("society")

describe("the budget of memory of a turn", function()
  local s

  after_each(function()
    s:close()
  end)

  it("is not larger after turns that left garbage", function()
    s = society.new({ quiet = true, config = { memory_bytes_max = 2000000 }, app = function(app)
      local kept = {}
      local function add(list, count)
        for i = 1, count do list[#list + 1] = ("x"):rep(100000) .. i end
      end
      app:root(function(root)
        for _ = 1, 30 do -- 15 MB in steps that are allowed
          add(kept, 5)
          root:sleep(1)
        end
        kept = nil
        root:sleep(1)
        add({}, 80) -- 8 MB at once, while most of the 15 MB are still there as garbage
        return "survived"
      end)
    end })
    s:send("user", { to = "root", payload = "go" })
    s:run()
    local dead = s:dead_letters()
    assert.equal(1, #dead)
    assert.equal("memory", dead[1].error.which)
  end)
end)
