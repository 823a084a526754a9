-- Rings of waits through three hosts by seed, under the faults of the carrier and of hosts: every
-- deadlock that was reported existed, in the logs of all hosts; none is left; every wait ends; and
-- the books agree. The same twice.
--
-- Covers: core/parts/hosts/hosts_probe.c, core/parts/hosts/hosts_ring.c
--
-- FLEET_RINGS_SEEDS is the number of seeds (25).

local books = require("society.fleet_books")
local json = require("society.json")
local rings = require("far_rings")
local scene = require("scene")

local SEEDS = tonumber(os.getenv("FLEET_RINGS_SEEDS") or "25")
local NAMES = { "alpha", "beta", "gamma" }
local AGENTS = { "x@alpha", "y@alpha", "x@beta", "y@beta", "x@gamma", "y@gamma" }
local ROUNDS = 30
local FOUND_MS = 1500 -- while nothing strikes

-- A small generator of its own: the spec is the same in every run.
local function chance(seed)
  local state = seed
  return function(n)
    state = (state * 1103515245 + 12345) % 2147483648
    return state // 65536 % n + 1
  end
end

-- An order for `agent` to wait for others, mostly elsewhere.
local function make_order(pick, agent)
  local function other()
    local id
    repeat
      id = AGENTS[pick(#AGENTS)]
    until id ~= agent
    return id
  end
  local order = { timeout_ms = 4000 + pick(16) * 1000 }
  local kind = pick(8)
  if kind <= 3 then
    order.request = other()
  elseif kind <= 6 then
    order.receive, order.type = other(), pick(2) == 1 and "note" or nil
  elseif kind == 7 then
    order.checkpoint = { other() }
    order.checkpoint[2] = other()
    if order.checkpoint[2] == order.checkpoint[1] then
      order.checkpoint[2] = nil
    end
  else
    order.ack = other()
  end
  if pick(3) == 1 then
    order.send, order.as = other(), "note"
  end
  return order
end

local function is_up(p, name)
  return not p.down[name]
end

local deeds = {}

function deeds.crash(p, name)
  if p.down[name] then
    p.f[name]:recover()
  else
    p.f[name]:crash()
  end
  p.down[name] = not p.down[name]
end

function deeds.cut(p, name)
  p.f[p.cut[name] and "mend" or "cut"](p.f, name)
  p.cut[name] = not p.cut[name]
end

function deeds.flush(p) p.f:flush() end
function deeds.failback(p) p.f:failback(p.pick(5)) end
function deeds.late(p) p.f:delay(p.pick(2) == 1 and 0 or p.pick(300)) end

local DEEDS = { "crash", "crash", "cut", "cut", "flush", "failback", "late" }

local function give_orders(p)
  for _ = 1, 2 do
    local address = AGENTS[p.pick(#AGENTS)]
    local id, host = address:match("^(.-)@(.+)$")
    if is_up(p, host) then
      p.f[host]:send("user", { to = id, payload = make_order(p.pick, address) })
    end
  end
end

local function calm_down(p)
  p.f:calm()
  p.f:delay(0)
  for _, name in ipairs(NAMES) do
    if p.cut[name] then
      deeds.cut(p, name)
    end
    if p.down[name] then
      deeds.crash(p, name)
    end
  end
end

-- `within`: faults of single hosts; nil: nothing strikes.
local function play(seed, within)
  local hosts = {}
  for _, name in ipairs(NAMES) do
    hosts[name] = { "x", "y" }
  end
  local p = { pick = chance(seed), down = {}, cut = {},
    f = rings.fleet(hosts, { seed = seed, within = within or nil }) }
  p.f:delay(within and p.pick(400) or 0)
  for _ = 1, ROUNDS do
    give_orders(p)
    p.f:advance(p.pick(800))
    if within and p.pick(3) == 1 then
      deeds[DEEDS[p.pick(#DEEDS)]](p, NAMES[p.pick(#NAMES)])
    end
  end
  calm_down(p)
  p.f:advance(120000)
  p.f:run()
  return p.f
end

-- ---- what the logs say ----

local function address_of(id, host)
  return id:find("@", 1, true) and id or id .. "@" .. host
end

-- The waits of all agents, address -> { { from, to, on = { [address] = true } } }, by line.
local function waits_of(f)
  local waits = {}
  for _, host in ipairs(NAMES) do
    local entries = {}
    for _, type in ipairs({ "blocked", "unblocked" }) do
      for _, entry in ipairs(f[host]:activity({ type = type })) do
        entries[#entries + 1] = entry
      end
    end
    table.sort(entries, function(a, b) return a.line < b.line end)
    for _, entry in ipairs(entries) do
      local agent = address_of(entry.agent, host)
      local list = waits[agent] or {}
      waits[agent] = list
      if entry.event == "blocked" then
        local on = {}
        for _, id in ipairs(json.decode(entry.detail).waits_for) do
          on[address_of(id, host)] = true
        end
        list[#list + 1] = { from = entry.time, to = "9", on = on }
      elseif list[#list] then
        list[#list].to = entry.time
      end
    end
  end
  return waits
end

local function waits_at(waits, agent, target, time)
  for _, wait in ipairs(waits[agent] or {}) do
    if wait.from <= time and time <= wait.to and wait.on[target] then
      return true
    end
  end
  return false
end

local function all_wait_at(waits, ring, time)
  for i, agent in ipairs(ring) do
    if not waits_at(waits, agent, ring[i % #ring + 1], time) then
      return false
    end
  end
  return true
end

-- Tells whether all of a ring waited at one moment, which is when one of their waits began; its
-- first agent in the wait that ended at `time`.
local function has_existed(waits, ring, time)
  local began = "9"
  for _, wait in ipairs(waits[ring[1]]) do
    began = wait.to == time and wait.on[ring[2]] and wait.from or began
  end
  for _, agent in ipairs(ring) do
    for _, wait in ipairs(waits[agent] or {}) do
      if began <= wait.from and wait.from <= time and all_wait_at(waits, ring, wait.from) then
        return true
      end
    end
  end
  return false
end

-- The deadlocks that were reported: all existed, if clocks agree. Returns how many led through
-- several hosts.
local function check_deadlocks(f, have_clocks)
  local count = 0
  local waits = waits_of(f)
  for _, host in ipairs(NAMES) do
    for _, entry in ipairs(f[host]:activity({ type = "deadlock" })) do
      local ring = json.decode(entry.detail).cycle
      local is_far = false
      for i, id in ipairs(ring) do
        is_far = is_far or id:find("@", 1, true) ~= nil
        ring[i] = address_of(id, host)
      end
      assert.is_true(not have_clocks or has_existed(waits, ring, entry.time), json.encode(ring))
      count = count + (is_far and 1 or 0)
    end
  end
  return count
end

local function ms_of(time)
  local hour, minute, second = time:match("T(%d+):(%d+):([%d.]+)Z")
  return hour and (hour * 60 + minute) * 60000 + second * 1000 // 1 or math.huge
end

local function waits_for_alone(wait, agent)
  return wait.on[agent] and not next(wait.on, next(wait.on))
end

-- Two agents that wait for each other alone do so no longer than it takes to find out.
local function check_pairs(f)
  local waits = waits_of(f)
  for _, a in ipairs(AGENTS) do
    for _, b in ipairs(AGENTS) do
      for _, mine in ipairs(a < b and waits[a] or {}) do
        for _, theirs in ipairs(waits[b] or {}) do
          if waits_for_alone(mine, b) and waits_for_alone(theirs, a) then
            local from = math.max(ms_of(mine.from), ms_of(theirs.from))
            local to = math.min(ms_of(mine.to), ms_of(theirs.to))
            assert.is_true(to - from <= FOUND_MS, ("%s %s %s"):format(a, b, mine.from))
          end
        end
      end
    end
  end
end

local function check(f, have_clocks)
  assert.is_nil((f:fault()))
  assert.is_nil(books.check(f, NAMES))
  for _, host in ipairs(NAMES) do
    assert.same({}, f[host]:waits())
  end
  return check_deadlocks(f, have_clocks)
end

describe("rings of waits through several hosts", function()
  after_each(scene.close)

  it("are found, and nothing else, under faults and without", function()
    local found = {}
    for seed = 1, SEEDS do
      -- A crash within a step sets the clock of its host on.
      for i, within in ipairs({ false, { "evict" }, { "crash", "evict" } }) do
        local f = play(seed, within)
        found[i] = (found[i] or 0) + check(f, i < 3)
        if not within then
          check_pairs(f)
        end
        scene.close()
      end
    end
    for i = 1, 3 do
      assert.is_true(found[i] > SEEDS, table.concat(found, " "))
    end
  end)

  it("are the same twice", function()
    local function told(seed)
      local f = play(seed, { "crash", "evict" })
      return { rings.deadlocks(f, NAMES), f.alpha:dump(), f.beta:dump(), f.gamma:dump() }
    end
    assert.same(told(7), told(7))
  end)
end)
