-- Looks at agents on other hosts: only those that something here has named are known.
--
-- Covers: core/kernel/registry.c

local fleets = require("fleets")
local scene = require("scene")

describe("a look at an agent on another host", function()
  after_each(scene.close)

  it("finds whom somebody here knows, and nobody by a name that was made up", function()
    local f = fleets.act(function(root)
      assert(root:spawn_agent("worker", scene.brief(), { id = "w", host = "beta" }))
    end, { beta = function(s)
      s.role { id = "worker", name = "Worker", behaviour = function() end }
      s.root(function() end)
    end })
    assert.equal("w@beta", f.alpha.agent("w@beta").id)
    for _ = 1, 2 do -- the first look leaves nothing behind for the second
      assert.is_nil(f.alpha.agent("nobody@beta"))
      assert.is_nil(f.alpha.load("nobody@beta"))
    end
    assert.equal("root", f.alpha.agent("root@alpha").id)
    assert.is_nil(f.alpha.agent("root@nowhere"))
  end)
end)
