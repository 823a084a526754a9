-- Whatever happens, the activity log is append-only: a line stays where it is, and none is
-- inserted before it.

local json = require("society.json")
local property = require("property")
local scene = require("scene")

describe("whatever happens", function()
  after_each(scene.close)

  local function actor(agent, message)
    if message.type == "task" then
      return agent:fail(message, "x", { retryable = true })
    elseif message.type == "all" then
      return agent:broadcast({ payload = "hear" })
    elseif message.type == "now" then
      return agent:broadcast({ payload = "hear", ttl_seconds = 1 })
    elseif message.type == "ask" then
      return agent:request({ to = "b", payload = "?", timeout_ms = 50 }).payload
    elseif message.type == "forget" then
      return agent:remove_contact("user")
    end
    assert(agent:now() % 3 > 0, "by chance")
  end

  local function bad_reader()
    error("no")
  end

  local STEPS = {
    function(s, step) s:advance(step.ms) end,
    function(s, step) s:send("user", { to = step.to, payload = "x" }) end,
    function(s) s:step() end,
    function(s, step) s:send("user", { to = step.to, type = "ask", payload = "x" }) end,
    function(s, step)
      s:send("root", { to = step.to, type = "task", payload = { task_id = "T" .. step.ms } })
    end,
    function(s) s:send("user", { to = "root", type = "all", payload = "x" }) end,
    function(s) s:send("user", { to = "root", type = "now", payload = "x" }) end,
    function(s, step) s:send("user", { to = step.to, type = "forget", payload = "x" }) end,
    function(s) for _, letter in ipairs(s:dead_letters()) do s:redeliver(letter.id) end end,
    function(s) for _, letter in ipairs(s:dead_letters()) do s:drop(letter.id) end end,
    function(s) s:crash(); s:recover() end,
  }

  -- Whether `now` is `before`, perhaps followed by more.
  local function goes_on(before, now)
    for i, row in ipairs(before) do
      if row ~= now[i] then
        return false, ("line %d was %s and is %s"):format(i, row, now[i])
      end
    end
    return true
  end

  it("a line of the activity log stays, and so does its order", function()
    property.check({ cases = 60, seed = 4 }, function(random)
      return random:list(1, 30, function()
        return { what = random:number_of(STEPS), ms = random:between(0, 2000),
          to = random:pick({ "a", "b" }) }
      end)
    end, function(case)
      local s = scene.troupe({ a = actor, b = actor, bad = bad_reader, held = actor, root = actor },
        { quiet = true })
      s:pause("held")
      local before = {}
      for _, step in ipairs(case) do
        property.at(STEPS, step.what)(s, step)
        local now = {}
        for i, row in ipairs(s:activity()) do
          now[i] = json.encode(row)
        end
        local is_same, difference = goes_on(before, now)
        if not is_same then
          return false, difference
        end
        before = now
      end
      return true
    end)
  end)
end)
