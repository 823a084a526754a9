--- sse: parses server-sent events from bytes that arrive in any pieces.
--
--     local stream = sse.new()
--     for _, event in ipairs(stream:put(bytes)) do … event.event, event.data … end
--
-- Lines end with LF, CR LF or CR; the data lines of an event are joined by LF; comments and
-- unknown fields are ignored.

local M = {}

local Stream = {}
Stream.__index = Stream

--- Maximum bytes of an unfinished event.
M.bytes_max = 3 * 1024 * 1024

--- Maximum bytes of comments and the like between two events. Keep-alive comments need few.
M.idle_bytes_max = 256 * 1024

function M.new()
  return setmetatable({ pieces = {}, waiting = 0, name = nil, lines = {}, bytes = 0,
    idle = 0 }, Stream)
end

local function take_line(self, line, events)
  if line == "" then
    if #self.lines > 0 then
      events[#events + 1] = { event = self.name, data = table.concat(self.lines, "\n") }
      self.idle = 0
    end
    self.idle = self.idle + 1
    self.name, self.lines, self.bytes = nil, {}, 0
    return
  end
  local field, value = line:match("^([^:]*):? ?(.*)$")
  if field == "data" then
    self.lines[#self.lines + 1] = value
    self.bytes = self.bytes + #value + 1
    self.is_full = self.bytes > M.bytes_max
  elseif field == "event" then
    self.name = value
  else
    self.idle = self.idle + #line + 1
  end
end

-- The line completed by `bytes`, with its earlier pieces.
local function end_line(self, bytes)
  local line = bytes
  if #self.pieces > 0 then
    self.pieces[#self.pieces + 1] = bytes
    line = table.concat(self.pieces)
    self.pieces, self.waiting = {}, 0
  end
  return line
end

-- Stores bytes of an unfinished line.
local function keep(self, bytes)
  if bytes ~= "" then
    self.pieces[#self.pieces + 1] = bytes
    self.waiting = self.waiting + #bytes
  end
  if self.is_full or self.waiting + self.bytes > M.bytes_max then
    self.pieces, self.lines, self.fault = {}, {}, "an event is larger than it may be"
  elseif self.idle > M.idle_bytes_max then
    self.pieces, self.lines, self.fault = {}, {}, "comments and empty lines, but no events"
  end
end

-- The start of a piece: an LF may be the second half of CR LF.
local function begin(self, bytes)
  local is_half = self.is_after_cr and bytes:byte() == 10
  if bytes ~= "" then
    self.is_after_cr = bytes:byte(-1) == 13
  end
  return is_half and 2 or 1
end

--- Takes bytes and returns the completed events. After an error all input is ignored.
-- @treturn[1] table list of { event?, data }
-- @treturn[2] nil
-- @treturn[2] string what is wrong
function Stream:put(bytes)
  if self.fault then
    return nil, self.fault
  end
  local events, from = {}, begin(self, bytes)
  while true do
    local stop = bytes:find("[\r\n]", from)
    if not stop or self.is_full or self.idle > M.idle_bytes_max then
      break
    end
    take_line(self, end_line(self, bytes:sub(from, stop - 1)), events)
    from = stop + (bytes:sub(stop, stop + 1) == "\r\n" and 2 or 1)
  end
  keep(self, bytes:sub(from))
  if self.fault then
    return nil, self.fault
  end
  return events
end

--- End of input: returns the event that was not closed by an empty line, if any.
function Stream:finish()
  local events = {}
  take_line(self, end_line(self, ""), events)
  take_line(self, "", events)
  return events
end

return M
