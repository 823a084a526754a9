--- unused: scripted answers that no model call has used.

-- Adds the answers of a list after the first `used`.
local function add(found, list, used, of)
  for turn = used + 1, #list do
    found[#found + 1] = { of = of, turn = turn, answer = list[turn] }
  end
end

-- The number of answers used by each agent, and in total.
local function count(usage)
  local calls, total = {}, 0
  for _, row in ipairs(usage) do
    calls[row.agent] = (calls[row.agent] or 0) + row.calls
    total = total + row.calls
  end
  return calls, total
end

--- Searches llm.answers, a list or lists by agent or role; not a function.
-- @tparam table settings of society.config{ llm = … }
-- @tparam table births society.activity{ type = "spawned" }, which includes ended agents
-- @tparam table usage society.usage()
-- @treturn table list of { of?, turn, answer }
return function(settings, births, usage)
  local answers, found, used = settings.answers, {}, {}
  if type(answers) ~= "table" then
    return found
  end
  local calls, total = count(usage)
  add(found, answers, total)
  for _, birth in ipairs(births) do -- a list of a role is each agent's of it, from its start
    local own = answers[birth.agent] and birth.agent or birth.detail
    used[own] = math.max(used[own] or 0, calls[birth.agent] or 0)
  end
  for own, list in pairs(answers) do
    if type(own) == "string" and type(list) == "table" then
      add(found, list, used[own] or 0, own)
    end
  end
  return found
end
