-- Covers: finds the tests of each source file.
--
-- A test covers the file of its own name and those in its lines `Covers: core/…/x.c, …`.

local M = {}

-- Adds the paths in the lines `Covers:` of a test.
local function note_covered(file, covered)
  for number, line in ipairs(file.lines) do
    local list = line:match("^[-/ ][-*]+ Covers: (.*)$") or ""
    for path in list:gmatch("core/[%w_/]+%.c") do
      covered[path] = covered[path] or { path = file.path, line = number }
    end
  end
end

-- Collects the tests: their base names, and the files named in their lines `Covers:`.
local function find_tests(files, report)
  local names, covered, units = {}, {}, {}
  for _, file in ipairs(files) do
    local unit = file.path:match("^tests/unit/.-([^/]+)_test%.c$")
    local name = unit or file.path:match("^tests/.-([^/]+)_spec%.lua$")
    if unit and units[unit] then
      report(file.path, 1, ("%s has the same name"):format(units[unit]))
    elseif unit then
      units[unit] = file.path
    end
    if name then
      names[name] = true
      note_covered(file, covered)
    end
  end
  return names, covered
end

--- Reports each core/…/NAME.c without NAME_test.c, NAME_spec.lua or a test that covers it,
-- each line `Covers:` that names a missing file, and C tests of the same name.
function M.check(files, report)
  local names, covered = find_tests(files, report)
  local has_tests = next(names) ~= nil
  for _, file in ipairs(files) do
    local name = file.path:match("^core/.-([^/]+)%.c$")
    if has_tests and name and not names[name] and not covered[file.path] then
      report(file.path, 1, "no test has its name or a line `Covers:` with its path")
    end
    covered[file.path] = nil
  end
  local stale = {}
  for path, where in pairs(covered) do
    stale[#stale + 1] = { where = where, text = ("covers %s, which does not exist"):format(path) }
  end
  table.sort(stale, function(a, b) return a.text < b.text end)
  for _, each in ipairs(stale) do
    report(each.where.path, each.where.line, each.text)
  end
end

return M
