--- Introductions: always ask the parent; an agent without one searches its contacts.

local introductions = require("society.introductions")

local M = { kind = "introductions", version = 1, defaults = introductions.DEFAULTS }

local function ask_parent(request, settings)
  if #request.via >= settings.hops_max then
    return nil
  end
  for _, contact in ipairs(request.contacts) do
    if contact.source == "parent" then
      return contact.may_ask and { ask = contact.id, timeout_ms = settings.ask_timeout_ms }
    end
  end
  return introductions.match(request, settings)
end

function M.answer(request, settings)
  return introductions.found(request)
    or ask_parent(request, settings)
    or introductions.refuse(request)
end

local PARENT = {
  id = "p1", role = "manager", role_id = "manager", source = "parent", may_ask = true,
}
local COOK = {
  id = "c1", role = "cook", role_id = "cook", source = "child", may_ask = true,
  interfaceSpec = { services = "cooking", input_format = "an order", output_format = "a dish" },
}

local function asked_for(what, contacts)
  return {
    agent = { id = "x", role = "lead" }, requester = { id = "a", role = "guest" }, reason = "r",
    required_capability = what, via = {}, asked = {}, contacts = contacts,
  }
end

M.examples = {
  { ask = "answer", given = { asked_for("cooking", { COOK, PARENT }) },
    expect = { ask = "p1", timeout_ms = 10000 } },
  { ask = "answer", given = { asked_for("cooking", { COOK }) },
    expect = { introduce = "c1", usage_hint = "an order" } },
  { ask = "answer", given = { asked_for("sailing", { COOK }) },
    expect = { refuse = "nobody I know offers this: sailing" } },
}

return M
