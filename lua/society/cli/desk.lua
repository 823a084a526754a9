--- society.cli.desk: the other side of the file door, for a person who plays an outside agent.
--
-- It reads the agent's queue and the broadcasts, acks what was shown, and writes what is said
-- into the agent's own file. Which messages are done is known by the agent's acks and answers:
-- they are not shown again the next time. Those that were only received are, unless an abort
-- has ended their task. It needs only the files, not a running society; what happened to the
-- agent's lines is read from the society's log.

local follow = require("society.cli.follow")
local json = require("society.json")
local program = require("society.program")

local HEARTBEAT_MS = 10000

-- A member for ourselves: the message that a line ends. The society ignores it.
local ABOUT = "about"

local TASKS = { task_assign = true, task = true, task_assignment = true }

local M = {}

local Desk = {}
Desk.__index = Desk

local function decode(line)
  local value = json.decode(line)
  return type(value) == "table" and value or nil
end

-- The lines of a file as objects, with the last one even if it lacks its newline.
local function read_objects(workflow, place, name)
  local objects = {}
  for line in (workflow:read(place, name) or ""):gmatch("[^\n]+") do
    objects[#objects + 1] = decode(line)
  end
  return objects
end

-- Reads which messages are done: acked as processed, answered, or ended with a result.
function Desk:read_done()
  for _, name in ipairs({ self.files.ack, self.files.out }) do
    for _, line in ipairs(read_objects(self.workflow, "agents", name)) do
      local is_processed = line.status == "processed"
      for _, id in pairs({ line.reply_to, line[ABOUT], is_processed and line.msg_id or nil,
        is_processed and line.ack_for or nil }) do
        self.known[id] = true
      end
    end
  end
end

-- Reads which tasks were aborted: the message that opened one came before.
function Desk:read_aborts()
  for _, line in ipairs(read_objects(self.workflow, "agents", self.files.queue)) do
    if line.type == "abort" and line.id and line.task_id then
      self.aborts[line.task_id] = line.id
    end
  end
end

--- Opens the files of the agent `id`; or nil and why not. `show(number, envelope, line)` shows
-- a message, `warn(text)` says that a line of the agent was not accepted.
function M.open(path, id, callbacks)
  if not id:find("^%w[%w_.%-]*$") or #id > 64 or id:find("%.out$") then
    return nil, ("%s cannot be the id of an outside agent"):format(id)
  end
  local workflow, why = program.open_workflow(path)
  if not workflow then
    return nil, why
  end
  local registry
  registry, why = workflow:read("state", "agents.json")
  if not registry then
    return nil, ("%s/state/agents.json: %s"):format(path, why)
  end
  local agents = (decode(registry) or {}).agents or {}
  if not agents[id] then
    return nil, ("%s is not registered in %s/state/agents.json"):format(id, path)
  end
  local files = { queue = id .. ".jsonl", ack = id .. ".ack", out = id .. ".out.jsonl" }
  local self = setmetatable({
    id = id, workflow = workflow, files = files, show = callbacks.show, warn = callbacks.warn,
    -- Broadcasts with lesser ids came before the agent.
    since = agents[id].broadcasts_from or "",
    known = {}, aborts = {}, shown = {}, unsettled = 0, said = 0, last_ms = 0, beat_ms = 0,
    queue = follow.new(workflow, "agents", files.queue),
    broadcasts = follow.new(workflow, "channel", "broadcast.jsonl"),
    log = follow.new(workflow, "logs", "events.jsonl"),
  }, Desk)
  self:read_done()
  self:read_aborts()
  self.log:skip()
  return self
end

function Desk:ack(id, status)
  self.workflow:append("agents", self.files.ack, json.encode({
    msg_id = id, status = status, at = program.format_time(self.now_ms),
  }))
end

-- Broadcasts are read by all: those from before the agent's birth are not for it, nor are its
-- own. Acks in the queue are for programs.
function Desk:is_for_others(envelope)
  return envelope.ack_for
    or envelope.to == "All" and (envelope.id < self.since or envelope.from == self.id)
end

function Desk:is_aborted(envelope)
  local abort = envelope.task_id and self.aborts[envelope.task_id]
  return abort and envelope.id < abort and envelope.type ~= "abort"
end

-- An abort was shown: its task is not what the person talks about any more.
function Desk:drop_task(task_id)
  for _, shown in ipairs(self.shown) do
    shown.is_aborted = shown.is_aborted or shown.task_id == task_id
  end
end

function Desk:keep_shown(envelope)
  local payload = type(envelope.payload) == "table" and envelope.payload or {}
  local is_checkpoint = envelope.type == "checkpoint_request"
  self.shown[#self.shown + 1] = {
    id = envelope.id,
    type = envelope.type,
    task_id = TASKS[envelope.type] and envelope.task_id or nil,
    checkpoint_id = is_checkpoint and payload.checkpoint_id or nil,
    is_broadcast = envelope.to == "All",
  }
  return self.shown[#self.shown]
end

function Desk:take_message(line)
  local envelope = decode(line) -- nil: a piece of a line that a crash has left
  if not envelope or not envelope.id or self:is_for_others(envelope) or self.known[envelope.id]
  then
    return
  end
  self.known[envelope.id] = true
  if self:is_aborted(envelope) then
    self:ack(envelope.id, "processed")
    return
  end
  local shown = self:keep_shown(envelope)
  local is_abort = shown.type == "abort" -- who has read it has stopped
  if is_abort and envelope.task_id then
    self:drop_task(envelope.task_id)
  end
  self.show(#self.shown, envelope, line)
  local is_open = envelope.requires_ack == true and not shown.is_broadcast and not is_abort
  self:ack(envelope.id, is_open and "received" or "processed")
end

-- What the log says of one of the agent's lines: «refused: the sender does not know the
-- receiver (unknown_contact, to inner)».
local function describe_event(event)
  local reason = event.detail.reason
  if type(reason) ~= "table" then
    return ("%s: %s"):format(event.event, reason)
  end
  return ("%s: %s (%s%s)"):format(event.event, reason.message, reason.error,
    reason.to and ", to " .. reason.to or "")
end

function Desk:take_event(line)
  local event = decode(line)
  if not event or event.agent ~= self.id or not event.event then
    return
  end
  local file = type(event.detail) == "table" and event.detail.file
  local is_own = file == "channel/agents/" .. self.files.ack
    or file == "channel/agents/" .. self.files.out
  local is_refused = is_own and event.level and event.level ~= "info"
  local is_taken = event.event == "accepted" or event.event == "duplicate"
  if is_refused or is_taken then
    self.unsettled = math.max(0, self.unsettled - 1)
  end
  if is_refused then
    self.warn(describe_event(event))
  end
end

function Desk:beat()
  if self.now_ms - self.beat_ms < HEARTBEAT_MS then
    return
  end
  self.workflow:replace("heartbeat", self.id .. ".ts", program.format_time(self.now_ms) .. "\n")
  self.beat_ms = self.now_ms
end

--- Shows and acks what is new, and gives a heartbeat if one is due. False: the workflow is
-- over, its files are gone.
function Desk:look()
  local is_over = false
  self.now_ms = program.now()
  for _, file in ipairs({ self.broadcasts, self.queue }) do
    local lines = file:lines()
    is_over = is_over or not lines
    for _, line in ipairs(lines or {}) do
      self:take_message(line)
    end
  end
  for _, line in ipairs(self.log:lines() or {}) do
    self:take_event(line)
  end
  if not is_over then
    self:beat()
  end
  return not is_over
end

--- Appends a line to the agent's own file; or nil and why not. What happens to it is in the
-- log.
function Desk:say(line)
  self.now_ms = program.now()
  self.said = self.now_ms == self.last_ms and self.said + 1 or 0
  self.last_ms = self.now_ms
  line.id = ("%s-%d-%d"):format(self.id, self.now_ms, self.said)
  line.timestamp = program.format_time(self.now_ms)
  local is_written, why = self.workflow:append("agents", self.files.out, json.encode(line))
  self.unsettled = self.unsettled + (is_written and 1 or 0)
  return is_written, why
end

--- Answers a message as it wants: a checkpoint by its response, a task by a progress update,
-- anything else by a reply.
function Desk:answer(shown, text)
  if not shown.task_id and not shown.checkpoint_id then
    return self:say({ reply_to = shown.id, payload = text })
  end
  return self:say({
    type = shown.task_id and "progress_update" or "checkpoint_response",
    [ABOUT] = shown.checkpoint_id and shown.id or nil,
    payload = { task_id = shown.task_id, checkpoint_id = shown.checkpoint_id, text = text },
  })
end

--- Ends the task of a message.
function Desk:end_task(shown, text, has_failed)
  return self:say({
    type = shown.type == "task" and "result" or "task_complete",
    [ABOUT] = shown.id,
    payload = {
      task_id = shown.task_id, status = has_failed and "failed" or "completed",
      output = not has_failed and text or nil, error = has_failed and text or nil,
    },
  })
end

--- The last message that can be answered, or nil.
function Desk:last_shown()
  for number = #self.shown, 1, -1 do
    local shown = self.shown[number]
    if not shown.is_broadcast and not shown.is_aborted and shown.type ~= "abort" then
      return shown
    end
  end
  return nil
end

return M
