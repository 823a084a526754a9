--- desk: a running society with the file door, for the end-to-end specs.
--
--     local desk = require("desk")
--     local d = desk.open({ polling = { force = true } })
--     d:tell({ command = "hire", id = "a" })       -- what root replies
--     d:append("channel/agents/a.ack", text)       -- as an outside agent does
--     local heard = d:heard()                      -- what root was told by others
--     d:close()

local json = require("society.json")
local program = require("program")
local tree = require("tree")

local M = {}

local Desk = {}
Desk.__index = Desk

local HEARTBEAT_MS = 86400000

--- How long an ack is waited for, unless the settings say otherwise.
M.ACK_MS = 600000

local function app_path()
  return program.quote(tree.path("tests/e2e/apps/desk.lua"))
end

--- Starts a society in a place of its own; `settings` are those of the file door. `prepare`
-- is a shell command that comes first. `environment` is a function of the place that
-- returns the environment of the program; by default it has a clock that can be advanced.
-- `options` are more options of `society run`.
function M.open(settings, prepare, environment, options)
  local place = program.place()
  local d = setmetatable({ place = place, dir = "w" }, Desk)
  d.environment = environment and environment(place) or place:clock()
  d.place:shell(prepare or ":")
  settings = settings or {}
  settings.dir = settings.dir or "w"
  -- Nothing times out because the machine is slow: specs set a timeout, or advance the
  -- clock.
  settings.ack = settings.ack or {}
  settings.ack.timeout_ms = settings.ack.timeout_ms or M.ACK_MS
  settings.heartbeat = settings.heartbeat or {}
  settings.heartbeat.timeout_ms = settings.heartbeat.timeout_ms or HEARTBEAT_MS
  d.arguments = ("run %s --state st --quiet %s -- %s"):format(app_path(), options or "",
    program.quote(json.encode(settings)))
  d:start()
  return d
end

--- Opens a desk as M.open does, with one agent `a`.
function M.open_with_agent(...)
  local d = M.open(...)
  d:tell({ command = "hire", id = "a" })
  d:await_event("registered")
  return d
end

function Desk:start()
  self.place:shell("rm -f st/socket") -- of a society that was killed
  self.running = self.place:start(self.arguments, self.environment)
  program.wait_for("the control socket", function()
    return self.place:shell("test -S st/socket").code == 0
  end)
end

--- Ends the process by a signal and starts it again, unless `stays`.
function Desk:kill(signal, stays)
  self.running:kill(signal or "KILL")
  self.running:wait()
  if not stays then
    self:start()
  end
end

--- Tells root to do something and returns its reply.
function Desk:tell(payload)
  local result = self.place:run(("send --state st --to root --wait --timeout %d --json-payload %s")
    :format(300000, program.quote(json.encode(payload))))
  return json.decode(result.out) or error("root did not reply: " .. result.out .. result.err, 2)
end

--- Sends it without waiting.
function Desk:ask(payload)
  assert(self.place:run(("send --state st --to root --json-payload %s"):format(
    program.quote(json.encode(payload)))).code == 0)
end

function Desk:read(name)
  return self.place:read(self.dir .. "/" .. name)
end

--- The lines of a file, decoded; false for one that is not JSON.
function Desk:lines(name)
  local list = {}
  local is_queue = name:find("^channel/agents/%w+%.jsonl$")
  for line in (self:read(name) or ""):gmatch("([^\n]*)\n") do
    local decoded = json.decode(line) or false
    if not (is_queue and decoded and decoded.ack_for) then
      list[#list + 1] = decoded
    end
  end
  return list
end

--- The acks in the queue of an agent.
function Desk:acks(id)
  local list = {}
  for line in (self:read("channel/agents/" .. id .. ".jsonl") or ""):gmatch("([^\n]*)\n") do
    local decoded = json.decode(line)
    list[#list + 1] = decoded and decoded.ack_for and decoded or nil
  end
  return list
end

function Desk:append(name, text)
  local file = assert(io.open(self.place.path .. "/" .. self.dir .. "/" .. name, "ab"))
  file:write(text)
  file:close()
end

--- Appends one line.
function Desk:put(name, message)
  self:append(name, json.encode(message) .. "\n")
end

--- Waits until a file has `count` lines and returns them.
function Desk:await(name, count)
  return program.wait_for(("%d lines in %s"):format(count, name), function()
    local lines = self:lines(name)
    return #lines >= count and lines
  end)
end

-- How many of the first lines of a run repeat the last ones before it.
local function count_repeated(before, lines)
  for count = math.min(#before, #lines), 1, -1 do
    if table.concat(before, "\n", #before - count + 1) == table.concat(lines, "\n", 1, count) then
      return count
    end
  end
  return 0
end

--- What root printed: messages from everybody but the user. Lines that were printed just before
-- a kill, and whose printing was not recorded yet, are printed again by the next run; they count
-- once.
function Desk:heard()
  local list, all = {}, {}
  for number = 1, self.place.count do
    local lines = {}
    for line in (self.place:read((".job%d.out"):format(number)) or ""):gmatch("[^\n]+") do
      lines[#lines + 1] = line
    end
    for index = count_repeated(all, lines) + 1, #lines do
      all[#all + 1] = lines[index]
      list[#list + 1] = json.decode(lines[index])
    end
  end
  return list
end

function Desk:await_heard(count)
  return program.wait_for(("%d messages at root"):format(count), function()
    local heard = self:heard()
    return #heard >= count and heard
  end)
end

--- Waits until agents.json shows the agent with that status and returns its entry.
function Desk:await_status(id, status)
  return program.wait_for(id .. " to be " .. status, function()
    local all = json.decode(self:read("state/agents.json") or "")
    return all and all.agents[id] and all.agents[id].status == status and all.agents[id]
  end)
end

--- Waits for an event of the log and returns it.
function Desk:await_event(event, log)
  return program.wait_for("the event " .. event, function()
    for _, line in ipairs(self:lines(log or "logs/events.jsonl")) do
      if line.event == event then
        return line
      end
    end
  end)
end

--- Sets the clock of the society forward and wakes it.
function Desk:advance(ms)
  self.place:advance(ms)
  self.place:shell("society inspect stats --state st > /dev/null 2>&1 & true")
end

--- Advances the clock and waits until the society has acted on it: it answers only between
-- two steps of its loop, and timers that are due run first.
function Desk:pass(ms)
  self.place:advance(ms)
  for _ = 1, 3 do
    self.place:run("inspect stats --state st")
  end
end

--- Lets the time for every open ack run out: advances the clock, and waits until a message
-- to the agent `id`, which nobody acks, is sent again. By then everything due earlier has
-- been sent again. The agent must exist already.
function Desk:outwait_acks(id)
  local queue = ("channel/agents/%s.jsonl"):format(id)
  local task = "never_acked_by_" .. id
  local function count()
    local found = 0
    for _, line in ipairs(self:lines(queue)) do
      found = found + (line and line.task_id == task and 1 or 0)
    end
    return found
  end
  if count() == 0 then
    self:tell({ command = "send", message = {
      to = id, type = "task_assign", payload = { task_id = task } } })
  end
  program.wait_for("the message to be sent", function() return count() == 1 end)
  self:advance(M.ACK_MS)
  program.wait_for("the message to be sent again", function() return count() == 2 end)
end

--- How often the message of that id is in the queue of an agent.
function Desk:deliveries(agent, id)
  local found = 0
  for _, line in ipairs(self:lines(("channel/agents/%s.jsonl"):format(agent))) do
    found = found + (line and line.id == id and 1 or 0)
  end
  return found
end

--- Does something that the society sees only when it is complete: it is stopped meanwhile.
function Desk:at_once(write)
  self.running:kill("STOP")
  program.wait_for("the society to stand still", function()
    local file = assert(io.open(("/proc/%s/stat"):format(self.running.pid)))
    local state = file:read("a"):match("%) (%a)")
    file:close()
    return state == "T"
  end)
  write()
  self.running:kill("CONT")
end

--- Starts no turn of root until it is resumed: its mailbox fills up.
function Desk:pause_root()
  assert(self.place:run("pause root --state st").code == 0)
end

function Desk:resume_root()
  assert(self.place:run("resume root --state st").code == 0)
end

--- Assigns agent `a` the task t<number>.
function Desk:assign(number)
  self:tell({ command = "send", message = {
    to = "a", type = "task_assign", payload = { task_id = "t" .. number } } })
end

--- How often an event is in a log, by default that of errors.
function Desk:count(event, log)
  local found = 0
  for _, line in ipairs(self:lines(log or "logs/errors.jsonl")) do
    found = found + (line.event == event and 1 or 0)
  end
  return found
end

function Desk:close()
  self.running:kill("KILL")
  self.running:wait()
  self.place:remove()
end

return M
