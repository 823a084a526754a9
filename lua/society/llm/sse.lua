--- sse: reads server-sent events out of bytes that come in any pieces.
--
--     local stream = sse.new()
--     for _, event in ipairs(stream:put(bytes)) do … event.event, event.data … end
--
-- Lines end with LF, CR LF or CR; lines of data of one event are joined by LF; comments
-- and fields that nobody asked for are passed over.

local M = {}

local Stream = {}
Stream.__index = Stream

--- Bytes that may wait for the end of their event.
M.bytes_max = 8 * 1024 * 1024

function M.new()
  return setmetatable({ rest = "", name = nil, lines = {}, bytes = 0 }, Stream)
end

local function take_line(self, line, events)
  if line == "" then
    if #self.lines > 0 then
      events[#events + 1] = { event = self.name, data = table.concat(self.lines, "\n") }
    end
    self.name, self.lines, self.bytes = nil, {}, 0
    return
  end
  local field, value = line:match("^([^:]*):? ?(.*)$")
  if field == "data" then
    self.lines[#self.lines + 1] = value
    self.bytes = self.bytes + #value
  elseif field == "event" then
    self.name = value
  end
end

--- Takes bytes and gives the events that are whole.
-- @treturn[1] table list of { event?, data }
-- @treturn[2] nil
-- @treturn[2] string what is wrong
function Stream:put(bytes)
  local events, text, from = {}, self.rest .. bytes, 1
  while true do
    local stop = text:find("[\r\n]", from)
    -- A CR at the very end may be the first half of CR LF.
    if not stop or (stop == #text and text:byte(stop) == 13) then
      break
    end
    take_line(self, text:sub(from, stop - 1), events)
    from = stop + (text:sub(stop, stop + 1) == "\r\n" and 2 or 1)
  end
  self.rest = text:sub(from)
  if #self.rest + self.bytes > M.bytes_max then
    return nil, "an event is larger than it may be"
  end
  return events
end

--- No more comes: gives the event that was not closed by an empty line, if there is one.
function Stream:finish()
  local events = {}
  take_line(self, (self.rest:gsub("\r$", "")), events)
  take_line(self, "", events)
  self.rest = ""
  return events
end

return M
