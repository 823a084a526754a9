--- outpost: societies with outside agents, for specs.

local scene = require("scene")

local M = {}

--- A society in which root has spawned outside agents of these ids. `acts.root(root,
-- message)` is what root does with its messages; `heard` collects them. Without
-- `options.policies` the default vocabularies are in force.
function M.new(ids, acts, options)
  local heard = {}
  options = options or {}
  acts = acts or {}
  options.app = function(s)
    s:role({ id = "worker", name = "外部", behaviour = "external" })
    s:role({ id = "clerk", name = "文员", behaviour = acts.clerk or function() end })
    s:root(scene.all(function(root, message)
      if message.payload.enter then
        for _, id in ipairs(message.payload.enter) do
          assert(root:spawn_agent("worker", scene.brief(), { id = id }))
        end
        return
      end
      heard[#heard + 1] = message
      return acts.root and acts.root(root, message)
    end))
  end
  local s = require("society").new(options)
  scene.keep(s)
  assert(s:send("user", { to = "root", payload = { enter = ids } }))
  s:run()
  return s, heard
end

--- A message that requires an ack; returns its id.
function M.assign(s, id, task_id, fields)
  local message = { to = id, type = "task_assign", payload = { task_id = task_id } }
  for name, value in pairs(fields or {}) do
    message[name] = value
  end
  local sent = assert(s:send("root", message))
  s:run()
  return sent.messageId
end

--- What was handed out to the agent, as "attempt@ms since `start`" texts.
function M.times(s, id, start)
  local list = {}
  for i, message in ipairs(s:outside(id)) do
    list[i] = ("%d@%d%s"):format(message.attempt, message.at - start,
      message.warning and "!" or message.again and "?" or "")
  end
  return list
end

--- The events of these names in the activity, as "name@ms since `start`".
function M.events(s, names, start)
  local list = {}
  for _, entry in ipairs(s:activity()) do
    if names[entry.event] then
      list[#list + 1] = ("%s@%d"):format(entry.event, M.ms(entry.time) - start)
    end
  end
  return list
end

--- An RFC 3339 time of the virtual clock as ms since 1970.
function M.ms(time)
  local y, mo, d, h, mi, sec, ms = time:match("^(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)%.(%d+)Z$")
  local days = os.time({ year = y, month = mo, day = d, hour = 12 }) // 86400
  return ((days * 24 + h) * 60 + mi) * 60000 + sec * 1000 + tonumber(ms)
end

return M
