--- society policy: swaps policies of a running society, or lists them.

local arguments = require("society.cli.arguments")
local ask = require("society.cli.ask")
local json = require("society.json")
local output = require("society.cli.output")
local program = require("society.program")

local M = {
  summary = "swap policies of a running society, or list them",
  words = "[KIND=NAME]…",
  max = 64,
  options = { arguments.state, arguments.json },
  notes = "A NAME that contains / or .lua is a path. Either all policies are swapped or none. They "
    .. "stay in force at later starts and override --policy and the app; KIND= ends that.",
  completes = { rest = arguments.offer("policies") },
  example = "society policy contacts=open supervision=./patient.lua",
}

-- A path is meant from where the command is given. Returns it in full, or a name as it is; nil
-- if there is no such file.
local function complete(name)
  if not name:find("/", 1, true) and not name:find(".lua", 1, true) then
    return name
  end
  local path = program.complete_path(name)
  if not path then
    program.complain("there is no file " .. name)
  end
  return path
end

-- Swaps all policies, or none, and returns the exit code.
local function swap(given, policies)
  local list, trouble, text =
    program.ask(given.state, ask.request("policy", { policies = policies }))
  if not list then
    program.complain(trouble == "refused" and json.decode(text).message or text)
    return arguments.FAILED
  end
  if given.json then
    output.print_lines(list)
  else
    for row in program.rows(list) do
      print(("%s: %s %s"):format(program.cells(row, { "kind", "name", "hash" })))
    end
  end
  return arguments.DONE
end

local function list_policies(given)
  given.words = { "policies" }
  return require("society.command").find("inspect").run(given)
end

-- The policies given, names by kind; or nil and an exit code.
local function read_policies(given)
  local policies = {}
  for _, word in ipairs(given.words) do
    local kind, name = word:match("^([^=]+)=(.*)$")
    if not kind then
      return nil, arguments.complain(M, "expected KIND=NAME, not '%s'", word)
    elseif policies[kind] then
      return nil, arguments.complain(M, "%s is given twice", kind)
    end
    policies[kind] = complete(name)
    if not policies[kind] then
      return nil, arguments.FAILED
    end
  end
  return policies
end

function M.run(given)
  local policies, code = read_policies(given)
  if not policies then
    return code
  end
  local _, trouble = program.ask(given.state, ask.request("policies"))
  if trouble == "no_such_file" then
    program.complain(("no society is running in %s; start it with: society run APP.lua --policy "
      .. "KIND=NAME (society inspect policies shows the last ones)"):format(given.state))
    return arguments.FAILED
  end
  if #given.words == 0 then
    return list_policies(given)
  end
  return swap(given, policies)
end

return M
