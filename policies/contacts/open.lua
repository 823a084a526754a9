--- Contacts: everybody may write to everybody; contacts are only recorded.

local M = { kind = "contacts", version = 1, defaults = {} }

function M.may_send()
  return true
end

function M.may_broadcast()
  return true
end

M.examples = {
  { ask = "may_broadcast", given = { { from = { id = "a", role = "r" }, is_head = false } },
    expect = true },
  {
    ask = "may_send",
    given = {
      { from = { id = "a", role = "r" }, to = { id = "b", role = "r" }, is_known = false },
    },
    expect = true,
  },
}

return M
