--- npm: programs from the npm registry that specs use for checks.
--
--     local folder, reason = npm.folder({ "mermaid@11" })   -- nil: npm cannot be reached
--
-- Installed packages stay in build/npm for the next run.

local program = require("program")

local M = {}

local function works(command)
  return (os.execute(command .. " >/dev/null 2>&1"))
end

--- A directory in which the packages are installed.
-- @treturn[1] string its path
-- @treturn[2] nil
-- @treturn[2] string why not
function M.folder(packages)
  local root = os.getenv("SOCIETY_NPM") or "build/npm"
  if not works("npm --version") then
    return nil, "npm is not here"
  end
  local mark = root .. "/." .. table.concat(packages, "_"):gsub("[^%w]", "-")
  if not works("test -e " .. program.quote(mark)) then
    local list = {}
    for index, name in ipairs(packages) do
      list[index] = program.quote(name)
    end
    os.execute("mkdir -p " .. program.quote(root))
    if not works(("cd %s && timeout 180 npm install --no-audit --no-fund --prefix . %s"):format(
      program.quote(root), table.concat(list, " "))) then
      return nil, "npm cannot be reached"
    end
    works("touch " .. program.quote(mark))
  end
  local pipe = assert(io.popen("cd " .. program.quote(root) .. " && pwd"))
  local path = pipe:read("l")
  pipe:close()
  return path
end

return M
