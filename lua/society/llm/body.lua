--- body: distinguishes streamed answers of a model's server from plain ones.
--
-- The first bytes decide, not the header: servers and proxies send either form under any
-- content type, and some send blanks first to keep the connection open.

local M = {}

local Body = {}
Body.__index = Body

--- Bytes after which the header decides.
M.begin_bytes_max = 64

function M.new()
  return setmetatable({ raw = {}, is_stream = false }, Body)
end

--- Whether a status, if there is one, says that all is well: some servers, and proxies, say
-- 201 or 203.
function M.is_success(status)
  return status ~= nil and status >= 200 and status < 300
end

--- The answer begins. Only one of success can be a stream.
function Body:head(status, headers)
  local kind = (headers["content-type"] or ""):lower() -- RFC 9110: in any case of letters
  self.is_declared = kind:find("text/event-stream", 1, true) ~= nil
  self.is_stream = nil
  if not M.is_success(status) then
    self.is_stream = false
  end
end

-- The fields that an event may begin with, and a comment.
local FIELDS = { "data:", "event:", "id:", "retry:", ":" }

-- Whether a text is a stream by how it begins; nil if that does not tell yet.
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

--- Takes bytes.
-- @treturn string? those of the stream, if it is one
function Body:put(bytes)
  if self.is_stream then
    return bytes
  end
  self.raw[#self.raw + 1] = bytes
  if self.is_stream == nil then
    local begun = table.concat(self.raw):gsub("^\xef\xbb\xbf", "") -- a byte order mark
    self.raw, self.is_stream = { begun }, is_stream(self, begun)
    if self.is_stream then
      self.raw = {}
      return begun
    end
  end
  return nil
end

--- No more comes. What is too short to tell is what its header says.
-- @treturn boolean whether it is a stream
function Body:close()
  if self.is_stream == nil then
    self.is_stream = self.is_declared
  end
  return self.is_stream
end

--- All of it, if it is no stream.
function Body:text()
  return table.concat(self.raw)
end

return M
