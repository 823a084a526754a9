--- Hosts: agents are born where their parent is; mail from any host is taken.

local M = { kind = "hosts", version = 1 }

function M.place()
  return nil
end

M.examples = {
  { ask = "place", given = { "worker", {}, { { name = "alpha", is_local = true } } },
    expect = nil },
}

return M
