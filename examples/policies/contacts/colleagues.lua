--- Contacts: as strict, and who works for the same parent may write to each other.

local M = { kind = "contacts", version = 1, defaults = { hint = "ask your parent" } }

function M.may_send(request, settings)
  local from, to = request.from, request.to
  if request.is_known or from.id == "user" or (from.parent and from.parent == to.parent) then
    return true
  end
  return false, { hint = settings.hint }
end

local function asked(from_parent, to_parent)
  return {
    from = { id = "a", role = "r", parent = from_parent },
    to = { id = "b", role = "r", parent = to_parent }, is_known = false,
  }
end

M.examples = {
  { ask = "may_send", given = { asked("p", "p") }, expect = true },
  { ask = "may_send", given = { asked("p", "q") }, expect = false },
}

return M
