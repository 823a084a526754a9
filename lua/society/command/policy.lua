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
  notes = "A NAME that contains / or .lua is a path.",
  completes = { rest = arguments.policy_kinds },
  example = "society policy contacts=open supervision=./patient.lua",
}

-- Swaps one policy and returns the exit code. A path is meant from where the command is given.
local function swap(given, kind, name)
  if name:find("/", 1, true) or name:find(".lua", 1, true) then
    local path = program.complete_path(name)
    if not path then
      program.complain("there is no file " .. name)
      return arguments.FAILED
    end
    name = path
  end
  local list, trouble, text =
    program.ask(given.state, ask.request("policy", { kind = kind, name = name }))
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

function M.run(given)
  local pairs_given = {}
  for index, word in ipairs(given.words) do
    local kind, name = word:match("^([^=]+)=(.+)$")
    if not kind then
      return arguments.complain(M, "expected KIND=NAME, not '%s'", word)
    end
    pairs_given[index] = { kind, name }
  end
  local _, trouble = program.ask(given.state, ask.request("policies"))
  if trouble == "no_such_file" then
    program.complain(("no society is running in %s; start it with: society run APP.lua --policy "
      .. "KIND=NAME (society inspect policies shows the last ones)"):format(given.state))
    return arguments.FAILED
  end
  if #pairs_given == 0 then
    return list_policies(given)
  end
  local code = arguments.DONE
  for _, pair in ipairs(pairs_given) do
    if swap(given, pair[1], pair[2]) ~= arguments.DONE then
      code = arguments.FAILED
    end
  end
  return code
end

return M
