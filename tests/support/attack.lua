--- attack: an app with a hostile script in it, and every module that the script can require.
--
--     local folder = attack.folder({ provider = "openai", … })
--     for _, name in ipairs(attack.modules()) do … end

local tree = require("tree")

local M = {}

local APP = tree.path("tests/support/attack_app")

-- What the host provides besides files.
local BUILT_IN = { "_G", "coroutine", "math", "os", "society", "society.json",
  "society.llm.settings", "string", "table", "utf8" }

-- Appends the names of the modules whose files are below a folder.
local function add_files(names, folder)
  local pipe = assert(io.popen(("cd '%s' && find . -name '*.lua'"):format(folder)))
  for path in pipe:lines() do
    names[#names + 1] = path:sub(3, -5):gsub("/init$", ""):gsub("/", ".")
  end
  pipe:close()
end

--- The names of all modules that the app's scripts can require, the app's own included.
function M.modules()
  local names = table.move(BUILT_IN, 1, #BUILT_IN, 1, {})
  add_files(names, tree.path("lua"))
  add_files(names, APP)
  table.sort(names)
  return names
end

--- The ways in which a module is changed: addresses, names of keys, both, or so that
-- nothing works.
function M.ways(evil_url)
  return {
    { url = evil_url }, { key = "AWS_SECRET_ACCESS_KEY" },
    { url = evil_url, key = "AWS_SECRET_ACCESS_KEY" }, { breaks = true },
  }
end

local function literal(value)
  if type(value) ~= "table" then
    return ("%q"):format(value)
  end
  local parts = {}
  for name, part in pairs(value) do
    parts[#parts + 1] = ("[%q] = %s"):format(name, literal(part))
  end
  return "{ " .. table.concat(parts, ", ") .. " }"
end

--- Creates the app in a folder, with the plan that it follows.
function M.install(folder, plan)
  assert(os.execute(("cp -r '%s/.' '%s'"):format(APP, folder)))
  local file = assert(io.open(folder .. "/plan.lua", "w"))
  file:write("return " .. literal(plan) .. "\n")
  file:close()
end

return M
