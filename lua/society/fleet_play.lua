--- fleet_play: runs the apps of several hosts in virtual time, from a seed, with faults.

local books = require("society.fleet_books")
local json = require("society.json")
local society = require("society")

local M = {}

--- The faults of hosts and of the carrier between them, in the order they are drawn. Besides, each
-- host has those of a single one.
M.faults = { "crash", "cut", "partition", "flush", "failback", "late", "skew" }

local ROUNDS = 24

-- A generator of its own: the same seed plays the same faults whatever the hosts draw.
local function generator(seed)
  local state = seed * 2862933555777941757 + 3037000493
  return function(n)
    state = state * 6364136223846793005 + 1442695040888963407
    return (state >> 33) % n
  end
end

local deeds = {}

function deeds.crash(p, name)
  if p.down[name] then
    p.fleet:host(name):recover()
  else
    p.fleet:host(name):crash()
  end
  p.down[name] = not p.down[name]
end

local function set_cut(p, name, is_cut)
  if is_cut then
    p.fleet:cut(name)
  else
    p.fleet:mend(name)
  end
  p.cut[name] = is_cut
end

function deeds.cut(p, name)
  set_cut(p, name, not p.cut[name])
end

-- Some reach the carrier, the others do not.
function deeds.partition(p)
  for _, name in ipairs(p.names) do
    set_cut(p, name, p.random(2) == 0)
  end
end

function deeds.flush(p)
  p.fleet:flush()
end

function deeds.failback(p)
  p.fleet:failback(1 + p.random(5))
end

function deeds.late(p)
  p.fleet:delay(p.random(2) * p.random(400))
end

function deeds.skew(p)
  p.fleet:skew(p.random(7200000) - 3600000)
end

local function calm_down(p)
  p.fleet:calm()
  p.fleet:mend()
  p.fleet:delay(0)
  p.fleet:skew(0)
  for _, name in ipairs(p.names) do
    set_cut(p, name, false)
    if p.down[name] then
      deeds.crash(p, name)
    end
  end
end

local function find_waits(p)
  for _, name in ipairs(p.names) do
    for _, wait in ipairs(p.fleet:host(name):waits()) do
      if wait.agent == "user" then
        return ("main of %s has not finished; waiting: %s"):format(name, json.encode(wait))
      end
    end
  end
  return nil
end

local function strike(p, faults)
  local fault = faults[1 + p.random(#faults)]
  local name = p.names[1 + p.random(#p.names)]
  p.log[#p.log + 1] = ("%d %s %s"):format(p.now, fault, name)
  deeds[fault](p, name)
end

local function strike_often(p, faults)
  p.fleet:delay(p.random(300)) -- otherwise most is over before the first fault
  for _ = 1, ROUNDS do
    local ms = p.random(1500)
    p.now = p.now + ms
    p.fleet:advance(ms)
    if #faults > 0 then
      strike(p, faults)
    end
  end
end

--- Plays one seed. `options`: `seed`, `hosts` (name -> as of society.new), `faults` (a list of
-- names), `within` (names of faults of a single host, which strike in all of them), `quiet`.
-- Returns nil or what went wrong, the transcripts by host, the log of faults, the dumps by host,
-- and how many acknowledgements were seen to leave.
function M.play(options)
  local p = { names = {}, random = generator(options.seed), down = {}, cut = {}, log = {}, now = 0 }
  for name in pairs(options.hosts) do
    p.names[#p.names + 1] = name
  end
  table.sort(p.names)
  p.fleet = society.new { seed = options.seed, quiet = options.quiet, hosts = options.hosts,
    faults = options.within }
  if #options.faults > 0 or options.within then
    strike_often(p, options.faults)
  end
  calm_down(p)
  p.fleet:advance(20000)
  p.fleet:run()
  local fault, acks = p.fleet:fault()
  fault = fault or find_waits(p) or books.check(p.fleet, p.names)
  local transcripts, dumps = {}, {}
  for _, name in ipairs(p.names) do
    transcripts[name] = p.fleet:host(name):transcript()
    dumps[name] = p.fleet:host(name):dump()
  end
  p.fleet:close()
  return fault, transcripts, p.log, dumps, acks
end

return M
