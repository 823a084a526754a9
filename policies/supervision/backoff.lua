--- Supervision: retries a turn that raised, with back-off, then gives up.
--
-- Returns the ms to wait before the next try, or nil: the message becomes a dead letter with
-- the error. An agent whose turns raise too often has failed: it is held until somebody
-- resumes it. A setting decides what happens to an agent's children when it terminates.

local M = {
  kind = "supervision",
  version = 1,
  defaults = {
    retries_max = 3, first_ms = 100, factor = 2, max_ms = 10000,
    failures_max = 5, failures_ms = 60000,
    children = "end",
  },
}

function M.retry_after(request, settings)
  if request.failures > settings.retries_max then
    return nil
  end
  local delay_ms = settings.first_ms * settings.factor ^ (request.failures - 1)
  return math.floor(math.min(delay_ms, settings.max_ms))
end

function M.is_failed(request, settings)
  local recent = 0
  for _, age_ms in ipairs(request.ages) do
    if age_ms <= settings.failures_ms then
      recent = recent + 1
    end
  end
  return recent > settings.failures_max
end

function M.children(_, settings)
  return settings.children
end

M.examples = {
  { ask = "retry_after", given = { { failures = 1 } }, expect = 100 },
  { ask = "retry_after", given = { { failures = 3 } }, expect = 400 },
  { ask = "retry_after", given = { { failures = 4 } }, expect = nil },
  { ask = "is_failed", given = { { ages = { 0, 10, 20, 30, 40 } } }, expect = false },
  { ask = "is_failed", given = { { ages = { 0, 10, 20, 30, 40, 60000 } } }, expect = true },
  { ask = "is_failed", given = { { ages = { 0, 10, 20, 30, 40, 60001 } } }, expect = false },
  { ask = "children", given = { { is_forced = false } }, expect = "end" },
}

return M
