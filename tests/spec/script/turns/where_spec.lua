-- Where in the script an agent waits, as `waits` says it.
--
-- Covers: core/script/turns/run.c

local scene = require("scene")

local function here(below)
  return ("%s:%d"):format(debug.getinfo(2, "S").short_src:match("[^/]+$"),
    debug.getinfo(2, "l").currentline + below)
end

describe("the place where an agent waits", function()
  after_each(scene.close)

  -- The waits of one agent with that behaviour, without the folder of this file.
  local function place_of(behaviour)
    local s = scene.new({ policies = { contacts = "open" }, app = function(world)
      world:role({ id = "waiter", behaviour = behaviour })
      world:root(function(root)
        root:spawn_agent("waiter", scene.brief(), { id = "w", message = "go" })
      end)
    end })
    scene.tell(s, "root")
    local waits = s:waits()
    assert.equal(1, #waits)
    return waits[1].where and waits[1].where:match("[^/]+$")
  end

  it("is the innermost line of Lua", function()
    local place = here(2)
    local function ask(agent)
      agent:receive({ type = "never" })
    end
    assert.equal(place, place_of(function(agent)
      ask(agent)
      agent:log("done")
    end))
  end)

  it("is the line of the latest wait, not of the first", function()
    local place = here(3)
    assert.equal(place, place_of(function(agent)
      agent:sleep(1000)
      agent:receive({ type = "never" })
    end))
  end)

  it("is not that of a coroutine that does not wait", function()
    local idle = coroutine.create(function() coroutine.yield() end)
    coroutine.resume(idle)
    local place = here(2)
    assert.equal(place, place_of(function(agent)
      agent:receive({ type = "never" }, idle)
    end))
  end)
end)
