--- budget: reserves tokens and cost for running calls, so that parallel calls keep to a limit.
--
-- A limit applies to an agent, a task or the society. When a call starts, its estimate is
-- reserved under each limit; when it ends, the host counts what it used and the rest is
-- released. A call that does not fit waits until others have ended; a call that is alone
-- under a limit starts while anything is left. A limit is therefore exceeded by one call at
-- most, plus errors of the estimates.

local M = {}

--- Tokens reserved for an answer of unlimited length.
M.output_tokens = 4096

local Budget = {}
Budget.__index = Budget

function M.new()
  -- aside: of a bound -> { calls, tokens, cost_micros }; taken: of a call -> { keys, wanted }
  return setmetatable({ aside = {}, taken = {} }, Budget)
end

-- The key of a limit: "society", or its kind with an id.
local function key_of(room)
  return room.id and room.of .. "\0" .. room.id or room.of
end

local WHATS = { "tokens", "cost_micros" }

-- Checks one limit: nil if the call may start, "wait", or "spent" and what is used up.
local function verdict(room, aside, wanted)
  for _, what in ipairs(WHATS) do
    local max = room[what .. "_max"]
    if max > 0 and room[what] >= max then
      return "spent", what
    end
  end
  for _, what in ipairs(WHATS) do
    local max = room[what .. "_max"]
    if max > 0 and aside and room[what] + aside[what] + wanted[what] > max then
      return "wait"
    end
  end
  return nil
end

-- A number of a limit, formatted for people.
local function amount(what, number)
  return what == "tokens" and ("%d tokens"):format(number) or ("$%.6f"):format(number / 1e6)
end

local function spent(room, what)
  local max = room[what .. "_max"]
  return {
    error = "budget_exceeded", retryable = false, of = room.of, what = what, used = room[what],
    limit = max,
    message = ("the %s has reached its limit: %s of %s; raise llm.limits.%s_%s to continue"):format(
      room.of, amount(what, room[what]), amount(what, max), room.of,
      what == "tokens" and what or "cost"),
  }
end

--- Reserves what a call may use.
-- @tparam string id of the call
-- @tparam table rooms the limits that apply: { of, id?, tokens, tokens_max, cost_micros,
--   cost_micros_max }, used so far and allowed; 0: unlimited
-- @tparam table wanted { tokens, cost_micros }
-- @treturn[1] string "go"
-- @treturn[2] string "wait"
-- @treturn[2] string the key of the limit it waits for
-- @treturn[3] nil
-- @treturn[3] table the error: a limit is reached
function Budget:take(id, rooms, wanted)
  local waits_for
  for _, room in ipairs(rooms) do
    local what_now, what = verdict(room, self.aside[key_of(room)], wanted)
    if what_now == "spent" then
      return nil, spent(room, what)
    end
    waits_for = what_now and key_of(room) or waits_for
  end
  if waits_for then
    return "wait", waits_for
  end
  local keys = {}
  for index, room in ipairs(rooms) do
    local key = key_of(room)
    local aside = self.aside[key] or { calls = 0, tokens = 0, cost_micros = 0 }
    aside.calls = aside.calls + 1
    aside.tokens = aside.tokens + wanted.tokens
    aside.cost_micros = aside.cost_micros + wanted.cost_micros
    self.aside[key], keys[index] = aside, key
  end
  self.taken[id] = { keys = keys, wanted = wanted }
  return "go"
end

--- A call has ended: releases its reservation.
-- @treturn boolean whether it had one
function Budget:release(id)
  local taken = self.taken[id]
  if not taken then
    return false
  end
  self.taken[id] = nil
  for _, key in ipairs(taken.keys) do
    local aside = self.aside[key]
    aside.calls = aside.calls - 1
    aside.tokens = aside.tokens - taken.wanted.tokens
    aside.cost_micros = aside.cost_micros - taken.wanted.cost_micros
    if aside.calls == 0 then
      self.aside[key] = nil
    end
  end
  return true
end

return M
