-- Names: a public function bears the name of its file. soc_mailbox_push stands in mailbox.h.
--
-- Instead of the file's it may bear its family's (policy_load.h: soc_policy_…), its folder's
-- (files/log.h: soc_files_log_…), or that of a type which the header defines
-- (agent.h: soc_role_new). A plural may be singular (kinds.h: soc_kind_…).

local source = require("source")

local M = {}

local function begins_with(name, prefix)
  return name == prefix or name:sub(1, #prefix + 1) == prefix .. "_"
end

local function bears(name, words)
  local prefix = "soc"
  for word in words:gmatch("[^_]+") do
    if begins_with(name, prefix .. "_" .. word)
      or begins_with(name, prefix .. "_" .. word:gsub("s$", "")) then
      return true
    end
    prefix = prefix .. "_" .. word
  end
  return false
end

local function bears_type(name, stripped)
  for word in stripped:gmatch("%f[%w_]soc_([%w_]+) {") do
    if begins_with(name, "soc_" .. word) then
      return true
    end
  end
  return false
end

--- Reports each public function of the header that bears none of these names. `allowed` is
-- a list of further prefixes, or nil.
function M.check(path, stripped, statements, allowed, report)
  local folder, file = path:match("([^/]+)/([^/]+)%.h$")
  for _, statement in ipairs(statements) do
    local name = source.is_function(statement) and not statement.text:find("^typedef ")
      and statement.text:match("(soc_[%w_]+)%(")
    local is_good = not name or bears(name, file) or bears(name, folder)
      or bears_type(name, stripped)
    for _, prefix in ipairs(allowed or {}) do
      is_good = is_good or begins_with(name, prefix)
    end
    if not is_good then
      report(statement.first, ("%s does not bear the name of its file"):format(name))
    end
  end
end

return M
