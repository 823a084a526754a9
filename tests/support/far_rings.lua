--- far_rings: fleets of agents that wait for each other.

local scene = require("scene")
local fleets = require("fleets")

local M = {}

local function note(agent, kind, result, err)
  local ends = agent.state.ends or {}
  ends[#ends + 1] = { kind = kind, error = err and err.error, cycle = err and err.cycle,
    responses = err and err.responses, missing = err and err.missing,
    text = result and type(result.payload) == "table" and result.payload.text or nil }
  agent.state.ends = ends
end

-- How an agent waits: each returns the answer, or nil and the error.
local WAITS = {
  request = function(agent, order)
    return agent:request({ to = order.request, type = "question", timeout_ms = order.timeout_ms,
      payload = order.ask or { text = "?" } })
  end,
  receive = function(agent, order)
    return agent:receive({ from = order.receive, type = order.type, timeout_ms = order.timeout_ms })
  end,
  checkpoint = function(agent, order)
    return agent:checkpoint({ agents = order.checkpoint, payload = { text = "?" },
      timeout_ms = order.timeout_ms })
  end,
  ack = function(agent, order)
    return agent:send_message({ to = order.ack, payload = { text = "?" }, wait_ack = "processed",
      timeout_ms = order.timeout_ms })
  end,
  received = function(agent, order)
    return agent:send_message({ to = order.received, payload = { text = "?" },
      wait_ack = "received", timeout_ms = order.timeout_ms })
  end,
  introduce = function(agent, order)
    return agent:request_introduction({ to = order.introduce, reason = "r",
      required_capability = "c", timeout_ms = order.timeout_ms })
  end,
  spawn = function(agent, order)
    return agent:spawn_agent("actor", scene.brief(), { host = order.spawn, wait = true,
      id = order.id, timeout_ms = order.timeout_ms, message = order.message })
  end,
}

local function obey(agent, order)
  if order.sleep_ms then
    agent:sleep(order.sleep_ms)
  end
  if order.send then
    assert(agent:send_message({ to = order.send, type = order.as, delay_ms = order.delay_ms,
      payload = { text = "sent" } }))
  end
  for kind, wait in pairs(WAITS) do
    if order[kind] then
      order.timeout_ms = order.timeout_ms or 60000
      note(agent, kind, wait(agent, order))
    end
  end
end

-- Obeys an order, or a list of them; anything else is answered.
local function act(agent, message)
  local orders = message.payload
  if type(orders) == "table" then
    for _, order in ipairs(orders[1] and orders or { orders }) do
      obey(agent, order)
    end
  end
  return { text = agent.id .. " is done" }
end

local function app(ids, config)
  return function(s)
    s:config(config)
    s:role({ id = "actor", behaviour = scene.all(act) })
    s:root(scene.all(function(root, message)
      if message.type == "enter" then
        for _, id in ipairs(ids) do
          assert(root:spawn_agent("actor", scene.brief(), { id = id }))
        end
        return
      end
      return act(root, message)
    end))
  end
end

--- A fleet with those agents, host -> ids, whose links are up. `options`: `seed`, `policies`,
-- `config`, `within` (faults of a single host, as of society.new).
function M.fleet(hosts, options)
  options = options or {}
  local apps = {}
  for name, ids in pairs(hosts) do
    apps[name] = app(ids, options.config or {})
  end
  local f = fleets.new(apps, { seed = options.seed, within = options.within,
    policies = options.policies or { messages = { "any" }, contacts = "open" } })
  for name in pairs(hosts) do
    assert(f[name]:send("user", { to = "root", type = "enter", payload = "x" }))
  end
  f:run()
  return f
end

--- Orders an agent, `id@host`, to wait as `payload` says, and lets that begin.
function M.order(f, address, payload)
  local id, host = address:match("^(.-)@(.+)$")
  assert(f[host]:send("user", { to = id, payload = payload }))
  f:advance(10)
end

--- a@alpha waits for b@beta, and that for a@alpha.
function M.close_two(f)
  M.order(f, "a@alpha", { request = "b@beta", ask = { request = "a@alpha" } })
end

--- How the waits of an agent ended, oldest first.
function M.ends(f, address)
  local id, host = address:match("^(.-)@(.+)$")
  return (f[host].agent(id).state or {}).ends or {}
end

--- The entries `deadlock` of the activity logs: { host, agent, detail }.
function M.deadlocks(f, names)
  local found = {}
  for _, name in ipairs(names) do
    for _, entry in ipairs(f[name]:activity({ type = "deadlock" })) do
      found[#found + 1] = { name, entry.agent, entry.detail }
    end
  end
  return found
end

--- How many orders of that type a host has given.
function M.orders(s, type)
  return #s:messages({ type = type, limit = 1000 })
end

return M
