--- guards: runaway protection for agents that think.
--
-- Each guard has a name, which is the reason in the alert to the parent. The host limits
-- tokens and cost (llm.limits) for all callers.

local json = require("society.json")
local settings = require("society.llm.settings")

local M = {}

M.defaults = {
  talk = 100, -- messages in a row, from agent to agent, in which nobody made progress
  rounds = 40, -- calls of the model for one message
  repeats = 3, -- calls of one tool with the same arguments, for one message
  fruitless = 5, -- rounds in a row in which every tool failed
  wall_ms = 1800000, -- for one message, waiting for people not counted
}

-- Effects held in reserve for reporting: the answers of a round of tools, and the replies to
-- those who wait.
local SPARE_EFFECTS = 320

local Guards = {}
Guards.__index = Guards

function M.new(now_ms)
  local self = { count = 0, calls = {}, failures = 0, began_ms = now_ms }
  for name, value in pairs(M.defaults) do
    local own = settings.guards and settings.guards[name]
    self[name] = own == nil and value or own or math.maxinteger
  end
  return setmetatable(self, Guards)
end

local function tripped(name, text)
  return { error = "guard", guard = name, message = text }
end

--- Checks before the agent thinks about a message.
-- @tparam integer idle agent:idle_talk()
-- @treturn table? the error, if it may not think
function Guards:before_talk(idle)
  if idle >= self.talk then
    return tripped("endless_talk",
      ("%d messages in a row, and nobody has made progress"):format(self.talk))
  end
  return nil
end

--- Excludes time spent waiting for people.
function Guards:waited(ms)
  self.began_ms = self.began_ms + ms
end

--- The error of an agent that has run out of time.
function Guards:overtime()
  return tripped("wall_time", ("it took more than %d ms"):format(self.wall_ms))
end

--- The time left, in ms; math.huge without a limit.
function Guards:left_ms(now_ms)
  if self.wall_ms == math.maxinteger then
    return math.huge
  end
  self.began_ms = math.min(self.began_ms, now_ms) -- the clock may have been set back since
  return self.wall_ms - (now_ms - self.began_ms)
end

--- Checks before an action whether the effects of the message are nearly used up. Beyond
-- them the host ends the activation, and nobody would be notified.
-- @tparam agent agent
-- @tparam integer needed effects required to finish what was begun
function Guards.before_effects(_, agent, needed)
  local left, most = agent:effects_left()
  if left - needed < math.min(SPARE_EFFECTS, most // 4) then
    return tripped("activation_too_long",
      ("few of the %d effects of one message are left"):format(most))
  end
  return nil
end

--- Checks before the next model call.
-- @treturn table? the error, if it must not be made
function Guards:before_round(now_ms)
  self.count = self.count + 1
  if self.count > self.rounds then
    return tripped("rounds", ("the model was asked %d times for one message"):format(self.rounds))
  elseif self.failures >= self.fruitless then
    return tripped("no_progress",
      ("every tool failed in %d rounds in a row"):format(self.fruitless))
  elseif self:left_ms(now_ms) <= 0 then
    return self:overtime()
  end
  return nil
end

-- Normalizes a value: 1.0 becomes 1.
local function plain(value)
  if type(value) == "number" then
    return math.tointeger(value) or value
  elseif type(value) ~= "table" or value == json.null then
    return value
  end
  for name, part in pairs(value) do
    value[name] = plain(part)
  end
  return value
end

-- Arguments in canonical form: JSON, sorted, without white space.
local function canonical(arguments)
  local value = json.decode(arguments == "" and "{}" or arguments)
  if value == nil then
    return arguments
  end
  local ok, text = pcall(function() return json.encode(plain(value)) end)
  return ok and text or arguments
end

--- Checks before a tool call.
function Guards:before_call(call)
  local key = call.name .. "\0" .. canonical(call.arguments)
  self.calls[key] = (self.calls[key] or 0) + 1
  if self.calls[key] > self.repeats then
    return tripped("repeated_call", ("%s was called %d times with the same arguments"):format(
      call.name, self.repeats))
  end
  return nil
end

--- Checks after a round whether any of its tools worked.
function Guards:after_round(worked)
  self.failures = worked and 0 or self.failures + 1
  self.has_worked = self.has_worked or worked
end

return M
