--- Gatekeeper: everything goes to root.

local M = { kind = "gatekeeper", version = 1 }

function M.route()
  return { intent = "general", route_to = "root" }
end

M.examples = {
  { ask = "route", given = { { text = "hello" }, { { id = "root", role = "root" } } },
    expect = { intent = "general", route_to = "root" } },
}

return M
