--- body: distinguishes streamed answers of a model's server from plain ones.
--
-- The first bytes decide, not the header: servers and proxies send either form under any
-- content type, and some send blanks first to keep the connection open.

local M = {}

local Body = {}
Body.__index = Body

--- Maximum bytes to examine before the header decides.
M.begin_bytes_max = 64

--- Maximum bytes of an answer that is not streamed: room for the largest answer (1 MB) with
-- every character escaped. Of an error only the beginning is quoted.
M.bytes_max = 3 * 1024 * 1024
M.error_bytes_max = 64 * 1024

function M.new()
  return setmetatable({ raw = {}, bytes = 0, bytes_max = M.bytes_max, is_stream = false }, Body)
end

--- Whether a status, if any, means success: some servers and proxies send 201 or 203.
function M.is_success(status)
  return status ~= nil and status >= 200 and status < 300
end

--- The answer begins. Only a successful one can be a stream.
function Body:head(status, headers)
  local kind = (headers["content-type"] or ""):lower() -- RFC 9110: in any case of letters
  self.is_declared = kind:find("text/event-stream", 1, true) ~= nil
  self.is_stream = nil
  if not M.is_success(status) then
    self.is_stream, self.bytes_max = false, M.error_bytes_max
  end
end

-- The fields that an event may begin with, and a comment.
local FIELDS = { "data:", "event:", "id:", "retry:", ":" }

-- Whether a text is a stream, judged by its start; nil if undecided.
local function is_stream(self, begun)
  local text = begun:match("^%s*(.*)$")
  if text:match("^[{%[<]") then
    return false
  end
  for _, field in ipairs(FIELDS) do
    if text:sub(1, #field) == field then
      return true
    end
  end
  if #begun > M.begin_bytes_max then
    return self.is_declared
  end
  return nil
end

-- Stores bytes of an answer that is not streamed, up to the limit.
local function keep(self, bytes)
  local room = math.max(0, self.bytes_max - self.bytes)
  self.bytes = self.bytes + #bytes
  self.is_too_large = #bytes > room
  self.raw[#self.raw + 1] = #bytes > room and bytes:sub(1, room) or bytes
end

--- Takes bytes.
-- @treturn string? the bytes, if it is a stream
function Body:put(bytes)
  bytes = bytes or ""
  if self.is_stream then
    return bytes
  elseif self.is_stream == nil then
    bytes = (table.concat(self.raw) .. bytes):gsub("^\xef\xbb\xbf", "") -- a byte order mark
    self.raw, self.bytes, self.is_stream = {}, 0, is_stream(self, bytes)
    if self.is_stream then
      return bytes
    end
  end
  keep(self, bytes)
  return nil
end

--- The answer has ended. If it was too short to decide, the header does.
-- @treturn boolean whether it is a stream
function Body:close()
  if self.is_stream == nil then
    self.is_stream = self.is_declared
  end
  return self.is_stream
end

--- The whole answer, if it is not a stream.
function Body:text()
  return table.concat(self.raw)
end

return M
