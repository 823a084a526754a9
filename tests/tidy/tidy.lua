-- Tidy: the house rules as a test. lua5.4 tests/tidy/tidy.lua, from the root.
--
-- It reads layers.lua and reports with file and line: an include that goes up, a
-- header from outside in the wrong layer, a part that includes another part it
-- is not listed for or whose state is private, a folder of script/ that includes a
-- later one, an include cycle, a public function that does not bear its file's name, a
-- public function, type or variable without a comment, a file head without its layer, a
-- forward declaration, a mutable global, a long line, function or file, words that do not
-- belong, and a source file whose tests cannot be found.
-- As a module it gives check(files, layers), so that a spec can feed it faults.

package.path = "tests/tidy/?.lua;" .. package.path
local covers = require("covers")
local cycles = require("cycles")
local names = require("names")
local source = require("source")

local M = {}

local function contains(list, item)
  for _, each in ipairs(list) do
    if each == item then
      return true
    end
  end
  return false
end

local function layer_of(path)
  return path:match("^core/([^/]+)/") or path:match("^core/([^/]+)%.h$")
end

local function part_of(path)
  return path:match("^core/parts/([^/]+)/")
end

-- What lies in core/parts itself, as the table does, belongs to no part.
local function check_part(file, layers, inside, report)
  local part, target = part_of(file.path), part_of("core/" .. inside)
  if not target or target == part then
    return
  end
  if inside:find("_state%.h$") then
    report(("%s belongs to part %s alone"):format(inside, target))
  elseif part and not contains(layers.parts[part] or {}, target) then
    report(("part %s must not include part %s"):format(part, target))
  end
end

-- Folders of core/script are in order; what lies in core/script itself stands above them.
local function check_folder(file, layers, inside, report)
  local function place_of(path)
    local folder = path:match("^core/script/([^/]+)/")
    for place, each in ipairs(layers.script) do
      if each == folder then
        return place
      end
    end
    return #layers.script + 1
  end
  if layer_of(file.path) == "script" and layer_of("core/" .. inside) == "script"
    and place_of("core/" .. inside) > place_of(file.path) then
    report(("%s must not include %s"):format(file.path:match("^core/(.+)/"), inside))
  end
end

local function check_include(file, layers, line, report)
  local layer = layer_of(file.path)
  local outside = line:match("^#include <(.+)>")
  if outside and layer and layers.outside[outside] then
    if not contains(layers.outside[outside], layer) then
      report(("layer %s must not include <%s>"):format(layer, outside))
    end
  end
  local inside = line:match('^#include "(.+)"')
  if inside and layer then
    local target = layer_of("core/" .. inside)
    if not target then
      report(('"%s" is not named from core/'):format(inside))
    elseif target ~= layer and not contains(layers.core[layer] or {}, target) then
      report(("layer %s must not include %s/"):format(layer, target))
    else
      check_part(file, layers, inside, report)
      check_folder(file, layers, inside, report)
    end
  end
end

local function check_lines(file, layers, report, report_up)
  local lines_max = layers.lines_max[file.ext]
  if lines_max and #file.lines > lines_max then
    report(#file.lines, ("file has more than %d lines"):format(lines_max))
  end
  for number, line in ipairs(file.lines) do
    if file.is_source and (utf8.len(line) or #line) > layers.columns_max then
      report(number, ("line has more than %d columns"):format(layers.columns_max))
    end
    if file.is_source and line:find("%s$") then
      report(number, "white space at the end of the line")
    end
    for _, word in ipairs(layers.words) do
      if line:find(word) then
        report(number, ("%q does not belong here"):format(line:match(word)))
      end
    end
    if file.is_c then
      check_include(file, layers, line, function(text)
        report_up(number, text)
      end)
    end
  end
end

local function check_comment(file, statements, report)
  local commented_until = 0
  for _, statement in ipairs(statements) do
    local before = file.lines[statement.first - 1] or ""
    local is_commented = before:find("%*/%s*$") ~= nil or commented_until == statement.first - 1
      or (source.is_definition(statement) and file.lines[statement.first]:find("/*", 1, true))
    if is_commented then
      commented_until = statement.last
    elseif source.is_function(statement) then
      report(statement.first, "public function without a comment")
    elseif source.is_definition(statement) then
      report(statement.first, "public type or variable without a comment")
    end
  end
end

local function check_global(file, statement, report)
  local text = statement.text
  if not file.path:find("^core/.*%.c$") or not text:find("^static ") then
    return
  end
  if source.is_function(statement) then
    if not text:find("{") then
      report(statement.first, "forward declaration of a static function")
    end
  elseif not text:find("%f[%w]const%f[%W]") then
    report(statement.first, "mutable global")
  end
end

local function check_c(file, layers, report)
  local text = source.strip_c(table.concat(file.lines, "\n"))
  local stripped = source.lines(text)
  local statements = source.statements(stripped)
  local function_lines_max = layers.function_lines_max[file.ext]
  for number, line in ipairs(stripped) do
    if line:find("//", 1, true) then
      report(number, "comment that is not /* */")
    end
  end
  for _, statement in ipairs(statements) do
    local length = statement.last - statement.first + 1
    if source.is_function(statement) and length > function_lines_max then
      report(statement.first, ("function has more than %d lines"):format(function_lines_max))
    end
    check_global(file, statement, report)
  end
  if file.ext == "h" then
    check_comment(file, statements, report)
  end
  local inside = file.path:match("^core/(.+/.+%.h)$")
  if inside then
    names.check(file.path, text, statements, layers.names[inside], report)
  end
end

local function check_head(file, layers, report)
  local layer = layer_of(file.path)
  if not layer then
    return
  end
  if not layers.core[layer] then
    report(1, ("layer %s is not in layers.lua"):format(layer))
  end
  if part_of(file.path) and not layers.parts[part_of(file.path)] then
    report(1, ("part %s is not in layers.lua"):format(part_of(file.path)))
  end
  local folder = file.path:match("^core/script/([^/]+)/")
  if folder and not contains(layers.script, folder) then
    report(1, ("folder script/%s is not in layers.lua"):format(folder))
  end
  if file.ext == "h" and layer ~= "society" then
    local head = table.concat(file.lines, " "):match("^/%*(.-)%*/") or ""
    if not head:find("Layer: " .. layer .. ".", 1, true) then
      report(1, ("head does not say `Layer: %s.`"):format(layer))
    end
    if not head:find("Thread: ", 1, true) then
      report(1, "head does not say `Thread:`")
    end
  end
end

-- Functions that are named or assigned; those handed to a call, as describe and
-- it are in specs, have no length of their own.
local function check_lua(file, layers, report)
  for number, line in ipairs(file.lines) do
    local indent = line:match("^(%s*)local function ") or line:match("^(%s*)function [%w_.:]+%(")
      or line:match("^(%s*)[%w_.%s]+ = function%(")
    local last = number
    while indent and file.lines[last] and not file.lines[last]:find("^" .. indent .. "end") do
      if last == number and line:find("%f[%w]end%f[%W]") then
        break
      end
      last = last + 1
    end
    if last - number + 1 > layers.function_lines_max.lua then
      report(number, ("function has more than %d lines"):format(layers.function_lines_max.lua))
    end
  end
end

-- While the tree is being untangled, layers.ratchet allows as many as there still are.
local function check_cycles(files, ratchet, report)
  local components = cycles.find(cycles.graph(files))
  local count = 0
  for _, component in ipairs(components) do
    count = count + #component
  end
  for _, component in ipairs(count > ratchet.in_cycles and components or {}) do
    report("core/" .. component[1], 1, "include cycle: " .. table.concat(component, ", "))
  end
end

--- Checks files given as { path, text } and returns the complaints as
-- "path:line: sentence", in order of the files.
function M.check(files, layers)
  local found, up = {}, {}
  local ratchet = layers.ratchet
  local function report(path, line, sentence)
    found[#found + 1] = ("%s:%d: %s"):format(path, line, sentence)
  end
  for _, file in ipairs(files) do
    local function here(line, sentence)
      report(file.path, line, sentence)
    end
    file.ext = file.path:match("%.(%w+)$") or ""
    file.lines = source.lines(file.text)
    file.is_c = file.ext == "c" or file.ext == "h"
    file.is_source = file.is_c or file.ext == "lua"
    check_lines(file, layers, here, function(line, sentence)
      up[#up + 1] = ("%s:%d: %s"):format(file.path, line, sentence)
    end)
    if file.is_c then
      check_head(file, layers, here)
      check_c(file, layers, here)
    elseif file.ext == "lua" then
      check_lua(file, layers, here)
    end
  end
  if #up > ratchet.up then
    table.move(up, 1, #up, #found + 1, found)
  end
  check_cycles(files, ratchet, report)
  covers.check(files, report)
  return found
end

--- Reads the files of the tree: all but what is built or hidden elsewhere.
function M.read_tree()
  local files = {}
  local listing = io.popen("find . -type f -not -path './build/*' -not -path './.git*' "
    .. "-not -path '*/.society/*' | sort")
  for path in listing:lines() do
    local file = io.open(path, "rb")
    local text = file:read("a")
    file:close()
    if not text:find("\0", 1, true) then
      files[#files + 1] = { path = path:sub(3), text = text }
    end
  end
  listing:close()
  return files
end

if arg and arg[0] and arg[0]:find("tidy%.lua$") then
  local found = M.check(M.read_tree(), require("layers"))
  for _, complaint in ipairs(found) do
    print(complaint)
  end
  os.exit(#found == 0)
end

return M
