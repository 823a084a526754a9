--- listeners: agents that record what reaches them, for specs of broadcasts.

local scene = require("scene")

local M = {}

--- Messages sent minus those that ended or are pending: 0. A broadcast is one message but
-- counts as one per reader.
function M.law(s)
  local c = scene.counts(s)
  return c.sent - c.processed - c.pending - c.expired - c.dead - c.dropped - c.cancelled
end

--- A society in which everybody records in its state what it handles; root runs `do_it`.
function M.troupe(do_it, ids, settings)
  local acts = { root = do_it }
  for _, id in ipairs(ids) do
    acts[id] = function(agent, message)
      local list = agent.state.seen or {}
      list[#list + 1] = message.payload.text
      agent.state.seen = list
    end
  end
  return scene.troupe(acts, settings)
end

--- The texts that an agent has handled.
function M.seen(s, id)
  local agent = s:agent(id)
  return agent.state and agent.state.seen or {}
end

return M
