--- house: a society of a few trades in which agents look for each other.
--
-- Every agent obeys orders from whoever writes to it: `seek` asks for an introduction and
-- keeps the outcome in agent.state, `hire` spawns a child, `say` writes to an agent.

local json = require("society.json")
local scene = require("scene")

local M = {}

local TRADES = {
  designer = { name = "UI设计师", services = "界面设计 interface design" },
  programmer = { name = "程序员", services = "编程 programming" },
  tester = { name = "测试员", services = "代码测试 testing" },
  manager = { name = "经理", services = "planning" },
}

local orders = {}

function orders.hire(agent, order)
  local child = assert(agent:spawn_agent(order.role, scene.brief(order.brief), { id = order.id }))
  agent.state.hired = child.id
end

function orders.seek(agent, order)
  local contact, err = agent:request_introduction {
    to = order.to, reason = order.reason or "a need", required_capability = order.what,
    timeout_ms = order.timeout_ms,
  }
  agent.state.found, agent.state.refused = contact, err
end

function orders.say(agent, order)
  local sent, err = agent:send_message { to = order.to, type = order.type, payload = order.payload }
  agent.state.sent, agent.state.refused = sent, err
end

local function obey(agent, message)
  local order = message.payload
  if type(order) == "table" and orders[order.order] then
    return orders[order.order](agent, order)
  end
  agent.state.heard = { from = message.from, type = message.type, payload = message.payload }
end

local function declare(s, handlers)
  for id, trade in pairs(TRADES) do
    local behaviour = { default = obey }
    for type, handler in pairs(handlers[id] or {}) do
      behaviour[type] = handler
    end
    s:role {
      id = id, name = trade.name, behaviour = behaviour,
      interface_spec = { services = trade.services, input_format = "a wish of " .. id,
        output_format = "a result" },
    }
  end
  s:root(obey)
end

--- A house with only root in it.
-- @tparam[opt] table options of society.new
-- @tparam[opt] table handlers role -> message type -> function, besides obeying
function M.new(options, handlers)
  options = options or {}
  options.app = function(s) declare(s, handlers or {}) end
  return scene.new(options)
end

--- Gives an order and runs the society until it is idle; returns agent.state.
function M.order(s, id, order)
  assert(s:send("user", { to = id, payload = order }))
  s:run()
  return M.state(s, id)
end

--- What the agent remembers.
function M.state(s, id)
  return s:agent(id).state or {}
end

--- Hires agents: { { parent, role, id, brief? }, … }.
function M.hire(s, list)
  for _, one in ipairs(list) do
    M.order(s, one[1], { order = "hire", role = one[2], id = one[3], brief = one[4] })
    assert(s:agent(one[3]), one[3] .. " was not hired")
  end
end

--- The contact of `owner` with that id, or nil.
function M.contact(s, owner, id)
  for _, contact in ipairs(s:contacts(owner)) do
    if contact.id == id then
      return contact
    end
  end
end

--- The ids an agent knows, sorted and joined.
function M.known(s, owner)
  local ids = {}
  for _, contact in ipairs(s:contacts(owner)) do
    ids[#ids + 1] = contact.id
  end
  table.sort(ids)
  return table.concat(ids, " ")
end

--- All messages of a type, oldest first.
function M.mail(s, type)
  return s:messages { type = type } or json.array({})
end

return M
