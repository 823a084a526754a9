--- patience: the agent handle that tools receive.
--
-- It measures how long people kept the agent waiting: escalate, request{ to = "user" }, and
-- receive{ from = "user" } or of a decision. Any other wait of a tool ends when the agent's
-- time is over, and a tool can do nothing more when the effects of a message are nearly used
-- up. It also records which tasks and messages a tool has handled itself.

local clean = require("society.llm.clean")

local M = {}

-- Returns the results of a call; errors are raised at the tool's call site.
local function finish(ok, ...)
  if ok then
    return ...
  end
  local err = ...
  error(type(err) == "string" and clean(err) or err, 2)
end

local function waits_for_person(name, options)
  if type(options) ~= "table" then
    return false
  elseif name == "escalate" then
    return options.wait ~= false
  elseif name == "request" then
    return options.to == "user"
  end
  return name == "receive" and (options.from == "user" or options.type == "decision")
end

-- Calls that wait: which argument has timeout_ms, and the default timeout.
local WAITS = {
  request = { at = 1, usual_ms = 30000 }, request_introduction = { at = 1, usual_ms = 30000 },
  http = { at = 1, usual_ms = 30000 }, checkpoint = { at = 1, usual_ms = 30000 },
  chat = { at = 1, usual_ms = 600000 }, receive = { at = 1, usual_ms = math.huge },
  spawn_agent = { at = 3, usual_ms = math.huge, needs = "wait" },
}

-- The longest timeout a call accepts.
local TIMEOUT_MS_MAX = 100000000000000

-- Caps the timeout in the options at `left_ms`. Invalid options are left alone: the call
-- itself reports them.
local function within(wait, options, left_ms)
  local given = options == nil and {} or options
  if type(given) ~= "table" or wait.needs and not given[wait.needs] then
    return options
  end
  local own_ms = given.timeout_ms == nil and wait.usual_ms or given.timeout_ms
  if type(own_ms) ~= "number" or own_ms <= left_ms then
    return options
  end
  local copy = {}
  for name, value in pairs(given) do
    copy[name] = value
  end
  copy.timeout_ms = math.min(left_ms, TIMEOUT_MS_MAX)
  return copy
end

--- Options of a chat that ends when the agent's time is up.
function M.chat(options, left_ms)
  return within(WAITS.chat, options, left_ms)
end

local Watch = {}
Watch.__index = Watch

function Watch:wait_for_person(call, ...)
  local began_ms = self.agent:now()
  local ok, result, err = pcall(call, self.agent, ...)
  self.guard:waited(self.agent:now() - began_ms)
  return finish(ok, result, err)
end

function Watch:wait_for_others(wait, call, ...)
  local left_ms = self.guard:left_ms(self.agent:now())
  if left_ms <= 0 then
    return nil, self.guard:overtime()
  end
  local given = table.pack(...)
  given[wait.at] = within(wait, given[wait.at], left_ms)
  return finish(pcall(call, self.agent, table.unpack(given, 1, math.max(given.n, wait.at))))
end

function Watch:sleep(call, ms)
  local left_ms = self.guard:left_ms(self.agent:now())
  if math.type(ms) ~= "integer" or ms < left_ms then
    return finish(pcall(call, self.agent, ms))
  elseif left_ms > 0 then
    call(self.agent, left_ms)
  end
  error(self.guard:overtime(), 0)
end

function Watch:close(call, what, ...)
  local ok, result, err = pcall(call, self.agent, what, ...)
  if ok and result then
    self.talk:close_by_id(type(what) == "table" and what.id or what)
  end
  return finish(ok, result, err)
end

local CLOSING = { complete = true, fail = true, reply = true }

function Watch:run(name, call, ...)
  local stop = self.guard:before_effects(self.agent, self.talk:effects_needed())
  if stop then
    error(stop, 0)
  elseif waits_for_person(name, (...)) then
    return self:wait_for_person(call, ...)
  elseif WAITS[name] then
    return self:wait_for_others(WAITS[name], call, ...)
  elseif name == "sleep" then
    return self:sleep(call, ...)
  elseif CLOSING[name] then
    return self:close(call, ...)
  end
  return finish(pcall(call, self.agent, ...))
end

--- A handle that forwards to the agent's.
-- @tparam agent agent
-- @tparam table guard knows the agent's time; receives the ms of each wait for people
-- @tparam table talk records what was answered
function M.watch(agent, guard, talk)
  local watch, methods = setmetatable({ agent = agent, guard = guard, talk = talk }, Watch), {}
  return setmetatable({}, {
    __index = function(_, name)
      local value = agent[name]
      if type(value) ~= "function" then
        return value
      end
      methods[name] = methods[name] or function(_, ...) return watch:run(name, value, ...) end
      return methods[name]
    end,
    __newindex = function(_, name, value) agent[name] = value end,
    __tostring = function() return "agent" end,
    __metatable = false,
  })
end

return M
