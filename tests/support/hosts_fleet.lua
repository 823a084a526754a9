--- hosts_fleet: three real hosts that write to each other through a Redis server behind a proxy
-- that cuts, for the end-to-end specs of faults.
--
--     local fleet = hosts_fleet.open(place)       -- Redis, the proxy and the hosts run
--     fleet:kill("alpha"); fleet:start("alpha")
--     fleet:cut(2000, seed); fleet:cut(0)         -- connections are cut; no longer
--     fleet:drain()                               -- seconds until all sent so far was taken
--     fleet:finish()                              -- stops; the books of all databases agree
--     fleet:close()

local json = require("society.json")
local program = require("program")
local redis_server = require("redis_server")
local tree = require("tree")

local M = {}

M.names = { "alpha", "beta", "gamma" }

-- Root sends numbered reports to both others, step by step, until it is told that it is over. It
-- keeps the last number of each and notes what is not the next.
local APP = [[
local society = require("society")
society.config { name = "trio", hosts = { secret_env = "TRIO_KEY" } }
local PEERS = PEER_LIST
local PER_STEP, PAUSE_MS, FULL_MS = 5, 20, 100

-- One report to each; a full outbox delays it.
local function report(root, number)
  for _, peer in ipairs(PEERS) do
    local function send()
      return root:send_message { to = "root@" .. peer, type = "status_report",
        payload = { number = number } }
    end
    local sent, err = send()
    while not sent do
      assert(err.error == "mailbox_full", err.message)
      root:sleep(FULL_MS)
      sent, err = send()
    end
  end
end

local function step(root)
  local number = root.state.number or 0
  if root.state.is_over then
    root.state.total = number
    return
  end
  for _ = 1, PER_STEP do
    number = number + 1
    report(root, number)
  end
  root.state.number = number
  root:sleep(PAUSE_MS)
  root:send_message { to = "root", payload = { step = true } }
end

society.root {
  status_report = function(root, message)
    local last = root.state.last or {}
    local before = last[message.from] or 0
    last[message.from] = message.payload.number
    root.state.last = last
    if message.payload.number ~= before + 1 then
      root.state.fault = ("%s: %d after %d"):format(message.from, message.payload.number, before)
    end
  end,
  general = function(root, message)
    if message.payload.start then
      for _, peer in ipairs(PEERS) do
        assert(root:add_contact { id = "root@" .. peer })
      end
      step(root)
    elseif message.payload.step then
      step(root)
    else
      root.state.is_over = true
    end
  end,
}

society.main(function(user)
  user:send_message { to = "root", payload = { start = true } }
end)
]]

local Fleet = {}
Fleet.__index = Fleet

local function others(name)
  local list = {}
  for _, other in ipairs(M.names) do
    if other ~= name then
      list[#list + 1] = other
    end
  end
  return list
end

function Fleet:start_proxy()
  self.proxy_port = redis_server.free_port(self.place)
  self.target, self.cut_bytes, self.seed = self.server.port, 0, 1
  self:write_proxy()
  local built = self.place.program
  self.place.program = "python3"
  self.proxy = self.place:start(("%s %d proxy"):format(
    program.quote(tree.path("tests/support/cutting_proxy.py")), self.proxy_port))
  self.place.program = built
  self.proxy:expect("ready")
end

function Fleet:write_proxy()
  self.place:write("proxy.new", ("%d %d %d"):format(self.target, self.cut_bytes, self.seed))
  self.place:shell("mv proxy.new proxy")
end

--- Has connections cut after at most so many bytes, from now on; 0: not any more.
function Fleet:cut(bytes, seed)
  self.cut_bytes, self.seed = bytes, seed or self.seed
  self:write_proxy()
  self.proxy:kill("HUP")
end

--- Leads all connections to another server.
function Fleet:lead_to(port)
  self.target = port
  self:cut(self.cut_bytes)
end

--- Starts a host, unless it runs.
function Fleet:start(name)
  local running = self.hosts[name]
  if running and not running:code() then
    return
  end
  self.hosts[name] = self.place:start(
    ("run %s.lua --state %s --redis redis://127.0.0.1:%d --host %s --peers %s --log error"):format(
      name, name, self.proxy_port, name, table.concat(others(name), ",")),
    "TRIO_KEY=the-key-of-the-trio")
end

function Fleet:kill(name)
  self.hosts[name]:kill("KILL")
  self.hosts[name]:wait()
  self.place:shell("rm -f " .. name .. "/socket") -- so that nobody takes it for a running host
end

-- States that no fault may lead to.
local STOPPED = { fenced = true, state_rolled_back = true, peer_rolled_back = true,
  peer_replaced = true, not_recognized = true, number_taken = true }

--- Calls `look` for each link of each host. False: one does not answer, or `look` says so.
local function all(fleet, look)
  for _, name in ipairs(M.names) do
    local running = fleet.hosts[name]
    assert(not running:code(), running:err())
    local links = fleet.place:run("inspect links --json --state " .. name)
    if links.code ~= 0 then
      return false
    end
    for _, link in ipairs(program.rows(links)) do
      assert(not STOPPED[link.state], link.state)
      if not link.window or look(name, link) == false then
        return false
      end
    end
  end
  return true
end

--- Waits until everything that was sent before this call is durable at its receiver. Returns
-- the seconds that took.
function Fleet:drain()
  local before = os.time()
  local goals = {}
  program.wait_for("the goals", function()
    return all(self, function(name, link)
      goals[name .. link.host] = link.sent + link.waiting
    end)
  end)
  program.wait_for("the fleet to drain", function()
    return all(self, function(name, link)
      return link.acked >= goals[name .. link.host]
    end)
  end)
  return os.difftime(os.time(), before)
end

local function root_of(fleet, name)
  local rows = program.rows(fleet.place:run("inspect agent root --json --state " .. name))
  return rows[1] and rows[1].state or {}
end

--- The reports from one host to another, in the database of `where`, in order of arrival.
local function reports(fleet, where, sender, receiver)
  local list = {}
  for _, row in ipairs(program.rows(fleet.place:run(
    "inspect messages --limit 1000000000 --json --state " .. where))) do
    if row.from == sender and row.to == receiver and row.type == "status_report" then
      list[#list + 1] = ("%d %s"):format(row.payload.number, row.status)
    end
  end
  return list
end

--- Ends the sending, waits until all has arrived, stops the hosts and compares their databases.
-- Returns the number of messages.
function Fleet:finish()
  local totals, count = {}, 0
  for _, name in ipairs(M.names) do
    assert(self.place:run(("call send --state %s %s"):format(name, program.quote(json.encode({
      to = "root", payload = { is_over = true } })))).code == 0)
  end
  for _, name in ipairs(M.names) do
    program.wait_for("the last step of " .. name, function()
      totals[name] = root_of(self, name).total
      return totals[name]
    end)
  end
  program.wait_for("all to arrive", function()
    local is_all = true
    for _, name in ipairs(M.names) do
      local state = root_of(self, name)
      assert(not state.fault, state.fault)
      for _, other in ipairs(others(name)) do
        is_all = is_all and (state.last or {})["root@" .. other] == totals[other]
      end
    end
    return is_all and all(self, function(_, link)
      return link.acked == link.sent and link.waiting == 0
    end)
  end)
  for _, name in ipairs(M.names) do
    self.hosts[name]:kill("TERM")
    self.hosts[name]:wait()
  end
  for _, name in ipairs(M.names) do
    for _, other in ipairs(others(name)) do
      local sent = reports(self, name, "root", "root@" .. other)
      local taken = reports(self, other, "root@" .. name, "root")
      assert(#sent == totals[name], ("%s has sent %d of %d"):format(name, #sent, totals[name]))
      assert(#taken == #sent, ("%s has taken %d of %d"):format(other, #taken, #sent))
      for i = 1, #sent do
        assert(sent[i] == i .. " handed_over", sent[i])
        assert(taken[i] == i .. " processed", taken[i])
      end
      count = count + #sent
    end
  end
  return count
end

function Fleet:close()
  for _, running in pairs(self.hosts) do
    if not running:code() then
      running:kill("KILL")
      running:wait()
    end
  end
  if not self.server.running:code() then
    self.server:close()
  end
  self.proxy:kill("KILL")
  self.proxy:wait()
end

--- Starts it all; `options` are of redis-server.
function M.open(place, options)
  local fleet = setmetatable({ place = place, hosts = {} }, Fleet)
  fleet.server = redis_server.open(place, options)
  fleet:start_proxy()
  for _, name in ipairs(M.names) do
    local app = APP:gsub("PEER_LIST", ("{ %q, %q }"):format(table.unpack(others(name))))
    place:write(name .. ".lua", app)
    fleet:start(name)
  end
  return fleet
end

return M
