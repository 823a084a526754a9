--- Introductions: as capability, but the requester's parent must agree first.
--
-- The parent gets a collaboration_request { subject = "introduction", requester,
-- target_agent, reason, required_capability } and agrees with { accepted = true }. Who
-- has no parent needs no consent. It is asked for by whom the requester asked itself,
-- once somebody is found, not again by those who were asked onward.

local introductions = require("society.introductions")

local M = {
  kind = "introductions",
  version = 1,
  defaults = {
    match_min = 0.3, hops_max = 4, asks_max = 8, ask_timeout_ms = 10000,
    consent_timeout_ms = 20000,
  },
}

local function with_consent(request, step, settings)
  local parent = request.requester.parent
  if not step or not parent or #request.via > 0 or request.consent == "given" then
    return step
  end
  if request.consent == "refused" then
    return { refuse = "the requester's parent did not agree" }
  end
  return { confirm = parent, introduce = step.introduce, timeout_ms = settings.consent_timeout_ms }
end

function M.answer(request, settings)
  local step = introductions.found(request) or introductions.match(request, settings)
  return with_consent(request, step, settings)
    or introductions.ask_onward(request, settings)
    or introductions.refuse(request)
end

local COOK = {
  id = "c1", role = "cook", role_id = "cook", source = "child", may_ask = true,
  interfaceSpec = { services = "cooking", input_format = "an order", output_format = "a dish" },
}

local function asked_for(what, consent, parent, via)
  return {
    agent = { id = "x", role = "lead" }, requester = { id = "a", role = "guest", parent = parent },
    reason = "r", required_capability = what, via = via or {}, asked = {}, contacts = { COOK },
    consent = consent,
  }
end

M.examples = {
  { ask = "answer", given = { asked_for("cooking", nil, "p") },
    expect = { confirm = "p", introduce = "c1", timeout_ms = 20000 } },
  { ask = "answer", given = { asked_for("cooking", "given", "p") },
    expect = { introduce = "c1", usage_hint = "an order" } },
  { ask = "answer", given = { asked_for("cooking", "refused", "p") },
    expect = { refuse = "the requester's parent did not agree" } },
  { ask = "answer", given = { asked_for("cooking", nil, "p", { "b", "a" }) },
    expect = { introduce = "c1", usage_hint = "an order" } },
  { ask = "answer", given = { asked_for("cooking", nil, nil) },
    expect = { introduce = "c1", usage_hint = "an order" } },
}

return M
