--- sim_fleet: `society sim` for several hosts: APP.lua@HOST APP.lua@HOST …

local arguments = require("society.cli.arguments")
local output = require("society.cli.output")
local play = require("society.fleet_play")
local program = require("society.program")

local M = {}

--- Tells whether the words of the command are apps of hosts.
function M.is_fleet(words)
  return #words > 1 or words[1]:find("@", 1, true) ~= nil
end

local UNFIT = { "json", "strict", "dump", "limit_ms", "limit_steps" }

local function read_hosts(command, given)
  local hosts = {}
  for _, word in ipairs(given.words) do
    local path, name = word:match("^(.+)@([%w_.-]+)$")
    if not path then
      return nil, arguments.complain(command, "'%s': for several hosts give APP.lua@HOST", word)
    elseif hosts[name] then
      return nil, arguments.complain(command, "there are two hosts '%s'", name)
    end
    hosts[name] = { app = path, policies = {} }
    for _, pair in ipairs(given.policy) do
      local kind, policy = pair:match("^([^=]+)=(.*)$")
      hosts[name].policies[kind] = policy
    end
  end
  return hosts
end

local function index(names)
  local known = {}
  for _, name in ipairs(names) do
    known[name] = true
  end
  return known
end

-- Returns the faults between the hosts and those within each; false: none. A crash is both: one at
-- any step, and one that lasts.
local function read_faults(command, list)
  if list == "none" then
    return {}, false
  elseif list == "default" then
    return play.faults, "default"
  end
  local between, single = index(play.faults), index(program.faults)
  local faults, within = {}, {}
  for name in list:gmatch("[^,]+") do
    if not between[name] and not single[name] then
      return nil, arguments.complain(command, "unknown fault '%s'; there are %s, and for several "
        .. "hosts %s", name, table.concat(program.faults, ", "), table.concat(play.faults, ", "))
    end
    faults[#faults + 1] = between[name] and name or nil
    within[#within + 1] = single[name] and name or nil
  end
  return faults, #within > 0 and within
end

local function show(transcripts, log)
  local names = {}
  for name in pairs(transcripts) do
    names[#names + 1] = name
  end
  table.sort(names)
  for _, line in ipairs(log) do
    print("fault " .. line)
  end
  for _, name in ipairs(names) do
    for line in transcripts[name]:gmatch("[^\n]+") do
      print(name .. " " .. line)
    end
  end
end

--- Plays the seeds `given.first` to `given.last`. Returns the exit code.
function M.run(command, given)
  for _, option in ipairs(UNFIT) do
    if given[option] then
      return arguments.complain(command, "--%s is not for several hosts", (option:gsub("_", "-")))
    end
  end
  if #given.set > 0 or #given.rest > 0 then
    return arguments.complain(command, "--set and arguments are not for several hosts")
  end
  local hosts, code = read_hosts(command, given)
  if not hosts then
    return code
  end
  local faults, within = read_faults(command, given.faults)
  if not faults then
    return within
  end
  for seed = math.tointeger(given.first), math.tointeger(given.last) do
    local fault, transcripts, log = play.play({ seed = seed, hosts = hosts, faults = faults,
      within = within or nil, quiet = given.is_many })
    if not given.is_many then
      show(transcripts, log)
    end
    if fault then
      io.stderr:write(("society: seed %d: %s\nagain: %s\n"):format(seed, fault,
        output.words(given.program, "sim", table.unpack(given.words)) .. " --seed " .. seed
          .. " --faults " .. given.faults))
      return 1
    end
  end
  if given.is_many then
    print(("%d seeds, nothing found"):format(given.last - given.first + 1))
  end
  return arguments.DONE
end

return M
