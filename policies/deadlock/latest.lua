--- Deadlock: releases the agent whose wait closed the cycle; the others keep waiting.

local M = { kind = "deadlock", version = 1 }

function M.victim(request)
  local last = request.cycle[1]
  for _, waiter in ipairs(request.cycle) do
    if waiter.order > last.order then
      last = waiter
    end
  end
  return last.id
end

M.examples = {
  { ask = "victim", expect = "a", given = { { cycle = {
    { id = "a", role = "r", since = 20, order = 3, waits_for = "b", kind = "reply" },
    { id = "b", role = "r", since = 10, order = 1, waits_for = "a", kind = "receive" },
  } } } },
}

return M
