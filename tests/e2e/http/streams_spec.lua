-- Events as they happen, heard by clients that are not ours: Node's fetch, EventSource and
-- WebSocket from the npm registry, and curl.
--
-- Covers: core/bridge/http/streams.c

local json = require("society.json")
local npm = require("npm")
local program = require("program")
local tree = require("tree")
local web = require("web")

local APP = [[
local society = require("society")
society.config { web = { streams = 4 } }
society.root(function(root, message)
  if message.payload.text == "ask" then
    root:escalate { title = "may I?", priority = "high", wait = false }
  end
  return { text = message.payload.text }
end)
society.main(function() end)
]]

local MODULES = { "eventsource@2", "ws@8" }

describe("a stream", function()
  local place, door

  before_each(function()
    place = program.place()
    place:write("app.lua", APP)
    door = web.start(place, "run app.lua --http 0 --log none", nil, place:clock())
  end)

  after_each(function()
    door:stop()
    place:remove()
  end)

  -- The lines of the log after `after`, as people see them.
  local function log(after)
    local rows = {}
    for _, row in ipairs(program.rows(place:run("inspect activity --json"))) do
      if row.line > after then
        rows[#rows + 1] = row
      end
    end
    return rows
  end

  local function last_line()
    local rows = log(0)
    return rows[#rows].line
  end

  -- What curl has got of a stream, by blank lines: lists of { id, event, data }.
  local function parse(text)
    local events = {}
    for block in text:gmatch("(.-)\n\n") do
      local data = block:match("data: (.*)$")
      if data then
        events[#events + 1] = { id = tonumber(block:match("id: (%d+)\n")),
          name = block:match("event: (%S+)\n"), data = json.decode(data) }
      end
    end
    return events
  end

  -- Listens with curl until `count` events have come.
  local function listen(path, count, options)
    place.count = place.count + 1
    local file = ".stream" .. place.count
    place:shell(("(curl -sSN -H 'Authorization: Bearer %s' %s %s > %s 2>&1 & "
      .. "echo $! > %s.pid) & true"):format(door.token, options or "",
      program.quote(door.url .. path), file, file))
    local events
    program.wait_for(count .. " events of " .. path, function()
      events = parse(place:read(file) or "")
      return #events >= count
    end)
    place:shell(("kill $(cat %s.pid)"):format(file))
    return events, place:read(file)
  end

  -- Listens in the background, into a file that says `end` at last.
  local function hold(file)
    place:shell(("(timeout 250 curl -sSN -H 'Authorization: Bearer %s' %s/api/v1/events > %s; "
      .. "echo end >> %s) & true"):format(door.token, door.url, file, file))
  end

  -- Tells whether a stream has sent its first comment; others may have come since.
  local function has_begun(file)
    return (place:read(file) or ""):find("^:\n\n")
  end

  for _, kind in ipairs({ "fetch", "eventsource", "ws" }) do
    it("is heard by " .. kind, function()
      local folder, reason = npm.folder(MODULES)
      if not folder then
        pending(reason)
        return
      end
      local from = last_line()
      place:shell(("(node %s %s %s %s%s?after=%d %s 5 > heard 2>&1; "
        .. "echo end >> heard) & true"):format(
        program.quote(tree.path("tests/support/stream_client.mjs")), program.quote(folder), kind,
        door.url, kind == "ws" and "/ws" or "/api/v1/events", from, door.token))
      program.wait_for("the connection", function()
        return (place:read("heard") or ""):find("open\n", 1, true)
      end)
      door:post("/api/v1/intake", { text = "Ada", wait_ms = 60000 })
      program.wait_for("five events", function()
        return (place:read("heard") or ""):find("end\n", 1, true)
      end)
      local rows, index = log(from), 0
      for line in place:read("heard"):gmatch("{[^\n]+") do
        index = index + 1
        local event = json.decode(line)
        assert.same(rows[index], event.data)
        assert.equal(rows[index].line, event.id)
      end
      assert.equal(5, index)
    end)
  end

  it("has every line once, from where it begins", function()
    door:post("/api/v1/intake", { text = "one", wait_ms = 60000 })
    local rows = log(0)
    local events = listen("/api/v1/events?after=0", #rows)
    assert.equal(#rows, #events)
    for index, row in ipairs(rows) do
      assert.same(row, events[index].data)
      assert.equal(row.line, events[index].id)
    end
    local half = rows[#rows // 2].line
    local rest = listen("/api/v1/events?after=" .. half, #rows - #rows // 2)
    assert.equal(half + 1, rest[1].id)
    -- What a browser sends when it connects again counts more than the address.
    rest = listen("/api/v1/events?after=0", #rows - #rows // 2,
      "-H 'Last-Event-ID: " .. half .. "'")
    assert.equal(half + 1, rest[1].id)
  end)

  it("can be narrowed down", function()
    door:post("/api/v1/intake", { text = "ask", wait_ms = 60000 })
    local item = door:curl("/api/v1/inbox").json.items[1]
    door:post(("/api/v1/inbox/%s/decision"):format(item.id), { decision = "approve" })
    local events = listen("/api/v1/events?after=0&events=inbox.*", 2)
    assert.equal("inbox.new_item", events[1].name)
    assert.equal("inbox.decided", events[2].name)
    events = listen("/api/v1/events?after=0&events=order", 2)
    assert.equal("intake", json.decode(events[1].data.detail).op)
    for _, event in ipairs(listen("/api/v1/events?after=0&agent=root", 4)) do
      assert.is_true(event.data.agent == "root" or event.data.other == "root")
    end
    -- A second of messages as counts, with the other lines as they are.
    for _, event in ipairs(listen("/api/v1/events?after=0&summary=1", 6)) do
      assert.is_nil(event.name:find("^message%."))
    end
  end)

  it("refuses parameters it does not know", function()
    for path, member in pairs({ ["?after=x"] = "after", ["?after=-1"] = "after",
      ["?summary=maybe"] = "summary", ["?nosuch=1"] = "query", ["?agent=%ff"] = "query" }) do
      local answer = door:curl("/api/v1/events" .. path)
      assert.equal(400, answer.status, path)
      assert.equal(member, answer.json.member, path)
      assert.not_matches("argument has the wrong type", answer.json.message)
    end
    for path, member in pairs({ ["?after=1&after=2"] = "after", ["?agent=a&agent=b"] = "agent",
      ["?summary=0&after=1&summary=1"] = "summary", ["?events=log&events="] = "events" }) do
      for _, route in ipairs({ "/api/v1/events", "/ws" }) do
        local answer = door:curl("-m 5 " .. route .. path)
        assert.same({ 400, member, "it is given twice" },
          { answer.status, answer.json.member, answer.json.message }, route .. path)
      end
    end
    assert.equal(400, door:curl("-H 'Last-Event-ID: x' /api/v1/events").status)
    assert.equal(405, door:curl("-I /api/v1/events").status)
    local answer = door:curl("/ws")
    assert.same({ 426, "upgrade_required" }, { answer.status, answer.json.error })
    answer = door:curl("-H 'Connection: Upgrade' -H 'Upgrade: websocket' "
      .. "-H 'Sec-WebSocket-Version: 13' -H 'Sec-WebSocket-Key: short' /ws")
    assert.same({ 400, "invalid_argument" }, { answer.status, answer.json.error })
  end)

  it("shows that it lives every 15 seconds", function()
    hold("quiet")
    program.wait_for("the first comment", function()
      return has_begun("quiet")
    end)
    program.wait_for("the second comment", function()
      place:advance(15000)
      door:curl("/healthz", false) -- wakes it
      return (place:read("quiet") or ""):find("^:\n\n:\n\n")
    end)
  end)

  it("ends when its token is removed", function()
    local token = place:run("token add guest --scope read").out:match("%S+")
    local other = place:run("token add other --scope read").out:match("%S+")
    for name, shown in pairs({ guest = token, other = other }) do
      place:shell(("(timeout 250 curl -sSN -H 'Authorization: Bearer %s' %s/api/v1/events > %s; "
        .. "echo end >> %s) & true"):format(shown, door.url, name, name))
    end
    program.wait_for("both streams", function()
      return has_begun("guest") and has_begun("other")
    end)
    assert.equal(0, place:run("token remove guest").code)
    program.wait_for("its end", function()
      door:curl("/healthz", false)
      return place:read("guest"):find("end\n", 1, true)
    end)
    door:post("/api/v1/intake", { text = "still heard" })
    program.wait_for("the other one's events", function()
      return place:read("other"):find("event: order", 1, true)
    end)
    assert.is_nil(place:read("other"):find("end\n", 1, true))
  end)

  it("is one of a few", function()
    for _ = 1, 4 do
      hold("/dev/null")
    end
    program.wait_for("four streams", function()
      return door:curl("/metrics").body:find("society_http_streams 4\n", 1, true)
    end)
    local answer = door:curl("/api/v1/events")
    assert.equal(503, answer.status)
    assert.equal("1", answer.headers["retry-after"])
    assert.equal("too_many_streams", answer.json.error)
    assert.equal(200, door:curl("/api/v1/stats").status)
  end)

  it("takes a connection, of which there are a few as well", function()
    door:stop()
    place:write("app.lua", (APP:gsub("streams = 4", "streams = 4, connections = 2")))
    door = web.start(place, "run app.lua --http 0 --log none", nil, place:clock())
    hold("first")
    hold("second")
    program.wait_for("two streams", function()
      return has_begun("first") and has_begun("second")
    end)
    local answer = door:curl("/api/v1/stats")
    assert.same({ 503, "too_many_connections" }, { answer.status, answer.json.error })
    assert.equal("1", answer.headers["retry-after"])
  end)

  it("ends when the society does", function()
    hold("rest")
    program.wait_for("the stream", function()
      return has_begun("rest")
    end)
    assert.equal(0, door:stop().code)
    program.wait_for("its end", function()
      return (place:read("rest") or ""):find("end\n", 1, true)
    end)
  end)

  it("does not listen to a WebSocket, and says goodbye to it", function()
    local folder, reason = npm.folder(MODULES)
    if not folder then
      pending(reason)
      return
    end
    local function socket(file, path, count, token)
      place:shell(("(node %s %s ws %s%s %s %d > %s 2>&1; echo end >> %s) & true"):format(
        program.quote(tree.path("tests/support/stream_client.mjs")), program.quote(folder),
        door.url, path, token or door.token, count, file, file))
    end
    socket("talker", "/ws", 0)
    program.wait_for("its end", function()
      return (place:read("talker") or ""):find("end\n", 1, true)
    end)
    assert.equal("open\nclosed 1008\nend\n", place:read("talker"))
    socket("stranger", "/ws", 1, "wrong")
    program.wait_for("its refusal", function()
      return (place:read("stranger") or ""):find("end\n", 1, true)
    end)
    assert.equal("status 401\nend\n", place:read("stranger"))
    socket("guest", "/ws", 1000)
    program.wait_for("its beginning", function()
      return (place:read("guest") or ""):find("open\n", 1, true)
    end)
    door:stop()
    program.wait_for("goodbye", function()
      return (place:read("guest") or ""):find("end\n", 1, true)
    end)
    assert.matches("closed 1001\n", place:read("guest"), 1, true)
  end)
end)
