--- web: a society with its HTTP door, for the end-to-end specs.
--
--     local door = web.start(place, "run app.lua --http 0")
--     local answer = door:curl("-d '{}' /api/v1/intake")   -- { status, headers, body, json }
--     door:stop()
--
-- Clients are not ours: curl, and Python's standard library for many requests at once.

local json = require("society.json")
local program = require("program")
local tree = require("tree")

local M = {}

local Door = {}
Door.__index = Door

--- Starts "run …" with a door and waits until it listens. `state` as in --state.
function M.start(place, arguments, state, environment)
  local path = (state or ".society")
  place:shell("rm -f " .. path .. "/http.url") -- one that was left by a kill is no sign of life
  local running = place:start(arguments, environment)
  local url = program.wait_for("the HTTP door", function()
    assert(not running:code(), "it has ended: " .. running:err())
    return (place:read(path .. "/http.url") or ""):match("^(%S+)\n")
  end)
  return setmetatable({
    place = place, running = running, state = path, url = url,
    host = url:match("//(.*)$"), port = tonumber(url:match(":(%d+)$")),
    token = place:read(path .. "/http.token"):match("%S+"),
  }, Door)
end

-- The answer that curl -i has printed.
local function parse(text)
  local answer = { headers = {} }
  local head, body = text:match("^(.-)\r\n\r\n(.*)$")
  assert(head, "no answer: " .. text)
  answer.status = tonumber(head:match("^HTTP/%S+ (%d+)"))
  for name, value in head:gmatch("\r\n([^:\r]+): *([^\r]*)") do
    answer.headers[name:lower()] = value
  end
  answer.body = body
  if (answer.headers["content-type"] or ""):find("application/json", 1, true) then
    answer.json = json.decode(body)
  end
  return answer
end

--- Runs curl with these arguments, of which the last is a path. `token` false: none; nil: the
-- owner's.
function Door:curl(arguments, token)
  local options, path = arguments:match("^(.-)(%S+)$")
  local who = token == false and ""
    or "-H " .. program.quote("Authorization: Bearer " .. (token or self.token)) .. " "
  -- A large body waits for the society to ask for it, however slow the machine is.
  local result = self.place:shell(("curl -sS -i -g --expect100-timeout 300 %s%s%s"):format(who,
    options, program.quote(self.url .. path)))
  assert(result.code == 0, result.err)
  return parse(result.out)
end

--- Posts a table as JSON.
function Door:post(path, body, token, more)
  self.place:write(".body", json.encode(body))
  return self:curl(("%s -H 'Content-Type: application/json' --data-binary @.body %s"):format(
    more or "", path), token)
end

-- Hands a list to a client in Python and returns its answers.
local function hand_over(door, client, requests)
  local lines = {}
  for index, request in ipairs(requests) do
    lines[index] = json.encode(request)
  end
  door.place:write(".requests", table.concat(lines, "\n") .. "\n")
  local result = door.place:shell(("python3 %s 127.0.0.1 %d < .requests"):format(
    program.quote(tree.path("tests/support/" .. client)), door.port))
  assert(result.code == 0, result.err)
  local answers = program.rows(result)
  assert(#answers == #requests)
  return answers
end

--- Sends a list of requests, { method, path, headers, body? }, and returns the answers.
function Door:many(requests)
  return hand_over(self, "http_client.py", requests)
end

--- Sends bytes, { send = { … }, shut? } for each connection; { statuses, text, left } come back.
function Door:raw(requests)
  return hand_over(self, "raw_client.py", requests)
end

--- Ends the society and returns { code, out, err }.
function Door:stop()
  if not self.running:code() then
    self.running:kill("TERM")
  end
  return self.running:wait()
end

return M
