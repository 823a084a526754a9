--- Delivery: what happens to a message that an outside agent does not ack.
--
-- Returns the steps of a ladder: when, counted from the first delivery, and what: "timeout"
-- (it is logged), "resend", "warn" (resend with a warning), "unresponsive" (give up and alert
-- the orchestrator). Nil: no further step.
--
-- Each attempt waits `timeout_ms` for its ack; the next one follows `retry_delay_ms` later.
-- The last attempt carries a warning; after `attempts_max` attempts the agent is given up.

local M = {
  kind = "delivery",
  version = 1,
  defaults = { timeout_ms = 5000, retry_delay_ms = 2000, attempts_max = 3 },
}

-- Steps 1, 3, 5 … are the ends of attempts, 2, 4 … the beginnings of the next.
function M.rung(request, settings)
  local attempt = request.step // 2 + request.step % 2
  local end_ms = attempt * settings.timeout_ms + (attempt - 1) * settings.retry_delay_ms
  if attempt > settings.attempts_max then
    return nil
  end
  if request.step % 2 == 1 then
    local is_last = attempt == settings.attempts_max
    return { at_ms = end_ms, action = is_last and "unresponsive" or "timeout" }
  end
  if attempt == settings.attempts_max then
    return nil
  end
  local is_warning = attempt == settings.attempts_max - 1
  return { at_ms = end_ms + settings.retry_delay_ms, action = is_warning and "warn" or "resend" }
end

M.examples = {
  { ask = "rung", given = { { step = 1 } }, expect = { at_ms = 5000, action = "timeout" } },
  { ask = "rung", given = { { step = 2 } }, expect = { at_ms = 7000, action = "resend" } },
  { ask = "rung", given = { { step = 3 } }, expect = { at_ms = 12000, action = "timeout" } },
  { ask = "rung", given = { { step = 4 } }, expect = { at_ms = 14000, action = "warn" } },
  { ask = "rung", given = { { step = 5 } }, expect = { at_ms = 19000, action = "unresponsive" } },
  { ask = "rung", given = { { step = 6 } }, expect = nil },
}

return M
