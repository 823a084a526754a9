-- Random waits of every kind: replies, receives, checkpoints, children's tasks, the person;
-- answers that come immediately, with a delay, too late or never; work and messages that
-- are cancelled. After each step an exhaustive checker searches for cycles: every reported
-- one existed, and none is left.
--
-- Covers: core/kernel/turns/wait.c

local json = require("society.json")
local scene = require("scene")
local wait_checker = require("wait_checker")

local STEPS, AGENTS = 5000, 6
local YEAR_MS = 365 * 24 * 3600 * 1000

-- A small generator of its own: the spec is the same in every run.
local function chance(seed)
  return function(n)
    seed = (seed * 1103515245 + 12345) % 2147483648
    return seed // 65536 % n + 1
  end
end

-- How an agent waits, by kind: each returns the answer, or nil and the error.
local WAITS = {
  reply = function(agent, order)
    return agent:request({ to = order.on[1], type = "question", payload = "x",
      timeout_ms = YEAR_MS })
  end,
  receive = function(agent, order)
    return agent:receive({ from = order.on[1], type = "news" .. order.number })
  end,
  task = function(agent, order)
    return agent:receive({ from = order.on[1], type = "task" })
  end,
  checkpoint = function(agent, order)
    return agent:checkpoint({ agents = order.on, timeout_ms = YEAR_MS })
  end,
  child = function(agent, order)
    return agent:spawn_agent("actor", scene.brief(),
      { id = order.on[1], message = "begin", wait = true })
  end,
  human = function(agent)
    return agent:escalate({ title = "?" })
  end,
}

local function act_of(ended)
  return function(agent, message)
    local order = message.payload
    if order.wait then
      local answer, err = WAITS[order.wait](agent, order)
      ended[#ended + 1] = { id = agent.id, number = order.number, answer = answer, err = err }
    elseif order.mail then
      assert(agent:send_message(order.mail))
    elseif order.complete then
      assert(agent:complete(order.complete))
    end
  end
end

local Trial = {}
Trial.__index = Trial

local function new_trial(seed)
  local ended, acts, ids = {}, {}, {}
  for i = 1, AGENTS do
    ids[i] = "a" .. i
  end
  setmetatable(acts, { __index = function() return act_of(ended) end })
  for _, id in ipairs(ids) do
    acts[id] = act_of(ended)
  end
  return setmetatable({
    pick = chance(seed), s = scene.troupe(acts), ended = ended, ids = ids, count = 0, told = 0,
    rings = 0, done = 0, cancelled = 0, model = wait_checker(),
  }, Trial)
end

function Trial:tell(id, mail)
  mail.to = id
  assert(self.s:send("user", mail))
  self.s:advance(0)
end

-- What the society reports about who waits for whom, in the form of the checker.
function Trial:edges()
  local said, ours = {}, {}
  for _, wait in ipairs(self.s:waits()) do
    said[wait.agent] = table.concat(wait.waits_for, " ")
  end
  for id, wait in pairs(self.model.waits) do
    ours[id] = wait.kind == "human" and "user" or table.concat(wait.on, " ")
  end
  return said, ours
end

-- The outcome of the last step.
function Trial:check()
  local before = self.rings
  self.model:pass(self.s:now())
  while self.told < #self.ended do
    self.told = self.told + 1
    local last = self.ended[self.told]
    if last.err then
      assert.equal("deadlock", last.err.error)
      self.rings = self.rings + 1
    else
      self.done = self.done + 1
    end
  end
  if self.rings > before then -- the activity lists them in the order they were broken
    local told = self.s:activity({ type = "deadlock" })
    assert.equal(self.rings, #told)
    for i = before + 1, self.rings do
      local detail = json.decode(told[i].detail)
      self.model:break_ring(detail.victim, detail.cycle)
    end
  end
  assert.is_false(self.model:has_ring(), "a ring was missed")
  local said, ours = self:edges()
  assert.same(ours, said)
end

local KINDS = { "reply", "receive", "task", "task", "checkpoint", "child", "human" }

-- Children that are waited for or wait themselves.
function Trial:children()
  local found, list = {}, {}
  for id, wait in pairs(self.model.waits) do
    found[wait.kind == "child" and wait.on[1] or id] = true
    found[id] = true
  end
  for id in pairs(found) do
    list[#list + 1] = id:find("^c") and id or nil
  end
  table.sort(list)
  return list
end

-- Whom to wait for: one of the others, or several.
function Trial:targets(id, kind, children)
  if kind == "human" then
    return {}
  elseif kind == "child" then
    return { "c" .. self.count }
  end
  local on, all = {}, table.move(self.ids, 1, AGENTS, 1, {})
  table.move(children, 1, #children, AGENTS + 1, all)
  for _ = 1, kind == "checkpoint" and self.pick(3) or 1 do
    local other = table.remove(all, self.pick(#all))
    on[#on + 1] = other ~= id and other or nil
  end
  return on
end

function Trial:begin(id)
  local kind = KINDS[self.pick(#KINDS)]
  self.count = self.count + 1
  local children = self:children()
  local on = self:targets(id, kind, children)
  if #on == 0 and kind ~= "human" or kind == "child" and #children > 2 then
    return
  end
  local work = "W" .. self.count
  self.model.waits[id] = { id = id, kind = kind, number = self.count, work = work,
    on = table.move(on, 1, #on, 1, {}) }
  self:tell(id, { type = "task", task_id = work,
    payload = { wait = kind, on = on, number = self.count } })
end

-- The message by which `from` gives the waiting agent what it lacks of it.
local function answer_to(wait, said)
  if wait.kind == "reply" then
    return { type = "response", payload = { query_id = said.message_id, answer = "x" } }
  elseif wait.kind == "checkpoint" then
    return { type = "checkpoint_response", payload = { checkpoint_id = said.checkpoint_id } }
  end
  return { type = wait.kind == "task" and "task" or "news" .. wait.number, payload = {} }
end

-- A free agent that `id` waits for answers: immediately, with a delay, or so that the
-- answer is lost in transit.
function Trial:answer(id, from, said)
  local wait = self.model.waits[id]
  if wait.kind == "child" then
    wait.on = {}
    self.model.waits[id] = nil
    return self:tell(from, { payload = { complete = said.message_id and wait.work } })
  end
  local mail = answer_to(wait, said)
  self.count = self.count + 1
  mail.to = id
  mail.delay_ms = self.pick(4) > 1 and self.pick(100) or nil
  mail.task_id = wait.kind == "task" and "T" .. self.count or nil
  local is_lost = mail.delay_ms and self.pick(6) == 1
  mail.ttl_seconds = is_lost and 0.001 or nil
  if not is_lost then
    table.insert(self.model.coming, { number = wait.number, to = id, from = from,
      task = mail.task_id, place = self.count, due = self.s:now() + (mail.delay_ms or 0) })
  end
  self:tell(from, { payload = { mail = mail } })
end

-- The user cancels what `id` waits for, or a task in transit to it.
function Trial:cancel(id)
  for i, mail in ipairs(self.model.coming) do
    if mail.to == id and mail.task and mail.due > self.s:now() then
      table.remove(self.model.coming, i)
      self.cancelled = self.cancelled + 1
      return self:tell(id, { type = "abort", task_id = mail.task, payload = {} })
    end
  end
  local work = self.model.waits[id].work
  if self.pick(4) == 1 then
    self.model.waits[id] = nil
    self:tell(id, { type = "abort", task_id = work, payload = {} })
  end
end

function Trial:release(id)
  local wait = self.model.waits[id]
  if wait.kind == "human" then
    self.model.waits[id] = nil
    for _, item in ipairs(self.s:inbox()) do
      if item.agent == id then
        assert(self.s:decide(item.id, { decision = "approve" }))
      end
    end
    return self.s:advance(0)
  end
  local from = wait.on[self.pick(#wait.on)]
  if self.model.waits[from] then
    return
  end
  for _, said in ipairs(self.s:waits()) do
    if said.agent == id then
      return self:answer(id, from, said)
    end
  end
end

function Trial:step()
  local pool = table.move(self.ids, 1, AGENTS, 1, {})
  local children = self:children()
  table.move(children, 1, #children, AGENTS + 1, pool)
  local id, act = pool[self.pick(#pool)], self.pick(8)
  if act == 1 then
    self.s:advance(self.pick(20))
  elseif not self.model.waits[id] then
    self:begin(id)
  elseif act < 4 then
    self:cancel(id)
  else
    self:release(id)
  end
  self:check()
end

describe("random waits of every kind", function()
  after_each(scene.close)

  for seed, crashes in ipairs({ false, true }) do
    it(crashes and "behave the same with crashes" or "are told apart from deadlocks", function()
      local trial = new_trial(seed)
      for step = 1, STEPS do
        trial:step()
        if crashes and step % 50 == 0 then
          trial.s:crash()
          trial.s:recover()
          trial.s:advance(0)
          trial:check()
        end
      end
      assert.is_true(trial.rings > STEPS / 50, "too few rings: " .. trial.rings)
      assert.is_true(trial.done > STEPS / 20, "too few answers: " .. trial.done)
      assert.is_true(trial.cancelled > STEPS / 100, "too few cancelled: " .. trial.cancelled)
      assert.equal(trial.rings, #trial.s:activity({ type = "deadlock" }))
      assert.is_true(scene.law_holds(trial.s))
    end)
  end
end)
