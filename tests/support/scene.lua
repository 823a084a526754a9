--- scene: small societies for specs, and queries about them.

local json = require("society.json")
local society = require("society")

local M = {}

local open, folders = {}, {}

--- A complete Task Brief, with `fields` over it.
function M.brief(fields)
  local brief = {
    objective = "do it", constraints = { "be brief" }, inputs = "a text", outputs = "a text",
    completion_criteria = "it is done",
  }
  for name, value in pairs(fields or {}) do
    brief[name] = value
  end
  return brief
end

-- Specs use types of their own unless they say which vocabularies are in force.
local function with_any(policies)
  local all = { messages = { "any" } }
  for kind, policy in pairs(policies or {}) do
    all[kind] = policy
  end
  return all
end

--- Registers a society for close().
function M.keep(s)
  open[#open + 1] = s
  return s
end

--- society.new with every message type, closed by close().
function M.new(options)
  options = options or {}
  options.policies = with_any(options.policies)
  return M.keep(society.new(options))
end

-- os.tmpname makes a file, which keeps the name ours.
local function make_folder()
  local name = os.tmpname()
  local path = name .. ".d"
  assert(os.execute(("mkdir %q"):format(path)))
  folders[#folders + 1] = name
  folders[#folders + 1] = path
  return path
end

--- A new directory, removed by close().
M.folder = make_folder

--- Writes files (name -> text) into a new directory and returns it.
function M.files(texts)
  local folder = make_folder()
  for name, text in pairs(texts) do
    local file = assert(io.open(folder .. "/" .. name, "w"))
    file:write(text)
    file:close()
  end
  return folder
end

--- Writes one app and returns its path.
function M.app(text)
  return M.files({ ["app.lua"] = text }) .. "/app.lua"
end

--- Closes what new() has opened and removes what was written. For after_each.
function M.close()
  for _, s in ipairs(open) do
    s:close()
  end
  for _, folder in ipairs(folders) do
    os.execute(("rm -rf %q"):format(folder))
  end
  open, folders = {}, {}
end

local function spawn_actors(root, ids)
  for _, id in ipairs(ids) do
    assert(root:spawn_agent("actor", M.brief(), { id = id }))
  end
end

--- A behaviour that hands everything to `act`, what the host itself sends included.
function M.all(act)
  return { default = act, system = act }
end

local function declare(s, acts)
  s:role({
    id = "actor", name = "演员",
    behaviour = M.all(function(agent, message)
      local act = acts[agent.id]
      return act and act(agent, message)
    end),
  })
  s:root(M.all(function(root, message)
    if message.type == "enter" then
      return spawn_actors(root, message.payload.ids)
    end
    return acts.root and acts.root(root, message)
  end))
end

-- With `peers` (name -> app) the host `alpha` of a fleet.
local function settle(options)
  local peers = options.peers
  if not peers then
    return M.new(options)
  end
  options.hosts = { alpha = { app = options.app } }
  for name, app in pairs(peers) do
    options.hosts[name] = { app = app }
  end
  options.peers, options.app = nil, nil
  local fleet = M.new(options)
  return fleet.alpha, fleet
end

--- A society in which each agent behaves as acts[id](agent, message) says, now and after
-- recover(). Root has spawned all others; one message was sent for that. Strangers may
-- write to each other unless options say otherwise. With `options.peers` it is a host among
-- others; then the fleet is the second result.
function M.troupe(acts, options)
  options = options or {}
  options.policies = options.policies or { contacts = "open" }
  options.app = function(s) declare(s, acts) end
  local s, fleet = settle(options)
  local ids = json.array({})
  for id in pairs(acts) do
    if id ~= "root" then
      ids[#ids + 1] = id
    end
  end
  table.sort(ids)
  assert(s:send("user", { to = "root", type = "enter", payload = { ids = ids } }))
  s:run()
  return s, fleet
end

--- Sends `payload` from user to the agent and runs the society until it is idle.
function M.tell(s, id, payload, type)
  local sent = assert(s:send("user", { to = id, payload = payload or "go", type = type }))
  s:run()
  return sent.messageId
end

--- Runs act(root, message) as one activation of a root and returns its results.
function M.play(act, options)
  local results
  local s = M.troupe({
    root = function(root, message)
      results = table.pack(act(root, message))
    end,
  }, options)
  M.tell(s, "root")
  if not results then
    local dead = s:dead_letters()
    error("the turn failed: " .. json.encode(dead[#dead] or json.null), 2)
  end
  return table.unpack(results, 1, results.n)
end

--- The error that act(root) raises, as text.
function M.raised(act, options)
  return M.play(function(root, message)
    local ok, err = pcall(act, root, message)
    assert(not ok, "nothing was raised")
    return tostring(err)
  end, options)
end

--- How often a text occurs in another.
function M.count(text, part)
  local count, from = 0, 1
  while true do
    local first, last = text:find(part, from, true)
    if not first then
      return count
    end
    count, from = count + 1, last + 1
  end
end

--- The one message that matches the filter and all of `fields`.
function M.message(s, filter, fields)
  local found
  for _, message in ipairs(s:messages(filter)) do
    local fits = true
    for name, value in pairs(fields or {}) do
      fits = fits and message[name] == value
    end
    if fits then
      assert(not found, "more than one message fits")
      found = message
    end
  end
  return assert(found, "no message fits")
end

--- Why a message ended, as an object.
function M.reason(message)
  return message.error
end

local COUNTS = { "sent", "processed", "pending", "expired", "dead", "dropped", "cancelled" }

--- The counters of the law of messages, by name.
function M.counts(s)
  local stats, counts = s:stats(), {}
  for _, name in ipairs(COUNTS) do
    counts[name] = stats[name]
  end
  return counts
end

--- Whether sent = processed + pending + expired + dead + dropped + cancelled, by the
-- counters and by the messages themselves.
function M.law_holds(s)
  local counts, listed = M.counts(s), {}
  local sum = counts.processed + counts.pending + counts.expired + counts.dead + counts.dropped
    + counts.cancelled
  local messages = s:messages()
  for _, message in ipairs(messages) do
    listed[message.status] = (listed[message.status] or 0) + 1
  end
  local is_same = #messages == counts.sent
  for _, name in ipairs({ "processed", "expired", "dead", "dropped", "cancelled" }) do
    is_same = is_same and (listed[name] or 0) == counts[name]
  end
  return counts.sent == sum and is_same, json.encode(counts) .. " " .. json.encode(listed)
end

local function contacts_of(s, id)
  local lines = {}
  for _, contact in ipairs(s:contacts(id)) do
    lines[#lines + 1] = contact.id .. " " .. contact.source
  end
  table.sort(lines)
  return lines
end

-- Without the line where each agent waits: a start knows it only once the activation has been
-- run again.
local function waits_of(s)
  local waits = s:waits()
  for _, wait in ipairs(waits) do
    wait.where = nil
  end
  return waits
end

--- The outcome of a society, without what may differ from one order of events to another:
-- counters, agents with state and contacts, messages as a multiset.
function M.outcome(s)
  local agents, messages = {}, {}
  for _, agent in ipairs(s:agents()) do
    agents[agent.id] = {
      role = agent.role.id, parent = agent.parent, state = agent.state, status = agent.status,
      queue_length = agent.queue_length, contacts = contacts_of(s, agent.id),
    }
  end
  for _, m in ipairs(s:messages()) do
    messages[#messages + 1] = json.encode({ m.from, m.to, m.type, m.payload, m.status, m.hops })
  end
  table.sort(messages)
  return { counts = M.counts(s), agents = agents, messages = messages, waits = waits_of(s) }
end

--- Agents `a` and `b`, which accept everything, under these policies by kind.
function M.pair(policies, settings)
  local s = M.troupe({ a = function() end, b = function() end }, settings)
  for kind, policy in pairs(policies) do
    s:policy(kind, policy)
  end
  return s
end

--- The ids of an agent's contacts, sorted.
function M.contact_ids(s, id)
  local ids = {}
  for _, contact in ipairs(s:contacts(id)) do
    ids[#ids + 1] = contact.id
  end
  table.sort(ids)
  return ids
end

return M
