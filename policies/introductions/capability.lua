--- Introductions: introduce a contact that offers the capability, else ask onward, else refuse.
--
-- The capability is compared with the roles and Interface Specs of the asked agent's
-- contacts, in English and in Chinese words.

local introductions = require("society.introductions")

local M = { kind = "introductions", version = 1, defaults = introductions.DEFAULTS }

function M.answer(request, settings)
  return introductions.found(request)
    or introductions.match(request, settings)
    or introductions.ask_onward(request, settings)
    or introductions.refuse(request)
end

--- Nobody gets into a list of contacts by an answer that was not asked for.
function M.takes_unsolicited()
  return false
end

local DESIGNER = {
  id = "d1", role = "UI设计师", role_id = "designer", source = "child", may_ask = true,
  interfaceSpec = { services = "界面设计", input_format = "需求说明", output_format = "设计稿" },
}
local PARENT = {
  id = "p1", role = "manager", role_id = "manager", source = "parent", may_ask = true,
}

local function asked_for(what, contacts, more)
  local request = {
    agent = { id = "x", role = "lead" },
    requester = { id = "a", role = "programmer", parent = "x" },
    reason = "r", required_capability = what, via = {}, asked = {}, contacts = contacts,
  }
  for name, value in pairs(more or {}) do
    request[name] = value
  end
  return request
end

M.examples = {
  { ask = "answer", given = { asked_for("界面设计建议", { PARENT, DESIGNER }) },
    expect = { introduce = "d1", usage_hint = "需求说明" } },
  { ask = "answer", given = { asked_for("database tuning", { DESIGNER, PARENT }) },
    expect = { ask = "p1", timeout_ms = 10000 } },
  { ask = "answer", given = { asked_for("database tuning", {}) },
    expect = { refuse = "nobody I know offers this: database tuning" } },
  { ask = "answer",
    given = { asked_for("database tuning", { DESIGNER }, { via = { "1", "2", "3", "4" } }) },
    expect = { refuse = "nobody I know offers this: database tuning" } },
  { ask = "answer",
    given = { asked_for("x", {}, { found = { id = "t", usage_hint = "politely" } }) },
    expect = { introduce = "t", usage_hint = "politely" } },
  { ask = "takes_unsolicited", given = { { from = { id = "x" }, to = { id = "a" } } },
    expect = false },
}

return M
