-- The limiter: fair to everybody in any order of events, and stable after a burst of
-- refusals.

local limiter = require("society.llm.limiter")
local property = require("property")

describe("the brake", function()
  it("counts a burst of concurrent calls once", function()
    local l = limiter.new({ brake_after = 3, brake_ms = 5000, brake_max_ms = 120000 }, 0)
    for n = 1, 16 do
      l:refused(n)
    end
    assert.equal(5003, l.free_at_ms)
    for n = 1, 3 do
      l:refused(6000 + n)
    end
    assert.equal(6003 + 10000, l.free_at_ms)
  end)

  it("lasts at least as long as any of them was told to wait", function()
    local l = limiter.new({ brake_after = 2, brake_ms = 1000 }, 0)
    l:refused(0)
    l:refused(0)
    l:refused(10, 9000)
    assert.equal(9010, l.free_at_ms)
    l:praise()
    assert.is_nil(l:refused(20000))
  end)
end)

describe("tokens per minute", function()
  -- When the next call goes, after one of `estimate` tokens that took `tokens`.
  local function next_at(estimate, tokens)
    local l = limiter.new({ tokens_per_minute = 100 }, 0)
    l:ask("a", "ann", estimate)
    assert.equal("a", (l:next(0)))
    l:ended("a", tokens)
    l:ask("b", "ann", 100)
    local id, _, at_ms = l:next(0)
    return id and 0 or at_ms
  end

  it("count what a call took, even more than a minute's tokens", function()
    assert.equal(60000, next_at(100, 100))
    assert.equal(30000, next_at(100, 50))
    assert.equal(3 * 60000, next_at(300, 300))
    assert.equal(3 * 60000, next_at(100, 300))
    assert.equal(30000, next_at(300, 50))
  end)
end)

describe("whatever happens, the limiter", function()
  -- An event: 0 somebody asks, 1 a call ends, 2 a call is dropped.
  local function generate(random)
    return { concurrency = random:between(1, 4), events = random:list(1, 60, function()
      return { kind = random:between(0, 3), agent = random:between(0, 4),
        pick = random:between(0, 9) }
    end) }
  end

  local function take(list, pick)
    return #list > 0 and table.remove(list, pick % #list + 1) or nil
  end

  -- Releases every call that may go; returns what is wrong then.
  local function pump(world)
    for id in function() return (world.limiter:next(0)) end do
      for index, other in ipairs(world.waiting) do
        if other == id then
          table.remove(world.waiting, index)
          break
        end
      end
      world.running[#world.running + 1] = id
    end
    if #world.running > world.concurrency then
      return "too many at once"
    elseif #world.running < world.concurrency and #world.waiting > 0 then
      return "somebody waits though there is room"
    end
  end

  local function happen(world, event, number)
    if event.kind <= 1 then
      local id = ("a%d-%d"):format(event.agent, number)
      table.insert(world.waiting, id)
      world.limiter:ask(id, "a" .. event.agent, 1)
      return
    end
    local is_end = event.kind == 2
    local id = take((is_end or event.pick % 2 == 0) and world.running or world.waiting, event.pick)
    if id and is_end then
      world.limiter:ended(id)
    elseif id then
      world.limiter:drop(id)
    end
  end

  -- Plays the events; returns what went wrong.
  local function play(case)
    local world = { limiter = limiter.new({ concurrency = case.concurrency }, 0), running = {},
      waiting = {}, concurrency = case.concurrency }
    local fault
    for number, event in ipairs(case.events) do
      happen(world, event, number)
      fault = fault or pump(world)
    end
    while #world.running > 0 do
      world.limiter:ended(table.remove(world.running))
      fault = fault or pump(world)
    end
    return fault or #world.waiting > 0 and "somebody was forgotten"
      or world.limiter.running ~= 0 and "it miscounts" or nil
  end

  it("respects its limit, leaves no room unused and forgets nobody", function()
    property.check({ cases = 2000, seed = 17 }, generate, function(case)
      local fault = play(case)
      return fault == nil, fault
    end)
  end)

  it("lets nobody go twice while another one waits", function()
    property.check({ cases = 1000, seed = 18 }, function(random)
      return random:list(2, 40, function() return random:between(0, 5) end)
    end, function(asks)
      local l = limiter.new({ concurrency = 1 }, 0)
      local left = {}
      for index, agent in ipairs(asks) do
        l:ask(("a%d-%d"):format(agent, index), "a" .. agent, 1)
        left[agent] = (left[agent] or 0) + 1
      end
      local since = {} -- who went since an agent's last turn
      for _ = 1, #asks do
        local id = l:next(0)
        local agent = math.tointeger(id:match("^a(%d)"))
        for other, count in pairs(left) do
          if other ~= agent and count > 0 then
            since[other] = since[other] or {}
            if since[other][agent] then
              return false, ("a%d went twice while a%d waited"):format(agent, other)
            end
            since[other][agent] = true
          end
        end
        since[agent], left[agent] = nil, left[agent] - 1
        l:ended(id)
      end
      return true
    end)
  end)
end)
