--- server: the model server of the end-to-end specs, in a place of program.lua.
--
--     local server = require("server").start(place)
--     … server.url … server:requests() …
--     server:stop()

local json = require("society.json")
local program = require("program")
local tree = require("tree")

local M = {}

local Server = {}
Server.__index = Server

--- Starts it on a free port of loopback; with a file of a certificate and its key it uses
-- TLS. `script` is the name of another server in this folder.
function M.start(place, certificate, script)
  os.execute(("cd %s && { python3 %s requests %s >port 2>server.err & echo $! >pid; }"):format(
    program.quote(place.path),
    program.quote(tree.path("tests/support/" .. (script or "model_server.py"))),
    certificate or ""))
  local port = program.wait_for("the server", function()
    return (place:read("port") or ""):match("^(%d+)\n")
  end)
  return setmetatable({ place = place,
    url = (certificate and "https" or "http") .. "://127.0.0.1:" .. port,
    pid = place:read("pid"):match("%d+") }, Server)
end

--- What it was sent so far: a list of { method, path, headers, body }.
function Server:requests()
  local list = {}
  for line in (self.place:read("requests") or ""):gmatch("[^\n]+") do
    list[#list + 1] = assert(json.decode(line))
  end
  return list
end

--- Ends it, and returns when nobody listens any more.
function Server:stop()
  if self.pid then
    os.execute("kill " .. self.pid)
    program.wait_for("the end of the server", function()
      local file = io.open(("/proc/%s/stat"):format(self.pid))
      local text = file and file:read("a") or ""
      if file then
        file:close()
      end
      return text == "" or text:find("%) [ZX] ")
    end)
    self.pid = nil
  end
end

return M
