--- society sim: an app in virtual time, from a seed.

local arguments = require("society.cli.arguments")
local fleet = require("society.command.sim_fleet")
local output = require("society.cli.output")
local program = require("society.program")

local function fault_names()
  local names = { "none", "default" }
  table.move(program.faults, 1, #program.faults, 3, names)
  return names
end

local M = {
  summary = "run an app in virtual time, from a seed",
  words = "APP.lua[@HOST]...",
  min = 1, max = 16,
  options = {
    { "seed", value = "N", text = "the seed (default 1); a seed repeats a run byte for byte" },
    { "seeds", value = "A..B",
      text = "run each seed without a transcript; stop at the first that fails" },
    { "faults", value = "LIST", completes = fault_names,
      text = "what to inject: none (default with --seed), default: all of them (default with "
        .. "--seeds), or a comma-separated list of " .. table.concat(program.faults, ", ") },
    { "limit-ms", value = "N", kind = "number",
      text = "fail a seed that runs longer in virtual time (a year); 0: no limit" },
    { "limit-steps", value = "N", kind = "number",
      text = "fail a seed that takes more steps (default 5000000); 0: no limit" },
    { "strict", text = "fail a seed that ends with open tasks" },
    { "dump", value = "FILE", text = "write every row of the final store, sorted" },
    arguments.policy,
    arguments.set,
    arguments.json,
  },
  rest = "arguments",
  completes = { "<lua>" },
  example = "society sim hello.lua --seeds 1..1000\n"
    .. "society sim hello.lua --seed 7 --faults crash,lag",
}

-- A path without links and dots; of a file that does not exist, where it would be.
local function complete_path(path)
  local complete = program.complete_path(path)
  local here = not complete and path:sub(1, 1) ~= "/" and program.complete_path(".")
  return complete or (here and here .. "/" .. path) or path
end

-- A policy as it is called in `directory`: the simulation runs there, so that a path an app
-- may see is the same wherever the command was given.
local function move_policy(pair, directory)
  local kind, name = pair:match("^([^=]+=)(.*)$")
  if not name:find("/", 1, true) and not name:find(".lua", 1, true) then
    return pair
  end
  local path, base = complete_path(name), complete_path(directory)
  if #base > 1 and path:sub(1, #base + 1) == base .. "/" then
    path = "." .. path:sub(#base + 1)
  end
  return kind .. path
end

local function read_seeds(given)
  if given.seed and given.seeds then
    return arguments.complain(M, "give --seed or --seeds, not both")
  end
  if given.seeds and given.dump then
    return arguments.complain(M, "--dump needs a single --seed")
  end
  local seed = given.seed or "1"
  given.first, given.last = (given.seeds or ""):match("^(%d+)%.%.(%d+)$")
  given.is_many = given.seeds ~= nil
  if given.seeds and not given.first then
    return arguments.complain(M, "--seeds expects A..B with A <= B, not '%s'", given.seeds)
  end
  if not seed:find("^%d+$") then
    return arguments.complain(M, "--seed needs a whole number, not '%s'", seed)
  end
  given.first, given.last = given.first or seed, given.last or seed
  return nil
end

-- The command that repeats a seed, before and behind `--seed N`.
local function set_again(given)
  local after = { " --faults " .. given.faults }
  if given.limit_steps then
    after[#after + 1] = "--limit-steps " .. given.limit_steps
  end
  if given.limit_ms then
    after[#after + 1] = "--limit-ms " .. given.limit_ms
  end
  if given.strict then
    after[#after + 1] = "--strict"
  end
  local lists = output.words({ "--policy", given.policy }, { "--set", given.set })
  after[#after + 1] = lists ~= "" and lists or nil
  if #given.rest > 0 then
    after[#after + 1] = "-- " .. output.words(table.unpack(given.rest))
  end
  given.again_before = output.words(given.program, "sim", given.words[1])
  given.again_after = table.concat(after, " ")
end

function M.run(given)
  local code = arguments.check_pairs(M, given.policy, arguments.policy)
    or arguments.check_pairs(M, given.set, arguments.set) or read_seeds(given)
  if code then
    return code
  end
  given.app = given.words[1]
  given.faults = given.faults or (given.is_many and "default" or "none")
  if fleet.is_fleet(given.words) then
    return fleet.run(M, given)
  end
  set_again(given)
  local directory = given.app:match("^(.*)/[^/]*$") or "."
  for index, pair in ipairs(given.policy) do
    given.policy[index] = move_policy(pair, directory == "" and "/" or directory)
  end
  return program.sim(given)
end

return M
