-- The HTTP door over TLS, asked by clients that are not ours: Python's standard library, Node's
-- fetch, EventSource and WebSocket from the npm registry, and curl.
--
-- Covers: core/net/server_daemon.c

local json = require("society.json")
local npm = require("npm")
local program = require("program")
local tree = require("tree")
local web = require("web")

local APP = [[
local society = require("society")
society.config { web = { tls = { cert = "cert.pem", key = "key.pem" } } }
society.root(function(root, message)
  return { text = message.payload.text }
end)
society.main(function() end)
]]

-- Posts with the certificate as the only authority, and tries without it.
local PYTHON = [[
import json, ssl, sys, urllib.error, urllib.request
url, token = sys.argv[1:]
request = urllib.request.Request(url + "/api/v1/intake",
    json.dumps({"text": "Ada", "wait_ms": 60000}).encode(),
    {"Authorization": "Bearer " + token, "Content-Type": "application/json"})
trusting = ssl.create_default_context(cafile="cert.pem")
with urllib.request.urlopen(request, context=trusting) as answer:
    print(answer.status, json.load(answer)["reply"]["payload"]["text"])
try:
    urllib.request.urlopen(request, context=ssl.create_default_context())
except urllib.error.URLError as error:
    print(type(error.reason).__name__)
]]

describe("the HTTP door over TLS", function()
  local place, door

  setup(function()
    place = program.place()
    place:write("app.lua", APP)
    place:write("client.py", PYTHON)
    place:shell("openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 "
      .. "-subj /CN=localhost -addext subjectAltName=IP:127.0.0.1")
    door = web.start(place, "run app.lua --http 0 --log none")
  end)

  teardown(function()
    door:stop()
    place:remove()
  end)

  it("answers Python, which checks the certificate", function()
    local result = place:shell(("python3 client.py %s %s"):format(door.url, door.token))
    assert.equal("200 Ada\nSSLCertVerificationError\n", result.out, result.err)
  end)

  it("says what is wrong with a certificate that is not that of the key", function()
    local other = program.place()
    other:write("app.lua", APP)
    other:shell("openssl req -x509 -newkey rsa:2048 -nodes -keyout x.pem -out cert.pem -days 2 "
      .. "-subj /CN=localhost && openssl genrsa -out key.pem 2048")
    local result = other:run("run app.lua --http 0")
    other:remove()
    assert.equal(1, result.code)
    assert.matches("web.tls: cert and key must be PEM, belong together", result.err, 1, true)
  end)

  it("says nothing to one who speaks plainly", function()
    local result = place:shell(("curl -sS %s/healthz"):format((door.url:gsub("^https", "http"))))
    assert.equal("", result.out)
    assert.not_equal(0, result.code)
    assert.equal(200, door:curl("--cacert cert.pem /healthz", false).status)
  end)

  it("keeps its names apart: an origin needs the scheme", function()
    local function ask(origin)
      return door:curl(("--cacert cert.pem -H %s /healthz"):format(
        program.quote("Origin: " .. origin)), false).status
    end
    assert.equal(200, ask(door.url))
    assert.equal(403, ask((door.url:gsub("^https", "http"))))
  end)

  for _, kind in ipairs({ "fetch", "eventsource", "ws" }) do
    it("is heard by " .. kind, function()
      local folder, reason = npm.folder({ "eventsource@2", "ws@8" })
      if not folder then
        pending(reason)
        return
      end
      local file = "heard." .. kind
      place:shell(("(NODE_EXTRA_CA_CERTS=cert.pem node %s %s %s %s%s?after=0 %s 3 > %s 2>&1; "
        .. "echo end >> %s) & true"):format(
        program.quote(tree.path("tests/support/stream_client.mjs")), program.quote(folder), kind,
        door.url, kind == "ws" and "/ws" or "/api/v1/events", door.token, file, file))
      door:post("/api/v1/intake", { text = "Eve", wait_ms = 60000 }, nil, "--cacert cert.pem")
      program.wait_for("three events", function()
        return (place:read(file) or ""):find("end\n", 1, true)
      end)
      local line = 0
      assert.matches("^open\n", place:read(file))
      for text in place:read(file):gmatch("{[^\n]+") do
        line = line + 1
        assert.equal(line, json.decode(text).id)
      end
      assert.equal(3, line)
    end)
  end
end)
