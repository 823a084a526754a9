-- The HTTP door of the built program, asked by curl.
--
-- Covers: core/bridge/http/door_answers.c, core/bridge/http/door_exchange.c,
-- Covers: core/bridge/http/door_head.c, core/bridge/http/door_opening.c,
-- Covers: core/bridge/http/entry.c, core/main/program_web.c

local json = require("society.json")
local program = require("program")
local web = require("web")

local APP = [[
local society = require("society")
society.config { name = "windows" }
society.role { id = "greeter", name = "greeter", behaviour = function(agent, message)
  if message.payload.text == "ask" then
    return agent:escalate { title = "may I?", priority = "high" }
  end
  return { text = "hello, " .. tostring(message.payload.text) }
end }
society.root(function(root, message)
  root.state.greeter = root.state.greeter or assert(root:spawn_agent("greeter", {
    objective = "greet", constraints = {}, inputs = "a name", outputs = "a greeting",
    completion_criteria = "greeted",
  })).id
  local answer, err = root:request { to = root.state.greeter, payload = message.payload }
  return answer and answer.payload or err
end)
society.main(function()
  print("ready")
end)
]]

describe("the HTTP door", function()
  local place, door

  setup(function()
    place = program.place()
    place:write("app.lua", APP)
    door = web.start(place, "run app.lua --http 0 --log none")
  end)

  teardown(function()
    door:stop()
    place:remove()
  end)

  it("runs on after main and says where it listens", function()
    door.running:expect("ready")
    assert.matches("^http://127%.0%.0%.1:%d+$", door.url)
    assert.equal("600 600\n", place:shell(
      "echo $(stat -c %a .society/http.token .society/http.url)").out)
    local answer = door:curl("/healthz", false)
    assert.equal(200, answer.status)
    assert.same({ status = "ok" }, answer.json)
  end)

  it("takes input, durable when it is answered", function()
    local answer = door:post("/api/v1/intake", { text = "Ada" })
    assert.equal(202, answer.status)
    assert.equal("root", answer.json.route_to)
    assert.matches("^msg_", answer.json.messageId)
    local rows = program.rows(place:run("inspect messages --json"))
    local found = false
    for _, row in ipairs(rows) do
      found = found or row.id == answer.json.messageId
    end
    assert.is_true(found)
  end)

  it("waits for the reply, or keeps the id when there is none in time", function()
    local answer = door:post("/api/v1/intake", { payload = { text = "Ada" }, wait_ms = 60000 })
    assert.equal(200, answer.status)
    assert.equal("hello, Ada", answer.json.reply.payload.text)
    door:curl("-X POST /api/v1/agents/root/pause")
    answer = door:post("/api/v1/intake", { text = "Ada", wait_ms = 1 })
    door:curl("-X POST /api/v1/agents/root/resume")
    assert.equal(504, answer.status)
    assert.equal("timeout", answer.json.error)
    assert.matches("^msg_", answer.json.messageId)
  end)

  it("sends messages, a duplicate once", function()
    local message = { to = "user", payload = { text = "note" }, dedupe_key = "k1" }
    local first = door:post("/api/v1/messages", message)
    assert.equal(202, first.status)
    local second = door:post("/api/v1/messages", message)
    assert.equal(200, second.status)
    assert.equal(first.json.messageId, second.json.messageId)
    assert.equal(404, door:post("/api/v1/messages", { to = "nobody", payload = {} }).status)
  end)

  it("lists in items, and answers one thing as it is", function()
    local answer = door:curl("/api/v1/agents")
    assert.equal(200, answer.status)
    assert.equal("user", answer.json.items[1].id)
    assert.equal("root", door:curl("/api/v1/agents/root").json.id)
    assert.equal(404, door:curl("/api/v1/agents/nobody").status)
    assert.equal("agent_not_found", door:curl("/api/v1/agents/nobody").json.error)
    for _, words in ipairs({ "/api/v1/messages/none", "-X DELETE /api/v1/dead-letters/none",
      "-X POST /api/v1/dead-letters/none/redeliver" }) do
      local missing = door:curl(words)
      assert.same({ 404, "message_not_found" }, { missing.status, missing.json.error }, words)
    end
    assert.equal(1, #door:curl("/api/v1/activity?limit=1").json.items)
    assert.equal(2, door:curl("/api/v1/agents?limit=2").json.items and 2)
    assert.is_number(door:curl("/api/v1/stats").json.sent)
    assert.same(json.decode(place:run("export org-json").out),
      door:curl("/api/v1/export/org-json").json)
  end)

  it("names the parameter that is wrong", function()
    for path, member in pairs({ ["/api/v1/activity?limit=x"] = "limit",
      ["/api/v1/activity?limit=1&limit=2"] = "limit", ["/api/v1/activity?agent=%ff"] = "agent",
      ["/api/v1/activity?nosuch=1"] = "nosuch", ["/api/v1/stats?agent=x"] = "agent",
      ["/api/v1/activity?since=yesterday"] = "since" }) do
      local answer = door:curl(path)
      assert.equal(400, answer.status, path)
      assert.equal("invalid_argument", answer.json.error)
      assert.equal(member, answer.json.member)
      assert.not_matches("argument has the wrong type", answer.json.message)
    end
    assert.equal(400, door:post("/api/v1/intake", { text = "x", nosuch = 1 }).status)
  end)

  it("refuses bodies that are not JSON objects", function()
    local kind = "-H 'Content-Type: application/json' "
    assert.equal(415, door:curl("-d '{}' /api/v1/intake").status)
    assert.equal(400, door:curl(kind .. "-d '{' /api/v1/intake").status)
    assert.equal(400, door:curl(kind .. "-d '[]' /api/v1/intake").status)
    assert.equal(400, door:curl(kind .. ("-d '{\"payload\":%s1%s}' /api/v1/intake"):format(
      ("["):rep(70), ("]"):rep(70))).status)
    place:write("big", '{"text":"' .. ("x"):rep(1100000) .. '"}')
    assert.equal(413, door:curl(kind .. "--data-binary @big /api/v1/intake").status)
    assert.equal(422, door:curl(kind .. "-d '{}' /api/v1/messages").status)
  end)

  it("decides, once", function()
    local asked = door:post("/api/v1/intake", { text = "ask" })
    assert.equal(202, asked.status)
    local item = program.wait_for("the item", function()
      return door:curl("/api/v1/inbox").json.items[1]
    end)
    assert.equal("may I?", item.title)
    local path = ("/api/v1/inbox/%s/decision"):format(item.id)
    local answer = door:post(path, { action = "approve", feedback = "go on" })
    assert.equal(200, answer.status)
    assert.equal("approve", answer.json.decision)
    answer = door:post(path, { decision = "reject" })
    assert.equal(409, answer.status)
    assert.equal("already_decided", answer.json.error)
    assert.equal(404, door:post("/api/v1/inbox/nothing/decision", { decision = "reject" }).status)
  end)

  it("pauses, resumes and leaves an order in the log", function()
    local answer = door:post("/api/v1/agents/root/pause", { reason = "tea" })
    assert.equal(200, answer.status)
    assert.equal("paused", answer.json.status)
    assert.equal(200, door:curl("-X POST /api/v1/agents/root/resume").status)
    local orders = door:curl("/api/v1/activity?type=order").json.items
    local last = json.decode(orders[#orders].detail)
    assert.equal("resume", last.op)
    assert.equal("owner", last.by)
  end)

  it("puts policies in force", function()
    local answer = door:post("/api/v1/policies/contacts", { name = "open" }, nil, "-X PUT")
    assert.equal(200, answer.status)
    assert.equal("open", answer.json.items[1].name)
    assert.equal(404, door:post("/api/v1/policies/contacts", { name = "nosuch" }, nil,
      "-X PUT").status)
  end)

  it("knows its paths and their methods", function()
    assert.equal(404, door:curl("/api/v1/nothing").status)
    local answer = door:curl("-X PUT /api/v1/agents/root")
    assert.equal(405, answer.status)
    assert.equal("GET, DELETE", answer.headers.allow)
    assert.equal(405, door:curl("-X POST /healthz").status)
    answer = door:curl("-I /api/v1/agents")
    assert.equal(200, answer.status)
    assert.equal("", answer.body)
  end)

  it("keeps a connection open, also after an error", function()
    local result = place:shell(("curl -sS -o a -o b -o c -w '%%{num_connects} ' "
      .. "%s/healthz %s/api/v1/agents %s/healthz"):format(door.url, door.url, door.url))
    assert.equal("1 0 0 ", result.out)
  end)

  it("serves the page with its headers", function()
    local answer = door:curl("/", false)
    assert.equal(200, answer.status)
    assert.equal("text/html; charset=utf-8", answer.headers["content-type"])
    assert.equal("default-src 'self'; frame-ancestors 'none'",
      answer.headers["content-security-policy"])
    assert.equal(304, door:curl(("-H %s /"):format(program.quote("If-None-Match: "
      .. answer.headers.etag)), false).status)
    assert.equal(401, door:curl("--path-as-is /../.society/http.token", false).status)
    assert.equal(401, door:curl("/nothing.js", false).status)
  end)
end)

describe("a run with a door", function()
  local place

  before_each(function()
    place = program.place()
    place:write("app.lua", APP)
  end)

  after_each(function()
    place:remove()
  end)

  it("ends with main if it is told to, and leaves no address behind", function()
    local result = place:run("run app.lua --http 0 --once --log none")
    assert.equal(0, result.code)
    assert.equal("ready\n", result.out)
    assert.is_nil(place:read(".society/http.url"))
    assert.is_string(place:read(".society/http.token"))
  end)

  it("is stopped over HTTP", function()
    local door = web.start(place, "run app.lua --http 0 --log none")
    assert.equal(202, door:curl("-X POST /api/v1/stop").status)
    assert.equal(0, door.running:wait().code)
    assert.matches("stopped; resume with: society run app.lua", door.running:err(), 1, true)
  end)

  it("answers who waits when it ends", function()
    local door = web.start(place, "run app.lua --http 0 --log none")
    door:curl("-X POST /api/v1/agents/root/pause")
    place:shell(([[(curl -sS -H 'Authorization: Bearer %s' -H 'Content-Type: application/json' \
      -d '{"text":"Ada","wait_ms":60000}' %s/api/v1/intake > waited; echo done >> waited) & true]]
      ):format(door.token, door.url))
    program.wait_for("the wait", function()
      return door:curl("/api/v1/stats").json.pending > 0
    end)
    door:stop()
    program.wait_for("the answer", function()
      return (place:read("waited") or ""):find("done", 1, true)
    end)
    assert.matches('"error":"stopping"', place:read("waited"), 1, true)
  end)

  it("is configured by the app", function()
    place:write("app.lua", APP .. [[
      society.config { web = { listen = "127.0.0.1:0", body_bytes = 1000, hosts = { "a.org" } } }
    ]])
    local door = web.start(place, "run app.lua --log none")
    assert.equal(413, door:post("/api/v1/intake", { text = ("x"):rep(1000) }).status)
    assert.equal(200, door:curl("-H 'Host: a.org' /healthz", false).status)
    door:stop()
  end)

  it("says what is wrong with its options", function()
    for arguments, sentence in pairs({
      ["--http nowhere"] = "not [HOST:]PORT",
      ["--http 0.0.0.0:0"] = "needs web.tls = { cert, key }, or --insecure",
      ["--http 0.0.0.0:0 --insecure --http-open"] = "for loopback only",
    }) do
      local result = place:run("run app.lua " .. arguments)
      assert.equal(2, result.code, arguments)
      assert.matches(sentence, result.err, 1, true)
    end
    place:write("bad.lua", APP .. "society.config { web = { port = 1 } }")
    assert.matches("unknown setting 'web.port'", place:run("run bad.lua").err, 1, true)
  end)

  it("says which port is taken", function()
    local door = web.start(place, "run app.lua --http 0 --log none")
    local result = place:run("run app.lua --state other --http " .. door.port)
    assert.equal(1, result.code)
    assert.matches("Address already in use", result.err, 1, true)
    door:stop()
  end)

  it("without a token warns, and asks for none", function()
    local door = web.start(place, "run app.lua --http 0 --http-open --log warn")
    assert.equal(200, door:curl("/api/v1/agents", false).status)
    assert.equal(403, door:curl("-H 'Host: evil.org' /api/v1/agents", false).status)
    assert.matches("asks for no token", door:stop().err, 1, true)
  end)

  it("speaks TLS", function()
    place:shell("openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 "
      .. "-subj /CN=localhost -addext subjectAltName=IP:127.0.0.1")
    place:write("tls.lua", APP .. "society.config { web = { tls = { cert = 'cert.pem', "
      .. "key = 'key.pem' } } }")
    local door = web.start(place, "run tls.lua --http 0 --log none")
    assert.matches("^https://", door.url)
    assert.equal(200, door:curl("--cacert cert.pem /healthz", false).status)
    local login = place:run("open --print").out:match("code=(%S+)")
    local answer = door:curl("--cacert cert.pem /login?code=" .. login, false)
    assert.equal(303, answer.status)
    assert.matches("; Secure", answer.headers["set-cookie"], 1, true)
    door:stop()
  end)
end)
