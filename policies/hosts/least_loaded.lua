--- Hosts: agents are born on the reachable host that has the fewest agents; this one, if several
-- have as few.

local M = { kind = "hosts", version = 1 }

function M.place(_, _, hosts)
  local best
  for _, host in ipairs(hosts) do
    if host.is_reachable and (not best or host.agents < best.agents) then
      best = host
    end
  end
  return best and best.name
end

M.examples = {
  { ask = "place", given = { "worker", {}, {
    { name = "alpha", is_local = true, is_reachable = true, agents = 5 },
    { name = "beta", is_local = false, is_reachable = false, agents = 2 },
    { name = "gamma", is_local = false, is_reachable = true, agents = 4 },
  } }, expect = "gamma" },
  { ask = "place", given = { "worker", {}, {
    { name = "alpha", is_local = true, is_reachable = true, agents = 4 },
    { name = "gamma", is_local = false, is_reachable = true, agents = 4 },
  } }, expect = "alpha" },
}

return M
