-- Three real hosts that write to each other without a pause, with a real Redis server behind a
-- proxy: each fault alone, then all of them together. After each, everything drains; at the end
-- the databases say that each message arrived once and in order.
-- HOSTS_SECONDS is how long the faults go on together (5), SEED determines them (1). From a
-- minute on (make soak) the machine is expected to be free, and each drain to end within 10 s.
--
-- Covers: core/bridge/links/link.c, core/bridge/links/links.c
-- Covers: core/net/redis_carrier.c, core/net/redis.c

local hosts_fleet = require("hosts_fleet")
local program = require("program")
local redis = require("redis")
local redis_server = require("redis_server")

local SECONDS = tonumber(os.getenv("HOSTS_SECONDS")) or 5
local SEED = tonumber(os.getenv("SEED")) or 1
local IS_LONG = SECONDS >= 60
local DRAIN_SECONDS_MAX = 10
local STOP_SECONDS = IS_LONG and 7 or 1 -- the longer one is beyond the silence of a connection

local function pause(seconds)
  os.execute(("sleep %.2f"):format(seconds))
end

local function restart(server, signal)
  server:stop(signal)
  server:start()
end

-- Each takes the fleet and the name of one host.
local FAULTS = {
  {
    name = "a kill of a host",
    strike = function(fleet, name)
      fleet:kill(name)
      fleet:start(name)
    end,
  },
  {
    name = "a kill of Redis",
    strike = function(fleet) restart(fleet.server) end,
  },
  {
    name = "a host that is stopped for a while",
    strike = function(fleet, name)
      fleet.hosts[name]:kill("STOP")
      pause(STOP_SECONDS)
      fleet.hosts[name]:kill("CONT")
    end,
  },
  {
    name = "Redis stopped for a while",
    strike = function(fleet)
      fleet.server.running:kill("STOP")
      pause(STOP_SECONDS)
      fleet.server.running:kill("CONT")
    end,
  },
  {
    name = "FLUSHALL",
    strike = function(fleet) fleet.server:call("FLUSHALL") end,
  },
  {
    name = "CLIENT KILL",
    strike = function(fleet) fleet.server:call("CLIENT KILL TYPE normal") end,
  },
  {
    name = "connections that are cut anywhere",
    strike = function(fleet, _, random)
      fleet:cut(20000, random(1, 1000000))
      pause(0.5)
      fleet:cut(0)
    end,
  },
}

describe("three hosts under faults", function()
  if not redis.is_there() then
    pending("redis-server is not installed")
    return
  end
  local place, fleet

  before_each(function()
    place = program.place()
  end)

  after_each(function()
    if fleet then
      fleet:close()
    end
    fleet = nil
    place:remove()
  end)

  local function drain(after)
    local seconds = fleet:drain()
    if IS_LONG then
      assert.is_true(seconds <= DRAIN_SECONDS_MAX, ("%d s after %s"):format(seconds, after))
    end
  end

  -- Strikes at random, for a while.
  local function storm(random, seconds)
    local deadline = os.time() + seconds
    while os.time() < deadline do
      FAULTS[random(#FAULTS)].strike(fleet, hosts_fleet.names[random(3)], random)
      pause(random() * (IS_LONG and 2 or 0.5))
    end
  end

  local function random_of(seed)
    math.randomseed(seed)
    return math.random
  end

  it("drain after each of them alone, and after all together", function()
    local random = random_of(SEED)
    fleet = hosts_fleet.open(place)
    drain("the start")
    for i, fault in ipairs(FAULTS) do
      fault.strike(fleet, hosts_fleet.names[(i + SEED) % 3 + 1], random)
      drain(fault.name)
    end
    storm(random, SECONDS)
    drain("all together")
    assert.is_true(fleet:finish() > 0)
  end)

  it("drain when Redis keeps a file that is synced every second", function()
    fleet = hosts_fleet.open(place, "--appendonly yes --appendfsync everysec")
    drain("the start")
    for _ = 1, IS_LONG and 20 or 2 do
      restart(fleet.server)
      drain("a kill of Redis with a file")
    end
    assert.is_true(fleet:finish() > 0)
  end)

  it("drain when a replica is promoted that lags behind", function()
    fleet = hosts_fleet.open(place)
    local replica = redis_server.open(place,
      ("--dbfilename replica.rdb --replicaof 127.0.0.1 %d"):format(fleet.server.port))
    program.wait_for("the replica to follow", function()
      return replica:call("INFO replication"):find("master_link_status:up", 1, true)
    end)
    drain("the start")
    replica:call("REPLICAOF NO ONE") -- what comes from here on is not in it
    drain("what the replica misses")
    fleet:lead_to(replica.port)
    fleet.server:stop()
    fleet.server = replica
    drain("the promotion")
    assert.is_true(fleet:finish() > 0)
  end)
end)
