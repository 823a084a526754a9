-- Two hosts that ask a Sentinel where Redis is: its replica takes over when it is killed, and the
-- hosts go on there.
--
-- Covers: core/net/redis_carrier.c

local hosts_pair = require("hosts_pair")
local program = require("program")
local redis = require("redis")
local redis_server = require("redis_server")

local CONF = [[
port PORT
bind 127.0.0.1
dir .
sentinel monitor main 127.0.0.1 MASTER 1
sentinel down-after-milliseconds main 60000
sentinel failover-timeout main 10000
]]

describe("hosts joined through a Sentinel", function()
  if not redis.is_there() then
    pending("redis-server is not installed")
    return
  end
  local place, first, second, sentinel, pair

  before_each(function()
    place = program.place()
    first = redis_server.open(place)
    second = redis_server.open(place, "--replicaof 127.0.0.1 " .. first.port)
    sentinel = { port = redis_server.free_port(place) }
    place:write("sentinel.conf", (CONF:gsub("PORT", sentinel.port):gsub("MASTER", first.port)))
    local built = place.program
    place.program = "redis-server"
    sentinel.running = place:start("sentinel.conf --sentinel")
    place.program = built
    sentinel.url = ("sentinel://127.0.0.1:%d/main"):format(sentinel.port)
    function sentinel.stop()
      sentinel.running:kill("KILL")
      sentinel.running:wait()
    end
    pair = hosts_pair.open(place, sentinel)
  end)

  after_each(function()
    pair:close()
    for _, server in ipairs({ first, second }) do
      if not server.running:code() then
        server:close()
      end
    end
    place:remove()
  end)

  local function ask(command)
    return place:shell(("redis-cli -p %d %s"):format(sentinel.port, command)).out
  end

  it("go on with the replica when the master is killed", function()
    pair:start("beta")
    pair:start("alpha")
    pair:wait_for("up", "up")
    pair:send("alpha", 1)
    pair:arrives("beta", 1)
    program.wait_for("the replica", function()
      return ask("sentinel replicas main"):find(tostring(second.port), 1, true)
        and second:call("INFO replication"):find("master_link_status:up", 1, true)
    end)
    -- Not before: a machine that is slow for a second is no reason to change the master.
    ask("sentinel set main down-after-milliseconds 1000")
    first:stop()
    pair:send("alpha", 2)
    pair:send("beta", 1)
    pair:arrives("beta", 2)
    pair:arrives("alpha", 1)
    pair:wait_for("up", "up")
    assert.matches("role:master", second:call("INFO replication"), 1, true)
    assert.is_nil(pair:root("beta").fault)
    assert.is_true(pair:alerts("alpha", "carrier_lost") > 0)
  end)
end)
