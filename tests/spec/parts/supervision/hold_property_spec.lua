-- Random trees of agents that are paused, resumed, fail and get messages, with crashes:
-- nothing runs while it is held, nothing is lost, order is kept.

local property = require("property")
local scene = require("scene")

local NAMES = { "a", "b", "c", "d", "e", "f" }

-- The parent of each is one before it, or root.
local function make_history(random)
  local parents = {}
  for i = 1, #NAMES do
    parents[i] = random:between(0, i - 1)
  end
  return { parents = parents, steps = random:list(1, 30, function()
    return {
      kind = random:pick({ "send", "send", "send", "send", "pause", "pause", "resume",
        "pause_below", "resume_below", "pause_all", "resume_all", "step", "run", "advance",
        "crash" }),
      who = random:between(1, #NAMES),
      what = random:pick({ "plain", "plain", "sleep", "fail", "ask" }),
      ms = random:between(1, 200),
    }
  end) }
end

-- A game: the society, what was sent and read, who is paused in the model, what went wrong.
local function build(history)
  local game = { history = history, heard = {}, sent = {}, paused = {}, faults = {} }
  local function check(agent)
    if game.paused[agent.id] then
      table.insert(game.faults, agent.id .. " ran while it was paused")
    end
  end
  local ways = {
    plain = function() end,
    sleep = function(agent) agent:sleep(50) end,
    fail = function(_, message) assert(message.attempt > 1, "on purpose") end,
    ask = function(agent) agent:request({ to = "root", payload = "?", timeout_ms = 20 }) end,
  }
  local function behave(agent, message)
    check(agent)
    if message.type == "hire" then
      assert(agent:spawn_agent("w", scene.brief(), { id = message.payload.text }))
    elseif message.type == "work" then
      ways[message.payload.what](agent, message)
      check(agent)
      game.heard[agent.id] = game.heard[agent.id] or {}
      table.insert(game.heard[agent.id], message.payload.n)
    end
  end
  game.s = scene.new({ quiet = true, policies = { contacts = "open" }, app = function(app)
    app:role({ id = "w", name = "w", behaviour = behave })
    app:root(behave)
  end })
  for i, name in ipairs(NAMES) do
    local parent = NAMES[history.parents[i] or 0] or "root" -- when shrunk, some are missing
    scene.tell(game.s, parent, name, "hire")
  end
  return game
end

-- The agents a subtree holds, in the model.
local function below(game, who)
  local inside = { [who] = true }
  for i = who + 1, #NAMES do
    inside[i] = inside[game.history.parents[i]]
  end
  return inside
end

local function note(game, inside, is_paused)
  for i, name in ipairs(NAMES) do
    if inside == "all" or inside[i] then
      game.paused[name] = is_paused or nil
    end
  end
  if inside == "all" then
    game.paused.root = is_paused or nil
  end
end

local DO = {}

function DO.send(game, step)
  assert(game.s:send("user", { to = NAMES[step.who], type = "work",
    payload = { n = step.n, what = step.what } }))
  table.insert(game.sent, { to = NAMES[step.who], n = step.n })
end

function DO.pause(game, step)
  assert(game.s:pause(NAMES[step.who]))
  note(game, { [step.who] = true }, true)
end

function DO.resume(game, step)
  note(game, { [step.who] = true }, false)
  assert(game.s:resume(NAMES[step.who]))
end

function DO.pause_below(game, step)
  assert(game.s:pause(NAMES[step.who], { subtree = true }))
  note(game, below(game, step.who), true)
end

function DO.resume_below(game, step)
  note(game, below(game, step.who), false)
  assert(game.s:resume(NAMES[step.who], { subtree = true }))
end

function DO.pause_all(game)
  assert(game.s:pause("All"))
  note(game, "all", true)
end

function DO.resume_all(game)
  note(game, "all", false)
  assert(game.s:resume("All"))
end

function DO.step(game) game.s:step() end

function DO.run(game) game.s:run() end

function DO.advance(game, step) game.s:advance(step.ms) end

function DO.crash(game)
  game.s:crash()
  game.s:recover()
end

local function check_law(game)
  for name in pairs(game.paused) do
    local status = game.s:agent(name).status
    if status ~= "paused" and status ~= "failed" then
      table.insert(game.faults, name .. " is shown as " .. status)
    end
  end
  local holds, why = scene.law_holds(game.s)
  if not holds then
    table.insert(game.faults, why)
  end
end

local function play(history)
  local game = build(history)
  for n, step in ipairs(history.steps) do
    step.n = n
    DO[step.kind](game, step)
    check_law(game)
  end
  repeat
    DO.resume_all(game)
    game.s:run()
  until not game.s:step() and game.s:stats().pending == 0
  return game
end

-- What was sent and is no dead letter was read, in order.
local function check_heard(game)
  local dead = {}
  for _, letter in ipairs(game.s:dead_letters()) do
    dead[letter.payload.n or 0] = true
  end
  local seen = {}
  for name, list in pairs(game.heard) do
    for i, n in ipairs(list) do
      seen[n] = true
      assert(i == 1 or list[i - 1] <= n, name .. " got its mail out of order")
    end
  end
  for _, each in ipairs(game.sent) do
    assert(dead[each.n] or seen[each.n], ("%s never got %d"):format(each.to, each.n))
  end
end

describe("a held agent, in random trees and histories,", function()
  after_each(scene.close)

  it("never runs; nothing is lost; order is kept (300 cases)", function()
    property.check({ cases = 300, seed = 41 }, make_history, function(history)
      local game = play(history)
      check_heard(game)
      scene.close()
      return #game.faults == 0, game.faults[1]
    end)
  end)
end)
