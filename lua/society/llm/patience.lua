--- patience: an agent's handle as tools get it.
--
-- It notes how long people kept the agent waiting: escalate, request{ to = "user" },
-- receive{ from = "user" } or of a decision. And which tasks and messages a tool has dealt
-- with itself.

local clean = require("society.llm.clean")

local M = {}

-- What a call gives; what it raises is raised where the tool has called it.
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

local WATCHED = { escalate = true, request = true, receive = true }

local CLOSING = { complete = true, fail = true, reply = true }

--- A handle that does as the agent's does.
-- @tparam agent agent
-- @tparam table guard told the ms of each wait for people
-- @tparam table talk told what was answered
function M.watch(agent, guard, talk)
  local methods = {}

  local function wait_for_person(call, ...)
    local began_ms = agent:now()
    local ok, result, err = pcall(call, agent, ...)
    guard:waited(agent:now() - began_ms)
    return finish(ok, result, err)
  end

  local function close(call, what, ...)
    local ok, result, err = pcall(call, agent, what, ...)
    if ok and result then
      talk:close_by_id(type(what) == "table" and what.id or what)
    end
    return finish(ok, result, err)
  end

  local function method(name, call)
    methods[name] = methods[name] or function(_, ...)
      if WATCHED[name] and waits_for_person(name, (...)) then
        return wait_for_person(call, ...)
      elseif CLOSING[name] then
        return close(call, ...)
      end
      return finish(pcall(call, agent, ...))
    end
    return methods[name]
  end

  return setmetatable({}, {
    __index = function(_, name)
      local value = agent[name]
      return type(value) == "function" and method(name, value) or value
    end,
    __newindex = function(_, name, value) agent[name] = value end,
    __tostring = function() return "agent" end,
  })
end

return M
