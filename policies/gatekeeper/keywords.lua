--- Gatekeeper: input goes to the agent whose role or services it mentions, else to root.
--
-- The words of the text are compared with each agent's role and with the services of its
-- Interface Spec. An agent named at the beginning, as in "pm: ship it" or "@pm ship it",
-- receives it in any case. Among equal matches an idle agent wins, then the oldest.

local capability = require("society.capability")
local json = require("society.json")

local M = {
  kind = "gatekeeper",
  version = 1,
  defaults = { score_min = 0.2, otherwise = "root" },
}

local function text_of(payload)
  if type(payload) ~= "table" then
    return tostring(payload)
  end
  local text = payload.text or payload.content
  return type(text) == "string" and text or json.encode(payload)
end

local function named(text, agents)
  local id = text:match("^%s*@([%w_.-]+)") or text:match("^%s*([%w_.-]+):%s")
  for _, agent in ipairs(agents) do
    if agent.id == id then
      return id
    end
  end
  return nil
end

local function is_better(score, agent, best)
  if not best or score ~= best.score then
    return not best or score > best.score
  end
  return agent.status == "idle" and best.agent.status ~= "idle"
end

function M.route(payload, agents, settings)
  local text = text_of(payload)
  local id = named(text, agents)
  if id then
    return { intent = "named", route_to = id }
  end
  local best
  for _, agent in ipairs(agents) do
    local score = capability.score(text, capability.offer(agent))
    if score >= settings.score_min and is_better(score, agent, best) then
      best = { score = score, agent = agent }
    end
  end
  if best then
    return { intent = best.agent.role_id or best.agent.role, route_to = best.agent.id }
  end
  return { intent = "general", route_to = settings.otherwise }
end

local AGENTS = {
  { id = "root", role = "root", role_id = "root", status = "idle" },
  { id = "s1", role = "销售", role_id = "sales", status = "working",
    interfaceSpec = { services = "prices, offers, 报价" } },
  { id = "s2", role = "销售", role_id = "sales", status = "idle" },
}

M.examples = {
  { ask = "route", given = { { text = "an offer with prices" }, AGENTS },
    expect = { intent = "sales", route_to = "s1" } },
  { ask = "route", given = { { text = "请给我一个报价" }, AGENTS },
    expect = { intent = "sales", route_to = "s1" } },
  { ask = "route", given = { { text = "sales" }, AGENTS },
    expect = { intent = "sales", route_to = "s2" } },
  { ask = "route", given = { { text = "s1: hello" }, AGENTS },
    expect = { intent = "named", route_to = "s1" } },
  { ask = "route", given = { { text = "@s2 hello" }, AGENTS },
    expect = { intent = "named", route_to = "s2" } },
  { ask = "route", given = { { text = "what is the weather?" }, AGENTS },
    expect = { intent = "general", route_to = "root" } },
}

return M
