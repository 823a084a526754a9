-- /healthz of a society that is about to end, asked over a connection that was open before.
--
-- Covers: core/net/server_request.c, core/bridge/http/door_answers.c

local program = require("program")
local web = require("web")

local APP = [[
local society = require("society")
society.root(function() end)
society.main(function() end)
]]

-- Asks again and again over one connection until the answer is another one.
local PYTHON = [[
import http.client, json, sys, time
connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=300)
while True:
    connection.request("GET", "/healthz")
    response = connection.getresponse()
    body = json.load(response)
    if response.status != 200:
        break
    print("up", flush=True)
    time.sleep(0.02)
print(response.status, response.getheader("Retry-After"), body["error"], flush=True)
]]

describe("/healthz", function()
  it("is 503 while the society stops, which waits for its disk", function()
    local place = program.place()
    place:write("app.lua", APP)
    place:write("client.py", PYTHON)
    local door = web.start(place, "run app.lua --http 0 --log none", nil,
      ("FAULT_DIR=%s FAULT_SLOW=%s LD_PRELOAD=%s"):format(
        program.quote(place.path .. "/.society"), program.quote(place.path .. "/slow"),
        program.quote(place:preload("disk_faults"))))
    place:shell(("(python3 client.py %d > health 2>&1; echo end >> health) & true"):format(
      door.port))
    program.wait_for("the first answer", function()
      return (place:read("health") or ""):find("^up\n")
    end)
    place:write("slow", "")
    place:shell(([[(curl -sS -o waited -w '%%{http_code}\n' -H 'Authorization: Bearer %s' \
      -H 'Content-Type: application/json' -d '{"text":"x"}' %s/api/v1/intake > code;
      echo end >> code) & true]]):format(door.token, door.url))
    program.wait_for("the message", function()
      return door:curl("/metrics").body:find("society_messages_sent_total 1\n", 1, true)
    end)
    door.running:kill("TERM")
    program.wait_for("another answer", function()
      return place:read("health"):find("end\n", 1, true)
    end)
    place:shell("rm slow")
    assert.equal(0, door.running:wait().code)
    program.wait_for("the answer that waited for the disk", function()
      return (place:read("code") or ""):find("end\n", 1, true)
    end)
    local health, code = place:read("health"):gsub("up\n", ""), place:read("code")
    place:remove()
    assert.equal("503 1 stopping\nend\n", health)
    assert.equal("202\nend\n", code)
  end)
end)
