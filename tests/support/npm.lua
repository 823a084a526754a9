--- npm: programs from the npm registry that specs use for checks.
--
--     local folder, reason = npm.folder({ "mermaid@11" })   -- nil: npm cannot be reached
--
-- Each set of packages has a folder of its own in build/npm, which stays for the next run. It is
-- installed under another name and then renamed, so specs that run at once never see or disturb
-- a half-installed one.

local M = {}

local function quote(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

local function works(command)
  return (os.execute("(" .. command .. ") >/dev/null 2>&1"))
end

-- Installs the packages into `folder`, or leaves it to whoever was faster.
local function install(packages, folder)
  local list = {}
  for index, name in ipairs(packages) do
    list[index] = quote(name)
  end
  return works(([[
    mkdir -p %s && fresh=$(mktemp -d %s.XXXXXX) || exit 1
    (cd "$fresh" && timeout 180 npm install --no-audit --no-fund --prefix . %s) &&
      { mv -T "$fresh" %s || test -d %s; }
    status=$?
    rm -rf "$fresh"
    exit $status]]):format(quote(folder:match("^(.*)/")), quote(folder),
    table.concat(list, " "), quote(folder), quote(folder)))
end

--- A directory in which the packages are installed.
-- @treturn[1] string its path
-- @treturn[2] nil
-- @treturn[2] string why not
function M.folder(packages)
  local root = os.getenv("NPM_PACKAGES") or "build/npm"
  if not works("npm --version") then
    return nil, "npm is not here"
  end
  local folder = root .. "/" .. table.concat(packages, "_"):gsub("[^%w.]", "-")
  if not works("test -d " .. quote(folder)) and not install(packages, folder) then
    return nil, "npm cannot be reached"
  end
  local pipe = assert(io.popen("cd " .. quote(folder) .. " && pwd"))
  local path = pipe:read("l")
  pipe:close()
  return path
end

return M
