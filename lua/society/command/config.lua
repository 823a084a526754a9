--- society config: what `society run` would run with here, and where each value comes from.

local arguments = require("society.cli.arguments")
local json = require("society.json")
local output = require("society.cli.output")

local M = {
  summary = "show each setting and where it comes from",
  options = {},
  is_configured = true,
  notes = "A flag overrides a variable SOCIETY_NAME, a variable overrides society.conf.lua in the "
    .. "working directory (SOCIETY_CONFIG names another file), and the file overrides the "
    .. "default. Flags given here are shown as `society run` would take them.",
  example = "SOCIETY_HTTP=8080 society config --set retention_days=30",
}

-- --json is here how the answer looks.
for _, option in ipairs(require("society.command.run").options) do
  if not option.is_order and option[1] ~= "json" then
    table.insert(M.options, option)
  end
end
table.insert(M.options, { "json", text = arguments.json.text, is_own = true })

local COLUMNS = {
  { title = "NAME", member = "name", width_max = 40 },
  { title = "VALUE", member = "value", width_max = 60 },
  { title = "FROM", member = "from", width_max = 60 },
}

-- Values are texts for people: false is a value, nothing is an empty cell.
local function print_rows(rows)
  for index, row in ipairs(rows) do
    rows[index] = { name = row.name, from = row.where or "default",
      value = row.value == nil and "" or tostring(row.value) }
  end
  output.print_table(json.encode(json.array(rows)), COLUMNS)
end

function M.run(given)
  local rows = {}
  for index, row in ipairs(given.settings) do
    rows[index] = { name = row.name, value = row.value, origin = row.origin, where = row.where }
    if row.name == "log" and not row.value then
      rows[index].value = given.quiet and "warn" or "info"
    end
  end
  if not given.json then
    print_rows(rows)
    return arguments.DONE
  end
  for _, row in ipairs(rows) do
    print((json.encode(row)))
  end
  return arguments.DONE
end

return M
