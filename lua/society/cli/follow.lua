--- society.cli.follow: reads a file that others append lines to, each line once.
--
-- A truncated or replaced file is read again from its start: the caller must recognize lines
-- it has seen by their ids. A last line without its newline is not taken yet.

local Follow = {}
Follow.__index = Follow

-- Bytes before the position that must be the same to continue there.
local TAIL_BYTES = 256

local M = {}

--- Follows the file `name` in a folder of a workflow (society.program).
function M.new(workflow, place, name)
  return setmetatable({ workflow = workflow, place = place, name = name, offset = 0, tail = "" },
    Follow)
end

-- The bytes behind the position, or nil if the file is gone.
function Follow:read_new()
  local bytes, size = self.workflow:read(self.place, self.name, self.offset - #self.tail)
  if not bytes then
    return nil
  end
  if size >= self.offset and bytes:sub(1, #self.tail) == self.tail then
    return bytes:sub(#self.tail + 1)
  end
  self.offset, self.tail = 0, ""
  return (self.workflow:read(self.place, self.name))
end

--- Returns the lines that are new, a list; nil if the file was there and is gone.
function Follow:lines()
  local bytes = self:read_new()
  if not bytes then
    local was_there = self.is_there
    self.is_there = false
    return not was_there and {} or nil
  end
  self.is_there = true
  local lines, last = {}, 0
  for line, after in bytes:gmatch("([^\n]*)\n()") do
    last = after - 1
    if line ~= "" then
      lines[#lines + 1] = line
    end
  end
  self.offset = self.offset + last
  self.tail = (self.tail .. bytes:sub(1, last)):sub(-TAIL_BYTES)
  return lines
end

--- Skips the current contents of the file.
function Follow:skip()
  self:lines()
end

return M
