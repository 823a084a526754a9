-- Include cycles between modules: a module is a .c with the .h of the same name.

local M = {}

local function module_of(path)
  return path:match("^core/(.+)%.[ch]$")
end

--- Returns the modules of `files` ({ path, lines }) as name -> sorted names they include.
function M.graph(files)
  local graph, seen = {}, {}
  for _, file in ipairs(files) do
    local name = module_of(file.path)
    if name then
      graph[name] = graph[name] or {}
      seen[name] = seen[name] or {}
      for _, line in ipairs(file.lines) do
        local target = line:match('^#include "(.+)%.h"')
        if target and target ~= name and not seen[name][target] then
          seen[name][target] = true
          table.insert(graph[name], target)
        end
      end
    end
  end
  for _, targets in pairs(graph) do
    table.sort(targets)
  end
  return graph
end

--- Returns each set of modules that reach each other, as sorted lists (Tarjan).
function M.find(graph)
  local index, low, on_stack, stack, found, count = {}, {}, {}, {}, {}, 0
  local function pop_component(name)
    local component = {}
    repeat
      local top = table.remove(stack)
      on_stack[top] = nil
      component[#component + 1] = top
    until top == name
    table.sort(component)
    if #component > 1 then
      found[#found + 1] = component
    end
  end
  local function visit(name)
    count = count + 1
    index[name], low[name] = count, count
    stack[#stack + 1] = name
    on_stack[name] = true
    for _, target in ipairs(graph[name]) do
      if graph[target] and not index[target] then
        visit(target)
        low[name] = math.min(low[name], low[target])
      elseif on_stack[target] then
        low[name] = math.min(low[name], index[target])
      end
    end
    if low[name] == index[name] then
      pop_component(name)
    end
  end
  local names = {}
  for name in pairs(graph) do
    names[#names + 1] = name
  end
  table.sort(names)
  for _, name in ipairs(names) do
    if not index[name] then
      visit(name)
    end
  end
  return found
end

return M
