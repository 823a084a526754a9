-- A worker for courier.lua, in plain Lua with files only: lua5.4 courier_worker.lua DIR ID.
-- It acks and completes every task once, by its ack file.

local directory, id = ...
local channel = directory .. "/channel/agents/" .. id

local function read_file(path)
  local file = io.open(path, "rb")
  if not file then
    return ""
  end
  local text = file:read("a")
  file:close()
  return text
end

local function append(path, line)
  local file = assert(io.open(path, "ab"))
  file:setvbuf("full", 65536)
  file:write(line, "\n")
  file:close()
end

-- A line that a kill has left incomplete is ended first.
for _, suffix in ipairs({ ".ack", ".out.jsonl" }) do
  local text = read_file(channel .. suffix)
  if text ~= "" and text:sub(-1) ~= "\n" then
    append(channel .. suffix, "")
  end
end

local handled = {}
local acks = read_file(channel .. ".ack")
for message in acks:gmatch('"msg_id":"([^"]*)","status":"processed"}\n') do
  handled[message] = true
end

-- The whole queue is read each time, so that rotation makes no difference.
while true do
  local text = read_file(channel .. ".jsonl")
  for line in text:gmatch("([^\n]*)\n") do
    local message = line:match('"id":"(msg_[%x_]*)"')
    local task = line:match('"task_id":"([^"]*)"')
    if message and task and not handled[message] then
      handled[message] = true
      append(channel .. ".ack", ('{"msg_id":"%s","status":"received"}'):format(message))
      append(channel .. ".out.jsonl", ('{"id":"%s-%s","type":"task_complete","payload":'
        .. '{"task_id":"%s","status":"done"}}'):format(id, message, task))
      append(channel .. ".ack", ('{"msg_id":"%s","status":"processed"}'):format(message))
    end
  end
  os.execute("sleep 0.01")
end
