--- society.cli.offers: values that completion offers, from what a society has.
--
-- Each function returns a function for `completes` (society.cli.arguments): it gets the words
-- before and the state directory. Nothing is said if there is no society.

local ask = require("society.cli.ask")
local json = require("society.json")
local program = require("society.program")

local ROWS_MAX = 200 -- looked at for values

local M = {}

-- The rows of a list, decoded, of a society that runs or not.
local function rows_of(state, op, members)
  local request = ask.request(op, members)
  local list, name = program.ask(state, request)
  list = list or name == "no_such_file" and program.ask_stopped(state, request)
  return list and json.decode(list) or {}
end

local function add_new(list, seen, word)
  if type(word) == "string" and word ~= "" and not seen[word] then
    seen[word] = true
    list[#list + 1] = word
  end
end

--- Values of these members in the latest rows of a subject, in order of the alphabet.
-- `take(row)`: tells which rows count.
function M.values(op, names, take)
  return function(words, state)
    local list, seen = {}, {}
    for _, row in ipairs(rows_of(state, op, { limit = op ~= "agents" and ROWS_MAX or nil })) do
      for _, name in ipairs(not (take and not take(row, words)) and names or {}) do
        add_new(list, seen, row[name])
      end
    end
    table.sort(list)
    return list
  end
end

-- The codes of a dead letter's error, as the filter `reason` takes them.
local function letter_code(row)
  return type(row.error) == "table" and row.error.error or nil
end

--- The codes that dead letters ended with.
function M.reasons(_, state)
  local list, seen = {}, {}
  for _, row in ipairs(rows_of(state, "dead_letters", { limit = ROWS_MAX })) do
    add_new(list, seen, letter_code(row))
  end
  table.sort(list)
  return list
end

--- NAME=VALUE for the filters of dead letters, with the values that letters have.
function M.letter_filters(names)
  return function(_, state)
    local list, seen = { "all" }, {}
    local function add(name, value)
      add_new(list, seen, type(value) == "string" and name .. "=" .. value or nil)
    end
    for _, row in ipairs(rows_of(state, "dead_letters", { limit = ROWS_MAX })) do
      add("agent", row.from)
      add("agent", row.to)
      add("from", row.from)
      add("to", row.to)
      add("type", row.type)
      add("reason", letter_code(row))
      add("task", row.task_id)
      add("correlation", row.correlation_id)
    end
    for _, name in ipairs(names) do
      list[#list + 1] = name .. "="
    end
    return list
  end
end

--- The options of the open item that the first word names.
function M.choices(words, state)
  local options = {}
  for _, row in ipairs(rows_of(state, "inbox", {})) do
    if words[2] and row.id:sub(1, #words[2]) == words[2] then
      table.move(row.options or {}, 1, #(row.options or {}), #options + 1, options)
    end
  end
  return options
end

--- The names of the tokens, behind `remove`.
function M.tokens(words, state)
  local text = words[1] == "remove" and program.token_list(state)
  local names = {}
  for index, row in ipairs(text and json.decode(text) or {}) do
    names[index] = row.name
  end
  return names
end

-- The names of the policies of one kind: the app's, too, while the society runs.
local function policy_names(kind, state)
  local list = state and program.ask(state, ask.request("policy_kind", { kind = kind }))
  return list and json.decode(list)[1].names or json.decode(program.policy_names(kind))
end

--- KIND=NAME for every policy there is.
function M.policies(_, state)
  local pairs_found = {}
  for _, kind in ipairs(program.kinds) do
    for _, name in ipairs(policy_names(kind, state)) do
      pairs_found[#pairs_found + 1] = kind .. "=" .. name
    end
    pairs_found[#pairs_found + 1] = kind .. "="
  end
  return pairs_found
end

--- KEY= for the settings of society.config.
function M.settings()
  local names = {}
  for index, name in ipairs(program.settings) do
    names[index] = name .. "="
  end
  return names
end

return M
