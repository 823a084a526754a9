-- The configuration of stunnel in docs/redis.md, with a certificate of the test's own: the
-- society speaks to Redis through both ends, and so do joined hosts.

local program = require("program")
local redis_server = require("redis_server")
local tree = require("tree")

local function sections()
  local file = assert(io.open(tree.path("docs/redis.md")))
  local page = file:read("a")
  file:close()
  local list = {}
  for text in page:gmatch("```ini\n(.-)```") do
    list[#list + 1] = text
  end
  return assert(list[1]), assert(list[2])
end

local function replace(text, from, to)
  local at, last = text:find(from, 1, true)
  assert(at, from .. " is missing in docs/redis.md")
  return text:sub(1, at - 1) .. to .. text:sub(last + 1)
end

describe("stunnel", function()
  if os.execute("command -v stunnel >/dev/null 2>&1") ~= true then
    pending("stunnel is not installed")
    return
  end
  local place, server, started

  after_each(function()
    for _, running in ipairs(started) do
      running:kill("KILL")
      running:wait()
    end
    server:close()
    place:remove()
  end)

  local function start_end(name, text)
    place:write(name .. ".conf", "foreground = yes\npid =\n" .. text)
    local built = place.program
    place.program = "stunnel"
    local running = place:start(name .. ".conf")
    started[#started + 1] = running
    place.program = built
    running:expect("Configuration successful")
  end

  -- Both ends run; returns the port at which the near one listens.
  local function open_ends()
    place, started = program.place(), {}
    server = redis_server.open(place)
    assert.equal(0, place:shell("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "
      .. "/CN=redis.example.org -addext subjectAltName=DNS:redis.example.org -keyout key.pem "
      .. "-out cert.pem && cat key.pem cert.pem > redis.pem").code)
    local outer, inner = redis_server.free_port(place), redis_server.free_port(place)
    local far, near = sections()
    far = replace(far, "accept = 6380", "accept = 127.0.0.1:" .. outer)
    far = replace(far, "connect = 127.0.0.1:6379", "connect = 127.0.0.1:" .. server.port)
    far = replace(far, "/etc/stunnel/redis.pem", place.path .. "/redis.pem")
    near = replace(near, "accept = 127.0.0.1:6379", "accept = 127.0.0.1:" .. inner)
    near = replace(near, "connect = redis.example.org:6380", "connect = 127.0.0.1:" .. outer)
    near = replace(near, "/etc/ssl/certs/ca-certificates.crt", place.path .. "/cert.pem")
    start_end("far", far)
    start_end("near", near)
    return inner
  end

  it("carries what a client asks", function()
    local port = open_ends()
    local society = place:start(("run %s --state st --redis redis://127.0.0.1:%d"):format(
      program.quote(tree.path("examples/redis/office.lua")), port))
    started[#started + 1] = society
    society:expect("the office is open")
    server:push("HUNTER", { correlation_id = "c1", content = "Ada" })
    assert.equal("Ada", server:reply("c1").customer)
  end)

  it("carries what hosts say to each other", function()
    local url = "redis://127.0.0.1:" .. open_ends()
    for _, names in ipairs({ { "lab", "office" }, { "office", "lab" } }) do
      started[#started + 1] = place:start(("run %s --state %s --redis %s --host %s --peers %s")
        :format(program.quote(tree.path(("examples/hosts/%s.lua"):format(names[1]))), names[1],
          url, names[1], names[2]))
    end
    program.wait_for("the office to have asked the lab", function()
      local links = program.rows(place:run("inspect links --json --state office"))
      return links[1] and links[1].state == "up" and links[1].acked > 0 and links[1].taken > 0
    end)
  end)
end)
