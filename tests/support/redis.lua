--- redis: a private Redis server for the end-to-end specs, on a socket in their directory.
--
--     local redis = require("redis")
--     local server = redis.start(place)   -- or redis.is_there() is false
--     place:run("run app.lua --redis " .. server.url .. " …")
--     server:stop()

local program = require("program")

local M = {}

local Server = {}
Server.__index = Server

--- Tells whether the server is installed.
function M.is_there()
  return (os.execute("command -v redis-server >/dev/null 2>&1"))
end

--- Starts a server that stores nothing, and waits until it answers.
function M.start(place)
  local server = setmetatable({
    place = place,
    socket = place.path .. "/redis.sock",
    url = "unix://" .. place.path .. "/redis.sock",
  }, Server)
  server:restart()
  return server
end

--- Starts it again after a kill: what it held is gone.
function Server:restart()
  local place = self.place
  local built = place.program
  place.program = "redis-server"
  self.running = place:start(("--port 0 --unixsocket %s --save '' --appendonly no"):format(
    program.quote(self.socket)))
  place.program = built
  program.wait_for("Redis", function()
    return self:call("PING").out:find("PONG", 1, true)
  end)
end

--- Runs a command of redis-cli.
function Server:call(command)
  return self.place:shell(("redis-cli -s %s %s"):format(program.quote(self.socket), command))
end

--- Ends it by a signal, KILL unless given.
function Server:stop(signal)
  self.running:kill(signal or "KILL")
  self.running:wait()
end

return M
