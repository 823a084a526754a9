--- society.introductions: building blocks of introductions policies.
--
-- A request says who asks whom for what, whom the asked agent knows, who was asked
-- already and what came of it (policies/README.md). Each function answers with a step
-- of the same form as the policy itself, or nil if it has none to suggest.

local capability = require("society.capability")

local M = {}

--- Settings every policy of this kind shares.
M.DEFAULTS = { match_min = 0.3, hops_max = 4, asks_max = 8, ask_timeout_ms = 10000 }

--- The agent that an onward question found.
function M.found(request)
  local found = request.found
  return found and { introduce = found.id, usage_hint = found.usage_hint }
end

--- The contact whose offer fits best, if it fits well enough.
function M.match(request, settings)
  local best, best_score = nil, settings.match_min
  local wanted = capability.words(request.required_capability)
  for _, contact in ipairs(request.contacts) do
    if contact.id ~= request.requester.id and contact.id ~= "user" then
      local score = capability.score(wanted, capability.offer(contact))
      if score > best_score or (score == best_score and not best) then
        best, best_score = contact, score
      end
    end
  end
  if not best then
    return nil
  end
  local format = best.interfaceSpec and best.interfaceSpec.input_format
  return { introduce = best.id, usage_hint = format }
end

-- Parent, then children, then others; in the order of acquaintance.
local RANK = { parent = 1, child = 2 }

--- The next one to ask onward: parent first, then children, then others.
function M.ask_onward(request, settings)
  if #request.via >= settings.hops_max or #request.asked >= settings.asks_max then
    return nil
  end
  local next_one, next_rank
  for _, contact in ipairs(request.contacts) do
    local rank = RANK[contact.source] or 3
    if contact.may_ask and (not next_one or rank < next_rank) then
      next_one, next_rank = contact, rank
    end
  end
  return next_one and { ask = next_one.id, timeout_ms = settings.ask_timeout_ms }
end

--- Refuses: nobody fits.
function M.refuse(request)
  return { refuse = "nobody I know offers this: " .. request.required_capability }
end

return M
