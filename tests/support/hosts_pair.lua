--- hosts_pair: two real hosts, alpha and beta, joined through a private Redis server, for the
-- end-to-end specs of links.
--
--     local pair = hosts_pair.open(place)      -- Redis runs; alpha.lua and beta.lua are written
--     pair:start("alpha"); pair:start("beta"); pair:wait_for("up", "up")
--     pair:send("alpha", 1); pair:arrives("beta", 1)
--     pair:close()

local json = require("society.json")
local program = require("program")
local redis = require("redis")

local M = {}

-- Root keeps the number of the last report, and what did not follow the one before.
local APP = [[
local society = require("society")
society.config { name = "duo" }
society.root {
  general = function() return { text = "here" } end,
  status_report = function(root, message)
    local last = root.state.last or 0
    root.state.last = message.payload.number
    if message.payload.number ~= last + 1 then
      root.state.fault = ("%d after %d"):format(message.payload.number, last)
    end
  end,
}
]]

local PEERS = { alpha = "beta", beta = "alpha" }

local Pair = {}
Pair.__index = Pair

--- The command that runs a host from the directory `state` (its name unless given).
function Pair:command(name, state, app)
  return ("run %s --state %s --redis %s --host %s --peers %s"):format(app or name .. ".lua",
    state or name, self.server.url, name, PEERS[name])
end

--- Starts a host and waits until it answers.
function Pair:start(name, state)
  self.hosts[state or name] = self.place:start_ready(self:command(name, state), state or name)
end

--- Ends the host that runs from a directory.
function Pair:kill(state)
  self.hosts[state]:kill("KILL")
  self.hosts[state]:wait()
end

function Pair:stop(state)
  self.hosts[state]:kill("TERM")
  assert(self.hosts[state]:wait().code == 0)
end

--- The link of the host that runs from a directory.
function Pair:link(state)
  return program.rows(self.place:run("inspect links --json --state " .. state))[1] or {}
end

--- Waits until the links of both hosts have these states.
function Pair:wait_for(alpha, beta)
  program.wait_for(alpha .. " and " .. beta, function()
    return self:link("alpha").state == alpha and self:link("beta").state == beta
  end)
end

--- How often an alert of that type about that host (nil: its own) was raised.
function Pair:alerts(state, kind, host)
  local count = 0
  for _, row in ipairs(program.rows(self.place:run(
    "inspect messages --type alert --json --state " .. state))) do
    if row.payload.alert_type == kind and row.payload.host == host and row.to == "root" then
      count = count + 1
    end
  end
  return count
end

--- Has the user of a host send the root of the other one a report.
function Pair:send(name, number)
  local result = self.place:run(("call send --state %s %s"):format(name, program.quote(json.encode({
    to = "root@" .. PEERS[name], type = "status_report",
    payload = { text = "x", number = number } }))))
  assert(result.code == 0, result.err)
end

--- The state of the root of the host that runs from a directory.
function Pair:root(state)
  local rows = program.rows(self.place:run("inspect agent root --json --state " .. state))
  return rows[1] and rows[1].state or {}
end

--- Waits until a host has taken that report.
function Pair:arrives(name, number)
  program.wait_for(("report %d at %s"):format(number, name), function()
    return self:root(name).last == number
  end)
end

function Pair:close()
  for _, running in pairs(self.hosts) do
    if not running:code() then
      running:kill("KILL")
      running:wait()
    end
  end
  if not self.server.running:code() then
    self.server:stop()
  end
end

--- Opens a pair; `server` unless it is to be a private one, with `url`, `running` and `stop`.
function M.open(place, server)
  place:write("alpha.lua", APP)
  place:write("beta.lua", APP)
  return setmetatable({ place = place, hosts = {}, server = server or redis.start(place) }, Pair)
end

return M
