-- Source files as the tidy rules see them: lines, C without its comments, and
-- the statements that stand outside every brace.

local M = {}

--- Splits a text into its lines.
function M.lines(text)
  local lines = {}
  for line in (text:sub(-1) == "\n" and text or text .. "\n"):gmatch("(.-)\n") do
    lines[#lines + 1] = line
  end
  return lines
end

local function blank(part)
  return (part:gsub("[^\n]", " "))
end

-- Where the comment or literal that begins at `at` ends, and what it becomes.
local function skip(text, at)
  local two = text:sub(at, at + 1)
  if two == "/*" then
    local _, stop = text:find("*/", at + 2, true)
    stop = stop or #text
    return stop, blank(text:sub(at, stop))
  end
  local quote = text:sub(at, at)
  local stop = at + 1
  while stop <= #text and text:sub(stop, stop) ~= quote do
    stop = stop + (text:sub(stop, stop) == "\\" and 2 or 1)
  end
  return stop, quote .. blank(text:sub(at + 1, stop - 1)) .. quote
end

--- C with comments and the inside of literals turned into spaces.
function M.strip_c(text)
  local parts, from = {}, 1
  while true do
    local at = text:find("[/\"']", from)
    if not at then
      break
    end
    local is_start = text:sub(at, at) ~= "/" or text:sub(at + 1, at + 1) == "*"
    parts[#parts + 1] = text:sub(from, at - 1)
    if is_start then
      local stop, replacement = skip(text, at)
      parts[#parts + 1], from = replacement, stop + 1
    else
      parts[#parts + 1], from = "/", at + 1
    end
  end
  parts[#parts + 1] = text:sub(from)
  return table.concat(parts)
end

--- The statements of stripped C outside every brace: { first, last, text },
-- preprocessor lines as { first, last, is_directive = true }.
function M.statements(lines)
  local list, depth, open, in_directive = {}, 0, nil, false
  for number, line in ipairs(lines) do
    local is_directive = in_directive or (line:find("^%s*#") ~= nil)
    in_directive = is_directive and line:find("\\$") ~= nil
    if is_directive then
      list[#list + 1] = { first = number, last = number, is_directive = true, text = line }
    elseif open or line:find("%S") then
      open = open or { first = number, text = "" }
      open.text = open.text .. line .. "\n"
      local _, opened = line:gsub("{", "")
      local _, closed = line:gsub("}", "")
      depth = depth + opened - closed
      local is_macro_use = open.first == number and line:find("^[A-Z_0-9]+%b()%s*$")
      if depth == 0 and (line:find("[;}]%s*$") or is_macro_use) then
        open.last, open.is_macro_use = number, is_macro_use
        list[#list + 1], open = open, nil
      end
    end
  end
  return list
end

--- Tells whether a statement declares or defines a function (or its type).
function M.is_function(statement)
  local head = statement.text:match("^[^{=]*")
  return not statement.is_directive and not statement.is_macro_use
    and head:find("[%w_]%s*%(") ~= nil
end

--- Tells whether a statement defines a type or declares a variable. That a type is
-- somewhere else (`struct x;`) says nothing that a comment could explain.
function M.is_definition(statement)
  local text = statement.text
  return not statement.is_directive and not statement.is_macro_use
    and (text:find("^struct%s[^;]*{") or text:find("^enum%s[^;]*{") or text:find("^union%s[^;]*{")
      or text:find("^typedef%s") or text:find("^extern%s+[^%s\"]")) ~= nil
end

return M
