--- troubles: faults of a model in a simulation, by the plan of its seed.
--
-- busy and limited: the server says so. cut and garbled: the bytes break off or are not an
-- answer, and are parsed as a server's. slow: the answer is late. All of them pass by retrying
-- or waiting, so that the outcome of a run stays the same.

local M = {}

local SLOW_MS_MAX = 20000
local FAILURES_MAX = 2 -- of one call
local EVENT = 'data: {"choices":[{"index":0,"delta":{"content":"a simulated word"}}]}\n\n'
local HEAD = #'data: {"choices":[{'
local BODY = '{"error":{"message":"a fault of the simulation"}}'

-- Loaded only when needed: most runs inject no model faults.
local function of_answer(...)
  return require("society.llm.failure").of_answer(...)
end

-- The result of parsing these bytes.
local function read(bytes, host)
  local reader = require("society.llm.openai").reader({}, { model = "simulated" })
  reader:head(200, { ["content-type"] = "text/event-stream" })
  reader:put(bytes)
  local message, err = reader:finish(host.now())
  assert(not message, "broken bytes were taken for an answer")
  return err
end

-- A whole number from `first` to `last`.
local function draw(host, first, last)
  return first + math.floor(host.random() * (last - first + 1))
end

local KINDS = {
  busy = function(host)
    return of_answer(503, {}, BODY, host.now())
  end,
  limited = function(host)
    return of_answer(429, { ["retry-after"] = "2" }, BODY, host.now())
  end,
  cut = function(host)
    return read(EVENT:sub(1, draw(host, 1, #EVENT)), host)
  end,
  garbled = function(host)
    local at = draw(host, #"data: " + 1, HEAD)
    return read(EVENT:sub(1, at - 1) .. "\1" .. EVENT:sub(at + 1), host)
  end,
}

--- The outcome of an attempt under the given fault.
-- @treturn table the error it ends with, or nil
-- @treturn number its delay in ms
function M.draw(tries, retries_max, host)
  local kind = host.trouble()
  if not kind then
    return nil, 0
  elseif kind == "slow" then
    return nil, draw(host, 1, SLOW_MS_MAX)
  end
  return tries <= math.min(FAILURES_MAX, retries_max) and KINDS[kind](host) or nil, 0
end

return M
