--- society run: an app, for real.

local arguments = require("society.cli.arguments")
local json = require("society.json")
local output = require("society.cli.output")
local program = require("society.program")
local settings = require("society.cli.settings")

local LEVELS = settings.LEVELS

local M = {
  summary = "run an app",
  words = "APP.lua",
  min = 1, max = 1,
  options = {
    arguments.state,
    { "fresh", text = "start over; the old state is moved to DIR/previous",
      is_order = true },
    { "retry-main", text = "run main from its start, if it has not finished",
      is_order = true },
    { "accept-changes", text = "park waiting activations that a changed script does not fit",
      is_order = true },
    arguments.policy,
    arguments.set,
    arguments.json,
    { "quiet", text = "log only warnings and errors" },
    { "http", value = "[HOST:]PORT",
      text = "listen for HTTP and run on after main; 0: a free port" },
    { "http-open", text = "no token is needed; on loopback only, for tests and demos" },
    { "insecure", text = "listen beyond loopback without TLS" },
    { "web", value = "DIR", text = "the files of the page", completes = "<directory>" },
    { "redis", value = "URL",
      text = "let plain Redis clients take part; with --host: join other hosts" },
    { "host", value = "NAME", text = "the name of this host among them" },
    { "peers", value = "A,B", text = "the names of the others" },
    { "once", text = "with --http or --redis: end when main has ended" },
    { "log", value = "LEVEL", text = table.concat(LEVELS, ", "), completes = LEVELS },
  },
  rest = "arguments",
  is_configured = true,
  completes = { "<lua>" },
  example = "society run hello.lua --state /var/lib/hello --policy contacts=open",
}

-- An address of Redis as it may be shown: its password stands in no output.
local function shown(url)
  return (url:gsub("^(%a+://[^:/@]*):.*@", "%1:***@"))
end

-- A flag with its value, if it has one, as output.words takes it.
local function flag(name, value)
  return { name, value and { value } or {} }
end

-- The command that continues the run.
local function again(given)
  local words = output.words("society", "run", given.words[1], "--state", given.state,
    { "--policy", given.policy }, { "--set", given.set },
    flag("--http", given.http), flag("--redis", given.redis and shown(given.redis)),
    flag("--host", given.host), flag("--peers", given.peers), given.once and "--once" or nil)
  return #given.rest == 0 and words or words .. " -- " .. output.words(table.unpack(given.rest))
end

-- The flags about other hosts as a setting, KEY=VALUE.
local function hosts_of(given)
  local hosts = { redis = given.redis, name = given.host }
  for name in (given.peers or ""):gmatch("[^,]+") do
    hosts.peers = hosts.peers or json.array({})
    table.insert(hosts.peers, name)
  end
  return next(hosts) and "hosts=" .. json.encode(hosts)
end

-- Whether it can be the name of a host.
local function is_host(name)
  return #name <= 32 and name:find("^[A-Za-z0-9][A-Za-z0-9_.-]*$") ~= nil
end

-- Checks the names of hosts. Returns an exit code after a line about what is wrong.
local function check_names(given)
  local seen = {}
  if given.host and not is_host(given.host) then
    return arguments.complain(M, "--host: '%s' is no name of a host: up to 32 characters of "
      .. "A-Z a-z 0-9 _ . - that begin with a letter or digit", given.host)
  end
  for name in ((given.peers or "") .. ","):gmatch("([^,]*),") do
    if given.peers and not is_host(name) then
      return arguments.complain(M, "--peers: '%s' is no name of a host; write A,B without spaces",
        name)
    elseif seen[name] then
      return arguments.complain(M, "--peers names '%s' twice", name)
    elseif given.peers and name == given.host then
      return arguments.complain(M, "--peers names the other hosts, not this one ('%s')", name)
    end
    seen[name] = true
  end
  return nil
end

local function check_kinds(given)
  for _, text in ipairs(given.policy) do
    local kind = text:match("^[^=]+")
    if not settings.is_one_of(program.kinds, kind) then
      return arguments.complain(M, "%s", settings.unknown("policy kind", kind, program.kinds))
    end
  end
  return nil
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
    or arguments.check_pairs(M, given.set, arguments.set) or check_names(given)
    or check_kinds(given)
  if code then
    return code
  end
  given.log = given.log or (given.quiet and "warn" or "info")
  if not is_level(given.log) then
    return arguments.complain(M, "--log expects %s", table.concat(LEVELS, ", "))
  end
  given.app = given.words[1]
  given.again = again(given)
  local hosts = hosts_of(given)
  if hosts then
    table.insert(given.set, hosts)
  end
  return program.run(given)
end

return M
