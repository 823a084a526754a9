--- Gatekeeper: input goes to whom it speaks of, by words; else to root.
--
-- The words of the text are compared with each agent's role and with the services of
-- its Interface Spec. An agent that is named at the beginning, as in "pm: ship it" or
-- "@pm ship it", gets it whatever it says. Of several that fit equally, one that is
-- idle wins, then the oldest.

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

local ROOT = { id = "root", role = "root", role_id = "root", status = "idle" }
local SALES = {
  id = "s1", role = "销售", role_id = "sales", status = "working",
  interfaceSpec = { services = "prices, offers, 报价" },
}
local SALES_IDLE = { id = "s2", role = "销售", role_id = "sales", status = "idle" }
local AGENTS = { ROOT, SALES, SALES_IDLE }

local function case(text, intent, route_to)
  return { ask = "route", given = { { text = text }, AGENTS },
    expect = { intent = intent, route_to = route_to } }
end

M.examples = {
  case("an offer with prices", "sales", "s1"),
  case("请给我一个报价", "sales", "s1"),
  case("sales", "sales", "s2"),
  case("s1: hello", "named", "s1"),
  case("@s2 hello", "named", "s2"),
  case("what is the weather?", "general", "root"),
}

return M
