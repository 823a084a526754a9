-- Thousands of random waits of real agents, each compared with a simple checker that walks
-- a list: every deadlock is found, and none that does not exist.

local scene = require("scene")

local STEPS, AGENTS = 5000, 7
local YEAR_MS = 365 * 24 * 3600 * 1000

-- A small generator of its own: the spec is the same in every run.
local function chance(seed)
  return function(n)
    seed = (seed * 1103515245 + 12345) % 2147483648
    return seed // 65536 % n + 1
  end
end

local ids = {}
for i = 1, AGENTS do
  ids[i] = "a" .. i
end

-- Agents wait as they are told and record how it ended. A question without an order to
-- answer it is set aside; the asker keeps waiting.
local function act_of(ended)
  return function(agent, message)
    local order = message.payload
    if order.wait == "reply" then
      local answer, err = agent:request({ to = order.on, type = "question", payload = "x",
        timeout_ms = YEAR_MS })
      ended[#ended + 1] = { id = agent.id, answer = answer, err = err }
    elseif order.wait == "receive" then
      local answer, err = agent:receive({ from = order.on, type = "news", timeout_ms = YEAR_MS })
      ended[#ended + 1] = { id = agent.id, answer = answer, err = err }
    elseif order.release == "reply" then
      assert(agent:reply(order.id, "answer"))
    elseif order.release == "receive" then
      assert(agent:send_message({ to = order.to, type = "news", payload = "x" }))
    end
  end
end

local Model = {}
Model.__index = Model

-- The cycle through `id`, starting with it, or nil: found by walking on from it.
function Model:ring(id)
  local ring, at = {}, id
  repeat
    ring[#ring + 1] = at
    at = self.on[at]
  until at == nil or at == id or #ring > AGENTS
  return at == id and ring or nil
end

function Model:begin(id, on)
  self.count = self.count + 1
  self.on[id], self.since[id] = on, self.count
  local ring = self:ring(id)
  if not ring then
    return nil
  end
  local first = 1
  for i, each in ipairs(ring) do
    if self.since[each] < self.since[ring[first]] then
      first = i
    end
  end
  local cycle = {}
  for i = 0, #ring - 1 do
    cycle[i + 1] = ring[(first - 1 + i) % #ring + 1]
  end
  self.on[cycle[1]] = nil
  return cycle
end

local function tell(s, id, payload)
  assert(s:send("user", { to = id, payload = payload }))
  s:advance(0)
end

local function open_request(s, id)
  for _, wait in ipairs(s:waits()) do
    if wait.agent == id then
      return wait.message_id, wait.kind
    end
  end
end

-- What the society reports about who waits for whom.
local function edges(s)
  local on = {}
  for _, wait in ipairs(s:waits()) do
    on[wait.agent] = wait.waits_for[1]
  end
  return on
end

-- One society and the checker beside it.
local Trial = {}
Trial.__index = Trial

local function new_trial(seed)
  local trial = setmetatable({
    pick = chance(seed), ended = {}, rings = 0, released = 0,
    model = setmetatable({ on = {}, since = {}, count = 0 }, Model),
  }, Trial)
  local acts = {}
  for _, id in ipairs(ids) do
    acts[id] = act_of(trial.ended)
  end
  trial.s = scene.troupe(acts)
  return trial
end

-- `id` starts to wait; exactly those cycles end that the checker sees.
function Trial:begin(id, on)
  local before = #self.ended
  local expected = self.model:begin(id, on)
  tell(self.s, id, { wait = self.pick(2) == 1 and "reply" or "receive", on = on })
  assert.equal(before + (expected and 1 or 0), #self.ended, "a ring was missed, or none was there")
  if expected then
    local last = self.ended[#self.ended]
    self.rings = self.rings + 1
    assert.equal("deadlock", last.err.error)
    assert.same(expected, last.err.cycle)
    assert.equal(expected[1], last.id)
  end
end

-- A free agent that `id` waits for gives it what it waits for.
function Trial:release(id)
  local before = #self.ended
  local message_id, kind = open_request(self.s, id)
  tell(self.s, self.model.on[id], { release = kind, id = message_id, to = id })
  assert.equal(before + 1, #self.ended)
  assert.equal(id, self.ended[#self.ended].id)
  assert.is_truthy(self.ended[#self.ended].answer)
  self.model.on[id] = nil
  self.released = self.released + 1
end

function Trial:step()
  local id, other = ids[self.pick(AGENTS)], ids[self.pick(AGENTS)]
  local on = self.model.on[id]
  if on == nil and id ~= other then
    self:begin(id, other)
  elseif on and self.model.on[on] == nil then
    self:release(id)
  end
end

function Trial:check_end()
  assert.is_true(self.rings > STEPS / 20, "too few rings: " .. self.rings)
  assert.is_true(self.released > STEPS / 20, "too few answers: " .. self.released)
  assert.equal(self.rings, #self.s:activity({ type = "deadlock" }))
  assert.is_true(scene.law_holds(self.s))
end

describe("random waits", function()
  after_each(scene.close)

  it("are told apart from deadlocks, and all deadlocks are found", function()
    local trial = new_trial(1)
    for step = 1, STEPS do
      trial:step()
      if step % 50 == 0 then
        assert.same(trial.model.on, edges(trial.s))
      end
    end
    trial:check_end()
  end)

  it("behave the same with crashes in between", function()
    local trial = new_trial(2)
    for step = 1, STEPS do
      trial:step()
      if step % 50 == 0 then
        trial.s:crash()
        trial.s:recover()
        assert.same(trial.model.on, edges(trial.s))
      end
    end
    trial:check_end()
  end)
end)
