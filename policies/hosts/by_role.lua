--- Hosts: the settings say on which host agents of a role are born: roles = { role = "host" }.

local M = { kind = "hosts", version = 1, defaults = { roles = {} } }

function M.place(role, _, _, settings)
  return settings.roles[role]
end

M.examples = {
  { ask = "place", given = { "worker", {}, { { name = "alpha", is_local = true } } },
    expect = nil },
}

return M
