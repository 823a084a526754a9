--- switchboard: a running society behind a Redis of its own, for the end-to-end specs.
--
--     local switchboard = require("switchboard")
--     local s = switchboard.open({ guest = "visitor" })
--     s.redis:push("clerk", { from = "Codex", content = "hello" })
--     s:tell({ command = "burst", to = "Codex", count = 3 })   -- what root replies
--     s:close()

local json = require("society.json")
local program = require("program")
local redis = require("redis_server")
local tree = require("tree")

local M = {}

local Switchboard = {}
Switchboard.__index = Switchboard

--- Starts both; `settings` are those of the door, `options` more options of redis-server.
function M.open(settings, options)
  local place = program.place()
  local s = setmetatable({ place = place, redis = redis.open(place, options) }, Switchboard)
  settings = settings or {}
  settings.url = s.redis.url
  settings.poll_ms = settings.poll_ms or 5
  s.arguments = ("run %s --state st --quiet -- %s"):format(
    program.quote(tree.path("tests/e2e/apps/switchboard.lua")),
    program.quote(json.encode(settings)))
  s:start()
  return s
end

--- Starts the society and waits until it reads.
function Switchboard:start()
  self.redis:call("DEL society:switchboard:door:owner")
  self.running = self.place:start_ready(self.arguments, "st")
  program.wait_for("the door to read", function()
    return self.running:code()
      or self.redis:call("EXISTS society:switchboard:door:owner") ~= "(integer) 0\n"
  end)
end

function Switchboard:kill(signal)
  self.running:kill(signal or "KILL")
  self.running:wait()
end

--- Tells root to do something and returns its reply.
function Switchboard:tell(payload)
  local result = self.place:run(("send --state st --to root --wait --timeout %d --json-payload %s")
    :format(300000, program.quote(json.encode(payload))))
  return json.decode(result.out) or error("root did not reply: " .. result.out .. result.err, 2)
end

--- What root has printed: what others told it.
function Switchboard:heard()
  local list = {}
  for number = 1, self.place.count do
    for line in (self.place:read((".job%d.out"):format(number)) or ""):gmatch("[^\n]+") do
      list[#list + 1] = json.decode(line)
    end
  end
  return list
end

function Switchboard:await_heard(count)
  return program.wait_for(("%d messages at root"):format(count), function()
    local heard = self:heard()
    return #heard >= count and heard
  end)
end

--- Waits for a line of the log.
function Switchboard:await_log(text)
  self.running:expect(text)
end

--- How often a text is in the log of the last run.
function Switchboard:count_log(text)
  local _, count = self.running:err():gsub(text:gsub("%p", "%%%0"), "")
  return count
end

--- Waits until the clerk has had these numbers, and returns how often each.
function Switchboard:await_counts(wanted)
  return program.wait_for(wanted .. " numbers", function()
    local rows = program.rows(self.place:run("inspect agent clerk --state st --json"))
    local counts = rows[1] and rows[1].state and rows[1].state.counts or {}
    local found = 0
    for _ in pairs(counts) do
      found = found + 1
    end
    return found >= wanted and counts
  end)
end

function Switchboard:close()
  if not self.running:code() then
    self:kill()
  end
  self.redis:close()
  self.place:remove()
end

return M
