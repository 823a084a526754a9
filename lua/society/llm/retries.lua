--- retries: how often and after which pause a model call is retried.

local M = {}

M.defaults = { retries_max = 4, retry_first_ms = 500, retry_max_ms = 30000 }

--- The pause before the next attempt: exponential back-off with jitter, no shorter than the
-- server asks for.
-- @tparam table bounds retry_first_ms, retry_max_ms
-- @tparam integer tries attempts so far
-- @tparam table err error of the last one
-- @tparam number chance in [0, 1)
function M.pause_ms(bounds, tries, err, chance)
  local pause = math.min(bounds.retry_first_ms << math.min(tries - 1, 20), bounds.retry_max_ms)
  return math.max(math.ceil(pause * (0.5 + 0.5 * chance)), err.retry_after_ms or 0)
end

--- Whether a call times out before `at_ms`, so that no further attempt is made.
function M.is_too_late(call, at_ms)
  return call.deadline_ms ~= nil and at_ms >= call.deadline_ms
end

--- The error of a call that would time out before the pause after refusals (429) ends.
function M.braked(wait_ms)
  return { error = "rate_limited", retryable = false, retry_after_ms = wait_ms,
    message = ("the model's server wants to be left alone for %d ms, longer than the call may "
      .. "last"):format(wait_ms) }
end

return M
