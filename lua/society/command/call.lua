--- society call: any operation of a society, by name.
--
-- What there is to call, with parameters and answers, is the table of operations that
-- core/kernel/operations/operation.h declares.

local arguments = require("society.cli.arguments")
local ask = require("society.cli.ask")
local json = require("society.json")
local output = require("society.cli.output")
local program = require("society.program")
local reference = require("society.cli.reference")

local PATIENCE_MS = 3000

local M = {
  summary = "call an operation; without one, list them",
  words = "[OP [JSON]]",
  max = 2,
  options = {
    arguments.state,
    { "key", value = "KEY",
      text = "do it once: repeated under this key, it gets the first answer" },
    { "reference", text = "print the reference of all operations, in Markdown" },
    { "routes", text = "print the reference of the HTTP routes, in Markdown" },
  },
  notes = "JSON is an object with the parameters; the answer is one JSON object per line.",
  completes = { {} },
  example = "society call pause '{\"agent\":\"planner\",\"subtree\":true}'",
}

local operations = {}
for index, operation in ipairs(program.operations) do
  operations[operation.name] = operation
  M.completes[1][index] = operation.name
end

local function print_list()
  local width = 0
  for _, operation in ipairs(program.operations) do
    width = math.max(width, #operation.name)
  end
  for _, operation in ipairs(program.operations) do
    print(("%-" .. width .. "s  %s"):format(operation.name, operation.summary))
  end
end

local function has_param(operation, name)
  for _, param in ipairs(operation.params) do
    if name == param.name or name == param.alias then
      return true
    end
  end
  return false
end

local function names_of(operation)
  local names = {}
  for index, param in ipairs(operation.params) do
    names[index] = param.name
  end
  if #names == 0 then
    return "it has none"
  end
  return (#names == 1 and "its parameter is " or "its parameters are ") .. table.concat(names, ", ")
end

-- An exit code if the parameters are no object, or have names that are unknown.
local function find_code(operation, text)
  local code = arguments.check_json(M, "what follows OP", text)
  if code then
    return code
  end
  if not text:find("^%s*{") then
    return arguments.complain(M, "the parameters must be a JSON object")
  end
  for _, member in ipairs(program.members(text)) do
    if not has_param(operation, member[1]) then
      return arguments.complain(M, "%s has no parameter '%s'; %s", operation.name, member[1],
        names_of(operation))
    end
  end
  return nil
end

-- The request: the parameters as they were given, with `id`, `op` and the key before them.
local function make_request(name, text, key)
  local inside = text:gsub("\n", " "):match("^%s*{%s*(.-)%s*}%s*$")
  return ('{"id":1,"op":"%s"%s%s%s}'):format(name,
    key and ',"idempotency_key":' .. json.encode(key) or "", inside == "" and "" or ",", inside)
end

-- How long to look for a society that does not answer yet.
local function options_of(operation, text)
  if not operation.needs_running then
    return nil
  end
  local timeout = program.member(text, "timeout_ms")
  return {
    needs_running = ("and %s needs one"):format(operation.name),
    patience_ms = tonumber(timeout) or PATIENCE_MS,
  }
end

function M.run(given)
  if given.reference then
    io.write(reference.make(program.operations))
    return arguments.DONE
  end
  if given.routes then
    io.write(reference.routes(program.routes))
    return arguments.DONE
  end
  local name, text = given.words[1], given.words[2] or "{}"
  if not name then
    print_list()
    return arguments.DONE
  end
  local operation = operations[name]
  if not operation then
    return arguments.complain(M, "unknown operation '%s'; the operations are %s", name,
      table.concat(M.completes[1], ", "))
  end
  local code = find_code(operation, text)
  if code then
    return code
  end
  local list
  list, code = ask.ask(given.state, make_request(name, text, given.key),
    options_of(operation, text))
  if not list then
    return code
  end
  output.print_lines(list)
  return arguments.DONE
end


return M
