-- The law of delivery, and the rules of agents' lives, over generated histories of spawns,
-- messages, terminations and crashes.

local property = require("property")
local scene = require("scene")

local KINDS = {
  "spawn", "send", "send", "send", "send", "send", "terminate", "terminate", "force", "stop",
  "request", "advance", "advance", "crash", "redeliver",
}

-- Numbers pick an agent among those spawned so far, terminated ones included.
local function history(random)
  return {
    adopts = random:between(0, 2), -- 0: nobody, 1: all, 2: every other one
    seed = random:between(1, 1000),
    births = random:list(1, 6, function() return random:between(0, 5) end), -- whose
    steps = random:list(1, 25, function()
      return {
        kind = random:pick(KINDS), from = random:between(0, 12), to = random:between(0, 12),
        ms = random:between(0, 3000),
      }
    end),
  }
end

local function work(agent, message)
  local order = message.payload
  if order.spawn then
    assert(agent:spawn_agent("node", scene.brief(), { id = order.spawn }))
  elseif order.terminate then
    agent:terminate(order.terminate, { force = order.force })
  elseif order.stop then
    agent:stop()
  elseif order.ask then
    agent:request({ to = order.ask, payload = { sleep = order.ms }, timeout_ms = 5000 })
  elseif order.sleep then
    agent:sleep(order.sleep)
  end
end

local function new_society(case)
  local s = scene.new({
    seed = case.seed, quiet = true, policies = { contacts = "open" },
    app = function(s)
      s:role({ id = "node", behaviour = work })
      s:root(work)
      s:policy("supervision", {
        kind = "supervision", version = 1,
        retry_after = function() return nil end,
        children = function(request)
          local number = tonumber(request.child.id:match("%d+"))
          return (case.adopts == 1 or (case.adopts == 2 and number % 2 == 0)) and "adopt" or "end"
        end,
      })
    end,
  })
  return { s = s, ids = { "root" }, ending = {}, ended = {} }
end

local function pick(world, number)
  return world.ids[number % #world.ids + 1]
end

local function parent_of(world, id)
  local agent = world.s:agent(id)
  return agent and agent.parent or "root"
end

local STEPS = {
  spawn = function(world, step)
    local id = ("n%d"):format(#world.ids)
    local from = pick(world, step.from)
    if world.s:send("user", { to = from, payload = { spawn = id } }) then
      world.ids[#world.ids + 1] = id
    end
  end,
  send = function(world, step)
    world.s:send("user", {
      to = pick(world, step.to), payload = { sleep = step.ms },
      delay_ms = step.from % 3 == 0 and step.ms or nil,
      ttl_seconds = step.from % 4 == 0 and 1 or nil,
    })
  end,
  terminate = function(world, step)
    local id = pick(world, step.to)
    world.s:send("user", { to = parent_of(world, id), payload = { terminate = id } })
  end,
  force = function(world, step)
    local id = pick(world, step.to)
    world.s:send("user", { to = parent_of(world, id), payload = { terminate = id, force = true } })
  end,
  stop = function(world, step)
    world.s:send("user", { to = pick(world, step.to), payload = { stop = true } })
  end,
  request = function(world, step)
    world.s:send("user", { to = pick(world, step.from), payload = {
      ask = pick(world, step.to), ms = step.ms,
    } })
  end,
  advance = function(world, step) world.s:advance(step.ms) end,
  crash = function(world)
    world.s:crash()
    world.s:recover()
  end,
  redeliver = function(world, step)
    local letters = world.s:dead_letters()
    if #letters > 0 then
      local letter = letters[step.to % #letters + 1]
      local is_sent, err = world.s:redeliver(letter.id)
      assert(is_sent or err.error == "agent_stopped")
    end
  end,
}

-- Each returns what is wrong, or nil. A terminating agent stays terminating; a terminated
-- one stays so and has nothing.
local function fault_of_living(world, alive)
  for id, agent in pairs(alive) do
    if world.ended[id] then
      return id .. " lives again"
    end
    if world.ending[id] and agent.status ~= "ending" then
      return id .. " does not end any more"
    end
    world.ending[id] = agent.status == "ending" or nil
    if agent.parent and not alive[agent.parent] and agent.status ~= "ending" then
      return id .. " is an orphan of " .. agent.parent
    end
  end
end

local function fault_of_ended(world, alive)
  for _, row in ipairs(world.s:activity({ type = "stopped" })) do
    world.ended[row.agent] = true
    local _, err = world.s:send("user", { to = row.agent, payload = "?" })
    if alive[row.agent] or not err or err.error ~= "agent_stopped" then
      return row.agent .. " has stopped and is there"
    end
  end
  for _, message in ipairs(world.s:messages()) do
    if message.status == "pending" and world.ended[message.to] then
      return "mail waits for " .. message.to .. ", who has ended"
    end
  end
end

local function fault(world)
  local alive = {}
  local holds, counts = scene.law_holds(world.s)
  if not holds then
    return "the law does not hold: " .. counts
  end
  for _, agent in ipairs(world.s:agents()) do
    alive[agent.id] = agent
  end
  return fault_of_living(world, alive) or fault_of_ended(world, alive)
end

local function is_quiet(world)
  world.s:run()
  for _, agent in ipairs(world.s:agents()) do
    if agent.status == "ending" then
      return false, agent.id .. " never ends"
    end
  end
  return world.s:stats().pending == 0, "mail is left"
end

-- Everything that lasts, including the order of contacts.
local function memory(s)
  local contacts = {}
  for _, agent in ipairs(s:agents()) do
    contacts[#contacts + 1] = { agent.id, s:contacts(agent.id) }
  end
  return { scene.outcome(s), contacts }
end

local function holds(case)
  local world = new_society(case)
  local ran, why = pcall(function()
    for _, parent in ipairs(case.births) do
      STEPS.spawn(world, { from = parent })
      world.s:run()
    end
    for _, step in ipairs(case.steps) do
      STEPS[step.kind](world, step)
      world.s:step()
      -- A look folds the journal; without one a crash is recovered from it.
      local wrong = step.ms % 2 == 0 and fault(world)
      if wrong then
        error(step.kind .. ": " .. wrong, 0)
      end
    end
    local rests, left = is_quiet(world)
    assert(rests, left)
    local before = memory(world.s)
    world.s:crash()
    world.s:recover()
    assert.same(before, memory(world.s))
    local wrong = fault(world)
    assert(not wrong, wrong)
  end)
  scene.close()
  return ran, ran or (type(why) == "table" and tostring(why.message or why) or why)
end

describe("spawns, terminations and crashes in any order", function()
  after_each(scene.close)

  it("keep the law of delivery, lose no message and revive no agent", function()
    property.check({ cases = 400, seed = 11, tries_max = 300 }, history, holds)
  end)
end)
