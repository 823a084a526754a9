--- plant: writes a fault of list.lua into a copy of the source, and takes it out again.

local M = {}

--- The whole text of a file.
function M.read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("a")
  file:close()
  return text
end

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

-- Replaces the one place where `from` stands.
local function replace(text, change)
  local first, last = text:find(change.from, 1, true)
  if not first then
    return nil, "the text to be changed is not there"
  elseif text:find(change.from, last + 1, true) then
    return nil, "the text to be changed stands there more than once"
  end
  return text:sub(1, first - 1) .. change.to .. text:sub(last + 1)
end

--- Plants one change, and then the other one if there is one, in that file or another.
function M.plant(directory, mutant)
  for _, change in ipairs { mutant, mutant.also } do
    local path = directory .. "/" .. (change.file or mutant.file)
    local text, err = replace(M.read(path), change)
    if not text then
      return nil, err
    end
    write(path, text)
  end
  return true
end

--- Puts back what stands in the tree.
function M.take_out(directory, mutant)
  for _, change in ipairs { mutant, mutant.also } do
    local path = change.file or mutant.file
    write(directory .. "/" .. path, M.read(path))
  end
end

return M
