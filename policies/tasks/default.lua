--- Tasks: retries a retryable failure with exponential back-off.
--
-- Returns the ms to wait before the next try, or nil: the task has failed. Also returns how
-- long a task may take once it has started, or nil for no limit, before its assigner receives
-- an alert.

local M = {
  kind = "tasks",
  version = 1,
  defaults = { retries_max = 3, first_ms = 1000, factor = 2, max_ms = 60000 },
}

function M.retry_after(request, settings)
  if request.tries > settings.retries_max then
    return nil
  end
  local delay_ms = settings.first_ms * settings.factor ^ (request.tries - 1)
  return math.floor(math.min(delay_ms, settings.max_ms))
end

function M.limit(request)
  return request.limit_ms
end

M.examples = {
  { ask = "retry_after", given = { { tries = 1 } }, expect = 1000 },
  { ask = "retry_after", given = { { tries = 3 } }, expect = 4000 },
  { ask = "retry_after", given = { { tries = 4 } }, expect = nil },
  { ask = "limit", given = { { limit_ms = 1800000 } }, expect = 1800000 },
}

return M
