--- Supervision: a turn that raised is tried again after a while, then given up.
--
-- Answers the ms to wait before the next try, or nil: the message goes to the
-- dead letters with the error. What becomes of the children of an agent that ends
-- is a setting.

local M = {
  kind = "supervision",
  version = 1,
  defaults = { retries_max = 3, first_ms = 100, factor = 2, max_ms = 10000, children = "end" },
}

function M.retry_after(request, settings)
  if request.failures > settings.retries_max then
    return nil
  end
  local delay_ms = settings.first_ms * settings.factor ^ (request.failures - 1)
  return math.floor(math.min(delay_ms, settings.max_ms))
end

function M.children(_, settings)
  return settings.children
end

M.examples = {
  { ask = "retry_after", given = { { failures = 1 } }, expect = 100 },
  { ask = "retry_after", given = { { failures = 3 } }, expect = 400 },
  { ask = "retry_after", given = { { failures = 4 } }, expect = nil },
  { ask = "children", given = { { is_forced = false } }, expect = "end" },
}

return M
