--- society.cli.remote: a table `society` that speaks to a running society.
--
-- Each operation is a function of that name: `society.messages{ agent = "root" }`. Its
-- parameters are a table; the one that is needed, or else the first, may be given alone,
-- before the others: `society.pause("planner", { subtree = true })`. As in an app, what is
-- refused is `nil, err`; wrong parameters raise.

local ask = require("society.cli.ask")
local json = require("society.json")
local program = require("society.program")

local M = {}

-- Operations that answer one thing rather than a list.
local SINGLE = {
  stats = true, agent = true, context = true, tree = true, message = true, terminate = true,
  redeliver = true, drop = true, ack = true, pause = true, resume = true, send = true,
  request = true, intake = true, item = true, decide = true, decide_feature = true,
  replay = true, replay_result = true, policy_kind = true, registries = true, graph = true,
  dot = true, mermaid = true,
}

-- Lists that a society gives by pages.
local PAGE_ROWS = 1000
local LONG = { activity = true, dead_letters = true, messages = true, tasks = true }

-- The parameter that may be given without a name.
local function first_param(operation)
  for _, param in ipairs(operation.params) do
    if param.needed then
      return param.name
    end
  end
  return operation.params[1] and operation.params[1].name
end

local function check_names(operation, members)
  local known = {}
  for index, param in ipairs(operation.params) do
    known[param.name] = true
    known[param.alias or param.name] = true
    known[index] = param.name
  end
  for name in pairs(members) do
    if not known[name] then
      error(("society.%s has no parameter '%s'; %s"):format(operation.name, tostring(name),
        #known == 0 and "it has none" or ("its parameter%s %s"):format(
          #known == 1 and " is" or "s are", table.concat(known, ", "))), 4)
    end
  end
end

-- The parameters of a call as one table.
local function read_params(operation, first, more)
  local members = {}
  for name, value in pairs(type(first) == "table" and more == nil and first or more or {}) do
    members[name] = value
  end
  if first ~= nil and (type(first) ~= "table" or more ~= nil) then
    local name = first_param(operation)
    if not name then
      error(("society.%s has no parameters"):format(operation.name), 3)
    end
    members[name] = first
  end
  check_names(operation, members)
  return members
end

local function read_rows(list, rows)
  for row in program.rows(list) do
    rows[#rows + 1] = json.decode(row)
  end
  return rows
end

-- An error as an app gets it; a society that is gone raises.
local function fail(state, name, text)
  if name == "refused" then
    return nil, json.decode(text)
  end
  if name == "no_such_file" then
    text = ("no society is running in %s"):format(state)
  end
  error(text, 0)
end

-- Reads all pages of a list that grows with time, up to the last line there was at first.
local function call_long(state, operation, members)
  local rows, last = {}, nil
  members.after, members.limit = members.after or 0, PAGE_ROWS
  while members.after do
    local list, following, text = program.ask_page(state, ask.request(operation.name, members))
    if not list then
      return fail(state, following, text)
    end
    read_rows(list, rows)
    last = last or text
    members.after = following > 0 and following < last and following or nil
  end
  return rows
end

local function call(state, operation, members)
  if LONG[operation.name] and not members.limit then
    return call_long(state, operation, members)
  end
  local list, name, text = program.ask(state, ask.request(operation.name, members))
  if not list then
    return fail(state, name, text)
  end
  local rows = read_rows(list, {})
  if SINGLE[operation.name] then
    return rows[1]
  end
  return rows
end

--- Makes the table for the society in the directory `state`. `shown[result]` is then the name
-- of the operation that a list came from.
function M.new(state, shown)
  local remote = {}
  for _, operation in ipairs(program.operations) do
    remote[operation.name] = function(first, more)
      local result, err = call(state, operation, read_params(operation, first, more))
      if type(result) == "table" and not SINGLE[operation.name] then
        shown[result] = operation.name
      end
      return result, err
    end
  end
  --- A request from the user's end, as society.dispatch in an app.
  function remote.dispatch(id, payload)
    return remote.request({ to = id, payload = payload })
  end
  return remote
end

return M
