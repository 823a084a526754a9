--- patience: an agent's handle as tools get it, which notes how long people kept it
-- waiting: escalate, request{ to = "user" }, receive{ from = "user" } or of a decision.

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

--- A handle that does as the agent's does.
-- @tparam agent agent
-- @tparam function waited told the ms of each wait for people
function M.watch(agent, waited)
  local methods = {}

  local function method(name, call)
    methods[name] = methods[name] or function(_, ...)
      if not WATCHED[name] or not waits_for_person(name, (...)) then
        return finish(pcall(call, agent, ...))
      end
      local began_ms = agent:now()
      local ok, result, err = pcall(call, agent, ...)
      waited(agent:now() - began_ms)
      return finish(ok, result, err)
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
