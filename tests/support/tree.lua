--- tree: where the files of this repository are, whatever directory a program runs in.
--
--     tree.path("examples/files/worker.lua")       -- absolute
--     tree.find("tests/spec", "send_spec.lua")     -- the one file of that name below a folder

local M = {}

local HERE = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$")

local function quote(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

local function lines_of(command)
  local pipe = assert(io.popen(command))
  local lines = {}
  for line in pipe:lines() do
    lines[#lines + 1] = line
  end
  pipe:close()
  return lines
end

local root

--- The absolute path of a file, given its path in the repository.
function M.path(name)
  root = root or assert(lines_of(("cd %s/../.. && pwd"):format(quote(HERE)))[1])
  return root .. "/" .. name
end

--- The contents of a file, given its path in the repository.
function M.read(name)
  local file = assert(io.open(M.path(name), "rb"))
  local text = file:read("a")
  file:close()
  return text
end

--- The absolute path of the file called `name` anywhere below `folder`. Raises unless there
-- is exactly one.
function M.find(folder, name)
  local found = lines_of(("find %s -name %s"):format(quote(M.path(folder)), quote(name)))
  assert(#found == 1, ("%d files below %s are called %s"):format(#found, folder, name))
  return found[1]
end

return M
