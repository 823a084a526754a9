--- fleets: specs about agents on several hosts.

local scene = require("scene")
local society = require("society")

local M = {}

--- A fleet of hosts (name -> app) that take every type of message.
function M.new(hosts, options)
  options = options or {}
  return scene.keep(society.new({
    seed = options.seed or 1, quiet = true, hosts = hosts, faults = options.within,
    policies = options.policies or { messages = { "any" } },
  }))
end

--- Runs a story as root of alpha, which the person asks to begin, and returns the fleet and what
-- the story returned. `options`: `alpha` (more of its app), `before` and `faults` (of the fleet,
-- before and after it has begun), `seed`, `policies`.
function M.act(story, hosts, options)
  options = options or {}
  local all = {}
  for name, app in pairs(hosts) do
    all[name] = app
  end
  function all.alpha(s)
    if options.alpha then
      options.alpha(s)
    end
    s.root {
      begin = function(root) root.state.got = story(root) or {} end,
      default = function(root, message)
        root.state.seen = root.state.seen or {}
        table.insert(root.state.seen, message.payload)
      end,
      system = function(root, message)
        root.state.told = root.state.told or {}
        table.insert(root.state.told, message.payload)
      end,
    }
  end
  local f = M.new(all, options)
  if options.before then
    f:run()
    options.before(f)
  end
  assert(f.alpha:send("user", { to = "root", type = "begin", payload = "begin" }))
  if options.faults then
    options.faults(f)
  end
  f:run()
  return f, (f.alpha.agent("root").state or {}).got
end

--- The ids of the agents of a role, sorted.
function M.ids(s, role)
  local ids = {}
  for _, agent in ipairs(s.agents()) do
    if agent.role.id == role then
      ids[#ids + 1] = agent.id
    end
  end
  table.sort(ids)
  return ids
end

--- The row with that id, or with that value of a field.
function M.find(rows, value, field)
  for _, row in ipairs(rows) do
    if row[field or "id"] == value then
      return row
    end
  end
  return nil
end

return M
