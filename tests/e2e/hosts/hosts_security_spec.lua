-- Joined hosts whose frames are signed, each with an ACL user of examples/hosts/users.acl: the
-- key and the passwords are in no file, output or stream, and a frame under another key is
-- refused.

local program = require("program")
local redis_server = require("redis_server")
local tree = require("tree")

local KEY = "canary-key-of-frames-77"
local PASSWORD = "canary-password-31"

local BETA = [[
local society = require("society")
society.config { name = "acme", hosts = { secret_env = "ACME_KEY" } }
society.root { general = function(_, message)
  return { text = "hello " .. message.payload.text }
end }
]]

local ALPHA = [[
local society = require("society")
society.config { name = "acme", hosts = { secret_env = "ACME_KEY" } }
society.root(function() end)
society.main(function(user)
  local answer, err = user:request { to = "root@beta", payload = "Ada", timeout_ms = 250000 }
  print(answer and answer.payload.text or err.error)
end)
]]

local function read(name)
  local file = assert(io.open(tree.path(name)))
  local text = file:read("a")
  file:close()
  return text
end

-- The users of the file, all with the same password.
local function acl_lines()
  return (read("examples/hosts/users.acl"):gsub(">change%-me%-%d", ">" .. PASSWORD))
end

describe("hosts whose frames are signed", function()
  local place, server, started

  before_each(function()
    place = program.place()
    place:write("users.acl", acl_lines())
    started = {}
    server = redis_server.open(place, "--aclfile users.acl", "keeper:" .. PASSWORD)
    place:write("alpha.lua", ALPHA)
    place:write("beta.lua", BETA)
  end)

  after_each(function()
    for _, running in ipairs(started) do
      if not running:code() then
        running:kill("KILL")
        running:wait()
      end
    end
    server:close()
    place:remove()
  end)

  local function start(name, peer, key)
    local built = place.program
    place.program = "env"
    place:shell("rm -f " .. name .. "/socket")
    local url = server.url:gsub("://", "://" .. name .. ":" .. PASSWORD .. "@")
    local running = place:start(("ACME_KEY=%s %s run %s.lua --state %s --redis %s --host %s "
      .. "--peers %s"):format(key, program.quote(built), name, name, url, name, peer))
    place.program = built
    started[#started + 1] = running
    return running
  end

  it("have the users that the page prints, who read no mail of others", function()
    assert.is_truthy(read("docs/redis.md"):find("```text\n" .. read("examples/hosts/users.acl")
      .. "```", 1, true))
    local alpha = server:as("alpha:" .. PASSWORD)
    local add = "XADD society:acme:{gamma}:from:%s 1-1 f x"
    assert.matches("1-1", alpha:call(add:format("alpha")), 1, true)
    for _, command in ipairs({ add:format("beta"), "XRANGE society:acme:{gamma}:from:alpha - +",
      "XREAD STREAMS society:acme:{beta}:from:gamma 0", "FLUSHALL", "KEYS *" }) do
      assert.matches("NOPERM", alpha:call(command), 1, true)
    end
  end)

  it("keep key and passwords out of every file, output and stream", function()
    local beta = start("beta", "alpha", KEY)
    local alpha = start("alpha", "beta", KEY)
    alpha:expect("hello Ada")
    local streams = server:call("KEYS society:acme:*")
    assert.matches("society:acme:{beta}:from:alpha", streams, 1, true)
    for key in streams:gmatch('"(society:[^"]+)"') do
      for _, text in ipairs({ server:call("DUMP " .. key), server:call("XRANGE " .. key .. " - +"),
        server:call("HGETALL " .. key) }) do
        assert.not_matches("NOPERM", text, 1, true)
        assert.not_matches("canary", text, 1, true)
      end
    end
    for _, running in ipairs({ alpha, beta }) do
      running:kill("TERM")
      local ended = running:wait()
      assert.not_matches("canary", ended.out .. ended.err, 1, true)
    end
    assert.equal("", place:shell("grep -rlE 'canary-(key|password)' alpha beta").out)
  end)

  it("refuse a frame that is signed with another key", function()
    local beta = start("beta", "alpha", KEY)
    local alpha = start("alpha", "beta", "another-key-than-that-of-beta")
    beta:expect("frame_refused")
    assert.not_matches("hello", alpha:out(), 1, true)
    assert.not_matches("canary", beta:err(), 1, true)
  end)

  -- One host is restarted at a time, as docs/hosts.md says; the other runs on.
  it("change their key without a pause", function()
    local OLD, NEW = KEY, "the-key-that-comes-next"
    local running, asked = {}, 0
    place:write("alpha.lua", BETA)
    local function ask()
      asked = asked + 1
      local result = place:run(("call request --state alpha %s"):format(program.quote(
        ('{"to":"root@beta","payload":{"text":"%d"},"timeout_ms":250000}'):format(asked))))
      assert.equal(0, result.code, result.err)
      assert.matches("hello " .. asked, result.out, 1, true)
    end
    local function restart(name, peer, keys)
      if running[name] then
        running[name]:kill("TERM")
        assert.not_matches("frame_refused", running[name]:wait().err, 1, true)
      end
      running[name] = start(name, peer, keys)
      program.wait_for("the socket of " .. name, function()
        return place:shell("test -S " .. name .. "/socket").code == 0
      end)
    end
    for _, keys in ipairs({ OLD, OLD .. "," .. NEW, NEW .. "," .. OLD, NEW }) do
      restart("alpha", "beta", keys)
      if running.beta then
        ask()
      end
      restart("beta", "alpha", keys)
      ask()
    end
  end)
end)
