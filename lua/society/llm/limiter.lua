--- limiter: which agent may call a model next, for the whole society.
--
-- It limits parallel calls, and calls and tokens per minute. Agents take turns, so that one
-- with a hundred calls does not delay the others. After several refusals in a row (429) all
-- calls pause. It reads no clock: the time is an argument.

local M = {}

local Limiter = {}
Limiter.__index = Limiter

M.defaults = {
  concurrency = 16, requests_per_minute = nil, tokens_per_minute = nil,
  brake_after = 3, brake_ms = 5000, brake_max_ms = 120000,
}

-- A token bucket that holds up to a minute's worth.
local function bucket(per_minute, now_ms)
  return per_minute and { max = per_minute, left = per_minute, at_ms = now_ms }
end

local function fill(b, now_ms)
  b.left = math.min(b.max, b.left + (now_ms - b.at_ms) * b.max / 60000)
  b.at_ms = now_ms
end

-- When it will hold `amount`, or its capacity.
local function when(b, amount, now_ms)
  fill(b, now_ms)
  local missing = math.min(amount, b.max) - b.left
  return missing <= 0 and now_ms or now_ms + math.ceil(missing * 60000 / b.max)
end

function M.new(settings, now_ms)
  local self = {}
  for name, value in pairs(M.defaults) do
    self[name] = settings[name] or value
  end
  self.requests = bucket(settings.requests_per_minute, now_ms)
  self.tokens = bucket(settings.tokens_per_minute, now_ms)
  self.waiting, self.order, self.running, self.entries = {}, {}, 0, {}
  self.refusals, self.free_at_ms, self.brakes = 0, now_ms, 0
  return setmetatable(self, Limiter)
end

--- Queues a call.
function Limiter:ask(id, agent, tokens)
  local line = self.waiting[agent]
  if not line then
    line = {}
    self.waiting[agent] = line
    self.order[#self.order + 1] = agent
  end
  local entry = { id = id, agent = agent, tokens = tokens }
  line[#line + 1] = entry
  self.entries[id] = entry
end

local function earliest(self, entry, now_ms)
  local at_ms = math.max(now_ms, self.free_at_ms)
  if self.requests then
    at_ms = math.max(at_ms, when(self.requests, 1, now_ms))
  end
  if self.tokens then
    at_ms = math.max(at_ms, when(self.tokens, entry.tokens, now_ms))
  end
  return at_ms
end

local function remove_line(self, agent)
  self.waiting[agent] = nil
  for index, name in ipairs(self.order) do
    if name == agent then
      table.remove(self.order, index)
      return
    end
  end
end

--- Releases the next call.
-- @treturn[1] string its id
-- @treturn[2] nil
-- @treturn[2] string? the id at the head of the queue
-- @treturn[2] number? when to ask again; nil: when a call has ended
function Limiter:next(now_ms)
  local agent = self.order[1]
  if not agent then
    return nil
  end
  local entry = self.waiting[agent][1]
  if self.running >= self.concurrency then
    return nil, entry.id
  end
  local at_ms = earliest(self, entry, now_ms)
  if at_ms > now_ms then
    return nil, entry.id, at_ms
  end
  table.remove(self.waiting[agent], 1)
  table.remove(self.order, 1)
  if #self.waiting[agent] > 0 then
    self.order[#self.order + 1] = agent
  else
    self.waiting[agent] = nil
  end
  if self.requests then
    self.requests.left = self.requests.left - 1
  end
  if self.tokens then
    entry.taken = math.min(entry.tokens, self.tokens.max)
    self.tokens.left = self.tokens.left - entry.taken
  end
  self.running = self.running + 1
  entry.is_running = true
  return entry.id
end

--- A released call has ended. `tokens` is its actual usage, if known.
function Limiter:ended(id, tokens)
  local entry = self.entries[id]
  self.entries[id] = nil
  self.running = self.running - 1
  if self.tokens and tokens then
    self.tokens.left = self.tokens.left + entry.taken - tokens
  end
end

--- The server has answered: refused calls may be retried normally.
function Limiter:praise()
  self.refusals, self.brakes = 0, 0
end

--- The server has refused (429). After several refusals in a row all calls pause. Refusals
-- of calls already in flight when the pause began are not counted.
-- @treturn number? the end of the pause, if there is one
function Limiter:refused(now_ms, retry_after_ms)
  if self.brakes > 0 and now_ms < self.free_at_ms then
    self.free_at_ms = math.max(self.free_at_ms, now_ms + (retry_after_ms or 0))
    return self.free_at_ms
  end
  self.refusals = self.refusals + 1
  if self.refusals < self.brake_after then
    return nil
  end
  local pause_ms = math.min(self.brake_ms << math.min(self.brakes, 10), self.brake_max_ms)
  self.refusals, self.brakes = 0, self.brakes + 1
  self.free_at_ms = math.max(self.free_at_ms, now_ms + math.max(pause_ms, retry_after_ms or 0))
  return self.free_at_ms
end

--- Removes a call in any state.
function Limiter:drop(id)
  local entry = self.entries[id]
  if not entry then
    return
  end
  if entry.is_running then
    self:ended(id)
    return
  end
  self.entries[id] = nil
  local line = self.waiting[entry.agent]
  for index, other in ipairs(line) do
    if other == entry then
      table.remove(line, index)
    end
  end
  if #line == 0 then
    remove_line(self, entry.agent)
  end
end

return M
