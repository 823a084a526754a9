-- Random histories of spawns, terminations, naps, broadcasts and crashes: every agent
-- present reads each broadcast exactly once, each priority in order, and nobody else does.

local property = require("property")
local scene = require("scene")

local PRIORITIES = { "urgent", "high", "normal", "low" }

local function report(agent, message)
  if message.type == "broadcast" then
    agent:send_message({ to = "root", type = "heard",
      payload = { n = message.payload.n, priority = message.priority } })
  end
end

local function act(agent, message)
  if message.type == "nap" then
    agent:sleep(message.payload.ms)
  elseif message.type == "listen" then
    for _ = 1, 2 do
      local got = agent:receive({ type = "broadcast", timeout_ms = message.payload.ms })
      if got then
        report(agent, got)
      end
    end
  end
  report(agent, message)
end

local function alive(root)
  local ids = {}
  for id in pairs(root.state.alive) do
    ids[#ids + 1] = id
  end
  return ids
end

local ROOT = {}

function ROOT.birth(root, payload)
  if root:spawn_agent("listener", scene.brief(), { id = payload.id }) then
    root.state.alive[payload.id] = true
  end
end

function ROOT.broadcast(root, payload)
  local sent = assert(root:broadcast({ payload = { n = payload.n }, priority = payload.priority }))
  local ids = alive(root)
  assert(sent.count == #ids + 1, "the count is wrong")
  root.state.expected[tostring(payload.n)] = ids
end

function ROOT.death(root, payload)
  if root.state.alive[payload.id] then
    root:terminate(payload.id)
    root.state.alive[payload.id] = nil
  end
end

function ROOT.pass(root, payload)
  if root.state.alive[payload.id] then
    root:send_message({ to = payload.id, type = payload.type, payload = { ms = payload.ms } })
  end
end

function ROOT.heard(root, payload, from)
  local list = root.state.heard[from] or {}
  list[#list + 1] = { payload.n, payload.priority }
  root.state.heard[from] = list
end

local function app(s)
  s:role({ id = "listener", name = "l", behaviour = act })
  s:root(function(root, message)
    for _, name in ipairs({ "alive", "expected", "heard" }) do
      root.state[name] = root.state[name] or {}
    end
    local op = ROOT[message.type]
    return op and op(root, message.payload, message.from)
  end)
end

local function generate(random)
  local born = 0
  return random:list(5, 40, function(n)
    local kind = random:pick({ "birth", "birth", "broadcast", "broadcast", "death", "pass",
      "pass", "steps", "steps", "crash" })
    if kind == "birth" then
      born = born + 1
    end
    return {
      kind = kind, n = n, id = ("a%d"):format(kind == "birth" and born
        or random:between(1, math.max(born, 1))),
      priority = random:pick(PRIORITIES), type = random:pick({ "nap", "listen" }),
      ms = random:between(1, 40), steps = random:between(1, 12),
    }
  end)
end

local function play_some(s, ops, first, last)
  for i = first, math.min(last, #ops) do
    local op = ops[i]
    if op.kind == "steps" then
      for _ = 1, op.steps do
        s:step()
      end
    elseif op.kind == "crash" then
      s:crash()
      s:recover()
    else
      s:send("user", { to = "root", type = op.kind,
        payload = { id = op.id, n = op.n, priority = op.priority, ms = op.ms, type = op.type } })
    end
  end
end

local function play(s, ops)
  play_some(s, ops, 1, #ops)
  s:run()
end

local function count_heard(state)
  local heard = {}
  for id, list in pairs(state.heard) do
    local last = {}
    for _, entry in ipairs(list) do
      local n, priority = entry[1], entry[2]
      local key = id .. " " .. n
      heard[key] = (heard[key] or 0) + 1
      assert((last[priority] or 0) < n, key .. " is out of order")
      last[priority] = n
    end
  end
  return heard
end

local function holds(s)
  local state = s:agent("root").state or { heard = {}, expected = {} }
  local heard = count_heard(state)
  for n, ids in pairs(state.expected or {}) do
    for _, id in ipairs(ids) do
      local key = id .. " " .. n
      assert(heard[key] == 1, key .. " was heard " .. tostring(heard[key]) .. " times")
      heard[key] = nil
    end
  end
  assert(next(heard) == nil, "somebody heard what was not for it")
  local c = scene.counts(s)
  assert(c.sent == c.processed and c.pending == 0, "the law does not hold")
  for _, message in ipairs(s:messages({ type = "broadcast" })) do
    assert(message.status == "processed", "a broadcast is not over")
  end
  return true
end

describe("broadcasts in random histories", function()
  it("are read once each by all who were present", function()
    property.check({ cases = 150, seed = 12 }, function(random)
      return { seed = random:between(1, 1000000), ops = generate(random) }
    end, function(case)
      local s = scene.new({ app = app, seed = case.seed, quiet = true })
      play(s, case.ops)
      local result = holds(s)
      scene.close()
      return result
    end)
  end)

  it("are the same in the folded tables", function()
    property.check({ cases = 15, seed = 5 }, function(random)
      return { seed = random:between(1, 1000000), ops = generate(random) }
    end, function(case)
      local s = scene.new({ app = app, seed = case.seed, quiet = true, store = scene.folder() })
      for i = 1, #case.ops, 5 do
        play_some(s, case.ops, i, i + 4)
        s:messages({}) -- folds
      end
      s:run()
      local result = holds(s)
      scene.close()
      return result
    end)
  end)
end)
