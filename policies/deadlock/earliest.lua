--- Deadlock: releases the agent of a cycle that has waited longest.

local M = { kind = "deadlock", version = 1 }

function M.victim(request)
  local first = request.cycle[1]
  for _, waiter in ipairs(request.cycle) do
    if waiter.order < first.order then
      first = waiter
    end
  end
  return first.id
end

M.examples = {
  { ask = "victim", expect = "b", given = { { cycle = {
    { id = "a", role = "r", since = 20, order = 3, waits_for = "b", kind = "reply" },
    { id = "b", role = "r", since = 10, order = 1, waits_for = "c", kind = "receive" },
    { id = "c", role = "r", since = 10, order = 2, waits_for = "a", kind = "reply" },
  } } } },
}

return M
