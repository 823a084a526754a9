--- Contacts: an agent may write only to its contacts.
--
-- The person may write to everybody. A stranger is refused with a hint. Only root, the person,
-- the orchestrator and those named by the setting `broadcasters` may broadcast.

local M = {
  kind = "contacts",
  version = 1,
  defaults = {
    hint = "ask a contact with request_introduction, or let everybody write to everybody: "
      .. 'society.policy("contacts", "open")',
    broadcast_hint = "only root, user and the orchestrator write to all; ask one of them",
  },
}

function M.may_send(request, settings)
  if request.is_known or request.from.id == "user" then
    return true
  end
  return false, { hint = settings.hint }
end

function M.may_broadcast(request, settings)
  if request.is_head then
    return true
  end
  return false, { hint = settings.broadcast_hint }
end

M.examples = {
  { ask = "may_broadcast", given = { { from = { id = "root", role = "root" }, is_head = true } },
    expect = true },
  { ask = "may_broadcast", given = { { from = { id = "a", role = "r" }, is_head = false } },
    expect = false },
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
