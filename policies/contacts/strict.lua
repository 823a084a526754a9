--- Contacts: an agent writes only to whom it knows.
--
-- The person may reach everybody. A stranger is refused with a hint.

local M = {
  kind = "contacts",
  version = 1,
  defaults = {
    hint = "write to a contact: a parent, a child, a collaborator or whoever wrote first",
  },
}

function M.may_send(request, settings)
  if request.is_known or request.from.id == "user" then
    return true
  end
  return false, { hint = settings.hint }
end

M.examples = {
  {
    ask = "may_send",
    given = {
      { from = { id = "a", role = "r" }, to = { id = "b", role = "r" }, is_known = true },
    },
    expect = true,
  },
  {
    ask = "may_send",
    given = {
      { from = { id = "a", role = "r" }, to = { id = "b", role = "r" }, is_known = false },
    },
    expect = false,
  },
  {
    ask = "may_send",
    given = {
      { from = { id = "user", role = "user" }, to = { id = "b", role = "r" }, is_known = false },
    },
    expect = true,
  },
}

return M
