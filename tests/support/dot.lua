--- dot: parses a digraph by the grammar of Graphviz, as far as ours use it.

local M = {}

local Reader = {}
Reader.__index = Reader

function Reader:take(pattern)
  local _, last, found = self.text:find("^%s*(" .. pattern .. ")", self.at)
  if last then
    self.at = last + 1
  end
  return found
end

function Reader:need(pattern)
  local found = self:take(pattern)
  return found or error(pattern .. " expected at: " .. self.text:sub(self.at, self.at + 40))
end

-- A quoted text; backslashes are kept.
function Reader:quoted()
  self:need('"')
  local parts = {}
  while self.text:sub(self.at, self.at) ~= '"' do
    assert(self.at <= #self.text, "a text does not end")
    local width = self.text:sub(self.at, self.at) == "\\" and 2 or 1
    parts[#parts + 1] = self.text:sub(self.at, self.at + width - 1)
    self.at = self.at + width
  end
  self.at = self.at + 1
  return table.concat(parts)
end

-- [name=value, …] and the end of the statement.
function Reader:attributes()
  local found = {}
  if self:take("%[") then
    repeat
      local name = self:need("[a-z]+")
      self:need("=")
      found[name] = self.text:find('^%s*"', self.at) and self:quoted() or self:need("[a-z]+")
    until not self:take(",")
    self:need("%]")
  end
  self:need(";")
  return found
end

--- Reads a whole digraph, or raises.
-- @treturn table nodes: id -> attributes
-- @treturn table edges: list of { from, to, attributes }
function M.parse(text)
  local reader = setmetatable({ text = text, at = 1 }, Reader)
  local nodes, edges = {}, {}
  reader:need("digraph society {")
  while not reader:take("}") do
    if reader:take("node") then
      reader:attributes()
    else
      local id = reader:quoted()
      local to = reader:take("%->") and reader:quoted()
      local found = reader:attributes()
      if to then
        edges[#edges + 1] = { from = id, to = to, attributes = found }
      else
        nodes[id] = found
      end
    end
  end
  assert(not text:find("%S", reader.at), "something stands behind the end")
  return nodes, edges
end

return M
