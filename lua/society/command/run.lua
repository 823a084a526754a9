--- society run: an app, for real.

local arguments = require("society.cli.arguments")
local output = require("society.cli.output")
local program = require("society.program")

local LEVELS = { "debug", "info", "warn", "error", "none" }

local M = {
  summary = "run an app",
  words = "APP.lua",
  min = 1, max = 1,
  options = {
    arguments.state,
    { "fresh", text = "start over; the old state is moved to DIR/previous" },
    { "retry-main", text = "run main from its start, if it has not finished" },
    arguments.policy,
    arguments.set,
    arguments.json,
    { "quiet", text = "log only warnings and errors" },
    { "http", value = "[HOST:]PORT",
      text = "listen for HTTP and run on after main; 0: a free port" },
    { "http-open", text = "no token is needed; on loopback only, for tests and demos" },
    { "insecure", text = "listen beyond loopback without TLS" },
    { "web", value = "DIR", text = "the files of the page", completes = "<directory>" },
    { "once", text = "with --http: end when main has ended" },
    { "log", value = "LEVEL", text = table.concat(LEVELS, ", "), completes = LEVELS },
  },
  rest = "arguments",
  completes = { "<lua>" },
  example = "society run hello.lua --state /var/lib/hello --policy contacts=open",
}

-- The command that continues the run.
local function again(given)
  local words = output.words("society", "run", given.words[1], "--state", given.state,
    { "--policy", given.policy }, { "--set", given.set },
    { "--http", given.http and { given.http } or {} })
  return #given.rest == 0 and words or words .. " -- " .. output.words(table.unpack(given.rest))
end

local function is_level(name)
  for _, level in ipairs(LEVELS) do
    if level == name then
      return true
    end
  end
  return false
end

function M.run(given)
  local code = arguments.check_pairs(M, given.policy, arguments.policy)
    or arguments.check_pairs(M, given.set, arguments.set)
  if code then
    return code
  end
  given.log = given.log or (given.quiet and "warn" or "info")
  if not is_level(given.log) then
    return arguments.complain(M, "--log expects %s", table.concat(LEVELS, ", "))
  end
  given.app = given.words[1]
  given.again = again(given)
  return program.run(given)
end

return M
