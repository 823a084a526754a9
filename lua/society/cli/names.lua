--- society.cli.names: completion of Lua names, and of ids inside quotes, for the repl.

local M = {}

local SHOWN_MAX = 100

-- The ids that may stand in a text: agents and open tasks, items and dead letters.
local function add_ids(society, add)
  for _, list in ipairs({
    { "agents", "id" }, { "tasks", "task_id" }, { "inbox", "id" }, { "dead_letters", "id" },
  }) do
    local rows = society[list[1]]({ limit = list[1] ~= "agents" and SHOWN_MAX or nil })
    for _, row in ipairs(rows or {}) do
      add(row[list[2]])
    end
  end
end

local function add_keys(value, add)
  local seen = 0
  while type(value) == "table" and seen < 8 do
    for key in pairs(value) do
      if type(key) == "string" and key:find("^[%a_][%w_]*$") then
        add(key)
      end
    end
    local meta = getmetatable(value)
    value = meta and meta.__index
    seen = seen + 1
  end
end

-- The value of a.b.c in the environment; nothing is called for it.
local function find_value(environment, path)
  local value = environment
  for name in path:gmatch("[^.:]+") do
    if type(value) ~= "table" then
      return nil
    end
    value = value[name]
  end
  return value
end

local function common_prefix(list)
  local prefix = list[1]
  for _, name in ipairs(list) do
    while name:sub(1, #prefix) ~= prefix do
      prefix = prefix:sub(1, -2)
    end
  end
  return prefix
end

-- The word being typed and what it may become.
local function find_candidates(environment, before)
  local found, seen = {}, {}
  local _, quotes = before:gsub('"', "")
  local word = quotes % 2 == 1 and before:match('"([^"]*)$')
  local path
  if not word then
    path, word = before:match("([%a_][%w_.:]*[.:])([%w_]*)$")
    word = word or before:match("([%w_]*)$")
  end
  local function add(name)
    if name:sub(1, #word) == word and not seen[name] then
      seen[name] = true
      found[#found + 1] = name
    end
  end
  if quotes % 2 == 1 then
    add_ids(environment.society, add)
  else
    add_keys(path and find_value(environment, path) or not path and environment or nil, add)
  end
  table.sort(found)
  return word, found
end

--- Completes the text before the cursor: what to insert, and the candidates to show if that
-- decides nothing.
function M.complete(environment, before)
  local word, found = find_candidates(environment, before)
  if #found == 0 then
    return nil
  end
  local insert = common_prefix(found):sub(#word + 1)
  if insert ~= "" or #found == 1 then
    return insert
  end
  return "", table.concat(found, "  ", 1, math.min(#found, SHOWN_MAX))
end

return M
