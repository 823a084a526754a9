-- Who is let in: every route with every kind of token, Host and Origin.
--
-- The routes are those that the running program lists, so a new one fails here until it is
-- entered below with its scope.
-- Covers: core/bridge/http/entry.c, core/bridge/http/hosts.c

local program = require("program")
local web = require("web")

local APP = [[
local society = require("society")
society.config { web = { wrong_tokens = 1000000, connections = 1000 } }
society.main(function() end)
]]

local SCOPES = {
  ["GET /healthz"] = "none",
  ["GET /login"] = "none",
  ["GET /metrics"] = "read",
  ["GET /openapi.json"] = "read",
  ["POST /api/v1/intake"] = "write",
  ["POST /api/v1/messages"] = "write",
  ["GET /api/v1/messages"] = "read",
  ["GET /api/v1/messages/{id}"] = "read",
  ["GET /api/v1/agents"] = "read",
  ["GET /api/v1/agents/tree"] = "read",
  ["GET /api/v1/agents/{id}"] = "read",
  ["GET /api/v1/agents/{id}/contacts"] = "read",
  ["GET /api/v1/agents/{id}/load"] = "read",
  ["GET /api/v1/agents/{id}/queue"] = "read",
  ["GET /api/v1/agents/{id}/conversation"] = "read",
  ["GET /api/v1/agents/{id}/why"] = "read",
  ["POST /api/v1/agents/{id}/pause"] = "operate",
  ["POST /api/v1/agents/{id}/resume"] = "operate",
  ["DELETE /api/v1/agents/{id}"] = "operate",
  ["GET /api/v1/roles"] = "read", ["GET /api/v1/at"] = "read",
  ["GET /api/v1/contacts"] = "read",
  ["GET /api/v1/tasks"] = "read",
  ["GET /api/v1/tasks/{id}"] = "read",
  ["POST /api/v1/tasks/{id}/cancel"] = "operate",
  ["GET /api/v1/inbox"] = "read",
  ["GET /api/v1/inbox/{id}"] = "read",
  ["POST /api/v1/inbox/{id}/decision"] = "decide",
  ["POST /api/v1/pm/features/{id}/decision"] = "decide",
  ["GET /api/v1/dead-letters"] = "read",
  ["POST /api/v1/dead-letters/redeliver"] = "operate",
  ["POST /api/v1/dead-letters/drop"] = "operate",
  ["POST /api/v1/dead-letters/{id}/redeliver"] = "operate",
  ["DELETE /api/v1/dead-letters/{id}"] = "operate",
  ["GET /api/v1/activity"] = "read", ["GET /api/v1/waits"] = "read",
  ["GET /api/v1/stats"] = "read", ["GET /api/v1/usage"] = "read",
  ["GET /api/v1/usage/budgets"] = "read", ["GET /api/v1/export/dot"] = "read",
  ["GET /api/v1/export/mermaid"] = "read", ["GET /api/v1/export/jsonl"] = "read",
  ["GET /api/v1/policies"] = "read",
  ["PUT /api/v1/policies/{kind}"] = "operate",
  ["GET /api/v1/agents/{id}/context"] = "read",
  ["GET /api/v1/policies/{kind}"] = "read",
  ["GET /api/v1/events"] = "read",
  ["GET /ws"] = "read",
  ["POST /api/v1/messages/{id}/ack"] = "write",
  ["GET /api/v1/agents/{id}/mail"] = "read",
  ["POST /api/v1/replays"] = "operate",
  ["GET /api/v1/replays/{id}"] = "read",
  ["GET /api/v1/export/org-json"] = "read",
  ["POST /api/v1/stop"] = "operate",
}

-- Requests stop before the operation: a body that is no JSON, a parameter that nobody has.
local LET_IN = { GET = { [200] = true, [400] = true, [404] = true, [426] = true },
  POST = { [415] = true }, PUT = { [415] = true }, DELETE = { [400] = true } }

describe("the entry", function()
  local place, door, tokens

  setup(function()
    place = program.place()
    place:write("app.lua", APP)
    door = web.start(place, "run app.lua --http 0 --log none")
    tokens = { wrong = "soc_" .. ("0"):rep(64) }
    for _, scope in ipairs({ "read", "write", "decide", "operate" }) do
      tokens[scope] = place:run(("token add %s --scope %s"):format(scope, scope)).out:match("%S+")
    end
  end)

  teardown(function()
    door:stop()
    place:remove()
  end)

  local function make(method, path, who, names)
    local headers = { Host = names.host, Origin = names.origin }
    if who ~= "none" then
      headers.Authorization = "Bearer " .. tokens[who]
    end
    local body = (method == "POST" or method == "PUT") and "x" or nil
    if body then
      headers["Content-Type"] = "text/plain"
    end
    return { method = method, headers = headers, body = body,
      path = path:gsub("{%w+}", "nobody") .. (method == "DELETE" and "?nosuch=1" or "") }
  end

  local function judge(method, path, who, names)
    local scope = SCOPES[method .. " " .. path]
    if names.is_bad then
      return { [403] = true }
    elseif path == "/healthz" then
      return { [200] = true }
    elseif path == "/login" or who == "none" or who == "wrong" then
      return { [401] = true }
    elseif scope ~= who then
      return { [403] = true }
    end
    return LET_IN[method]
  end

  it("is the same at every route", function()
    local good, requests, wanted = door.host, {}, {}
    local listed = {}
    for key in pairs(SCOPES) do
      listed[key] = true
    end
    for path, methods in pairs(door:curl("/openapi.json").json.paths) do
      for method in pairs(methods) do
        local key = method:upper() .. " " .. path
        assert.is_string(SCOPES[key], key .. " is not listed here")
        listed[key] = nil
        for _, who in ipairs({ "none", "wrong", "read", "write", "decide", "operate" }) do
          for _, names in ipairs({
            { host = good }, { host = good, origin = "http://" .. good },
            { host = good, origin = "http://evil.org", is_bad = true },
            { host = "evil.org", is_bad = true },
            { host = "evil.org", origin = "http://" .. good, is_bad = true },
            { host = "evil.org", origin = "http://evil.org", is_bad = true },
          }) do
            requests[#requests + 1] = make(method:upper(), path, who, names)
            wanted[#wanted + 1] = judge(method:upper(), path, who, names)
          end
        end
      end
    end
    assert.same({}, listed)
    for index, answer in ipairs(door:many(requests)) do
      local request = requests[index]
      assert.is_true(wanted[index][answer.status], ("%s %s with %s of %s from %s: %d %s"):format(
        request.method, request.path, tostring(request.headers.Authorization),
        request.headers.Host, tostring(request.headers.Origin), answer.status, answer.body))
    end
  end)

  it("has read nothing of a body before it knows who asks", function()
    local answer = door:raw({ { send = { "POST /api/v1/intake HTTP/1.1\r\nHost: " .. door.host
      .. "\r\nContent-Type: application/json\r\nContent-Length: 900000\r\n\r\n" } } })[1]
    assert.same({ 401 }, answer.statuses)
    assert.is_false(answer.left)
  end)

  it("refuses other names for the same place", function()
    local requests = {}
    for _, host in ipairs({ "localhost", "127.0.0.1", "127.0.0.1:1", "localhost:" .. door.port + 1,
      "0.0.0.0:" .. door.port, "localhost.:" .. door.port, "127.1:" .. door.port, "" }) do
      requests[#requests + 1] = { method = "GET", path = "/healthz", headers = { Host = host } }
    end
    for _, origin in ipairs({ "null", "http://localhost", "http://localhost:1", "localhost", "",
      "http://evil.org#" .. door.host, "http://" .. door.host .. ".evil.org",
      "http://user@" .. door.host, "file://" }) do
      requests[#requests + 1] = { method = "GET", path = "/healthz",
        headers = { Host = door.host, Origin = origin } }
    end
    for index, answer in ipairs(door:many(requests)) do
      local headers = requests[index].headers
      assert.equal(403, answer.status, headers.Host .. " " .. tostring(headers.Origin))
    end
    for _, host in ipairs({ "localhost", "LOCALHOST", "[::1]" }) do
      assert.equal(200, door:many({ { method = "GET", path = "/healthz",
        headers = { Host = host .. ":" .. door.port } } })[1].status)
    end
  end)

  it("knows a token the moment it is added, and no more when it is removed", function()
    local token = place:run("token add guest --scope read").out:match("%S+")
    assert.equal(200, door:curl("/api/v1/stats", token).status)
    assert.matches("guest +read", place:run("token list").out)
    assert.equal(0, place:run("token remove guest").code)
    assert.equal(401, door:curl("/api/v1/stats", token).status)
    assert.equal(1, place:run("token remove guest").code)
    assert.equal(2, place:run("token add").code)
    assert.equal(1, place:run("token add x --scope everything").code)
    assert.equal(2, place:run("token sing").code)
  end)
end)

describe("wrong tokens", function()
  local place

  before_each(function()
    place = program.place()
    place:write("app.lua", 'local society = require("society")\nsociety.main(function() end)\n')
  end)

  after_each(function()
    place:remove()
  end)

  it("are limited, and a valid one is not", function()
    local door = web.start(place, "run app.lua --http 0 --log none")
    local function try(token)
      return { method = "GET", path = "/api/v1/stats",
        headers = { Host = door.host, Authorization = token and "Bearer " .. token } }
    end
    local requests = { try(nil), try(nil) } -- a missing one is not counted
    for _ = 1, 12 do
      requests[#requests + 1] = try("guess")
    end
    requests[#requests + 1] = try(door.token)
    requests[#requests + 1] = try(nil)
    local statuses = {}
    for index, answer in ipairs(door:many(requests)) do
      statuses[index] = answer.status
      if answer.status == 429 then
        assert.equal("60", answer.headers["retry-after"])
      end
    end
    assert.equal(("401 "):rep(12) .. "429 429 200 401", table.concat(statuses, " "))
    door:stop()
  end)
end)

describe("society open", function()
  local place, door

  setup(function()
    place = program.place()
    place:write("app.lua", 'local society = require("society")\nsociety.main(function() end)\n')
    door = web.start(place, "run app.lua --http 0 --log none", nil, place:clock())
  end)

  teardown(function()
    door:stop()
    place:remove()
  end)

  local function open()
    return place:shell(place:clock() .. " " .. program.quote(place.program) .. " open --print").out
      :match("^http://[^/]+(/login%?code=%S+)\n$")
  end

  local function login(path)
    local answer = door:curl(path, false)
    return answer, (answer.headers["set-cookie"] or ""):match("^[^;]+")
  end

  it("lets a browser in, once", function()
    local path = assert(open())
    local answer, cookie = login(path)
    assert.equal(303, answer.status)
    assert.equal("/", answer.headers.location)
    assert.matches("; Path=/; Max%-Age=43200; HttpOnly; SameSite=Strict$",
      answer.headers["set-cookie"])
    local stats = ("-b %s /api/v1/stats"):format(program.quote(cookie))
    assert.equal(200, door:curl(stats, false).status)
    assert.equal(401, login(path).status)
    assert.equal(401, door:curl("-b society_1=x /api/v1/stats", false).status)
  end)

  it("needs a header and an origin for changes by cookie", function()
    local _, cookie = login(open())
    local function pause(headers)
      local options = { "-X POST -b " .. program.quote(cookie) }
      for _, header in ipairs(headers) do
        options[#options + 1] = "-H " .. program.quote(header)
      end
      return door:curl(table.concat(options, " ") .. " /api/v1/agents/root/pause", false).status
    end
    local origin = "Origin: " .. door.url
    assert.equal(403, pause({}))
    assert.equal(403, pause({ "X-Society: 1" }))
    assert.equal(403, pause({ origin }))
    assert.equal(403, pause({ "X-Society: 2", origin }))
    assert.equal(403, pause({ "X-Society: 1", "Origin: http://evil.org" }))
    assert.equal(200, pause({ "X-Society: 1", origin }))
  end)

  it("makes codes for a minute and cookies for half a day", function()
    local path = open()
    local _, cookie = login(open())
    place:advance(60000)
    assert.equal(401, login(path).status)
    local stats = ("-b %s /api/v1/stats"):format(program.quote(cookie))
    assert.equal(200, door:curl(stats, false).status)
    place:advance(12 * 3600000 - 60000)
    assert.equal(401, door:curl(stats, false).status)
  end)

  it("says that no society listens", function()
    local result = place:run("open --state elsewhere")
    assert.equal(1, result.code)
    assert.matches("start it with: society run APP.lua --http PORT", result.err, 1, true)
  end)
end)
