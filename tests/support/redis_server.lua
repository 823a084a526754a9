--- redis_server: a private Redis server on loopback, for the end-to-end specs.
--
--     local redis_server = require("redis_server")
--     local server = redis_server.open(place)      -- runs; server.port, server.url
--     server:call("LPUSH list a b")         -- as redis-cli prints it
--     server:json("HGETALL hash")           -- the same, decoded
--     server:stop(); server:start()         -- what it held is gone
--     server:close()

local json = require("society.json")
local program = require("program")

local M = {}

local Server = {}
Server.__index = Server

-- Prints a port that the system gave. A connection to it has ended on this side, so for a minute
-- the system gives it to nobody else, but lets a server that names it have it.
local FREE_PORT = [[
import socket
listener = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(listener.getsockname())
accepted, _ = listener.accept()
listener.close()
accepted.close()
client.recv(1)
print(client.getpeername()[1])
]]

--- A port that nobody uses.
function M.free_port(place)
  return tonumber(place:shell("python3 -c " .. program.quote(FREE_PORT)).out)
end

--- Starts a server in a place; `options` are more options of redis-server, `login` is
-- USER:PASSWORD where it asks for one.
function M.open(place, options, login)
  local server = setmetatable({ place = place, options = options or "", login = login }, Server)
  server.port = M.free_port(place)
  server.url = "redis://127.0.0.1:" .. server.port
  server:start()
  return server
end

function Server:start()
  local society = self.place.program
  self.place.program = "redis-server"
  self.running = self.place:start(("--port %d --bind 127.0.0.1 --save '' --appendonly no "
    .. "--dir . %s"):format(self.port, self.options))
  self.place.program = society
  program.wait_for("Redis", function()
    return self:call("PING"):find("PONG", 1, true)
  end)
end

--- Ends it by a signal, KILL by default.
function Server:stop(signal)
  self.running:kill(signal or "KILL")
  self.running:wait()
end

--- The same server, spoken to as another user.
function Server:as(login)
  return setmetatable({ place = self.place, port = self.port, url = self.url, login = login },
    Server)
end

function Server:ask(options, command)
  local user, password = (self.login or ""):match("^(.*):(.*)$")
  local login = user and ("--no-auth-warning --user %s --pass %s"):format(user, password) or ""
  return self.place:shell(("printf '%%s\\n' %s | redis-cli -p %d %s %s"):format(
    program.quote(command), self.port, login, options)).out
end

--- What redis-cli prints. Words are quoted as redis-cli reads them from a pipe.
function Server:call(command)
  return self:ask("--no-raw", command)
end

--- The same decoded.
function Server:json(command)
  return json.decode(self:ask("--json", command))
end

--- Quotes a value as a word of a command: a table as JSON.
function M.word(value)
  local text = type(value) == "table" and json.encode(value) or tostring(value)
  return '"' .. text:gsub('[\\"]', "\\%0"):gsub("\n", "\\n") .. '"'
end

function Server:push(id, message)
  return self:call(("LPUSH helix:queue:%s %s"):format(id, M.word(message)))
end

function Server:add(key, message)
  return self:call(("XADD %s * message %s"):format(key, M.word(message)))
end

--- The messages of a stream, decoded.
function Server:stream(key)
  local list = {}
  for _, entry in ipairs(self:json(("XRANGE %s - +"):format(key)) or {}) do
    for i = 1, #entry[2], 2 do
      if entry[2][i] == "message" then
        list[#list + 1] = json.decode(entry[2][i + 1])
      end
    end
  end
  return list
end

--- The messages of a list, oldest first, decoded.
function Server:queue(id)
  local list = {}
  for _, text in ipairs(self:json(("LRANGE helix:queue:%s 0 -1"):format(id)) or {}) do
    table.insert(list, 1, json.decode(text))
  end
  return list
end

--- Waits until a stream has `count` messages and returns them.
function Server:await(key, count)
  return program.wait_for(("%d messages in %s"):format(count, key), function()
    local list = self:stream(key)
    return #list >= count and list
  end)
end

--- Waits for a message of a stream that fits and returns it.
function Server:find(key, fits)
  return program.wait_for("a message in " .. key, function()
    for _, message in ipairs(self:stream(key)) do
      if fits(message) then
        return message
      end
    end
  end)
end

--- Waits for the reply to a request.
function Server:reply(correlation_id)
  return self:await("reply:" .. correlation_id, 1)[1]
end

function Server:close()
  self:stop()
end

return M
