--- wait_checker: a model of who waits for whom, kept beside a society by a spec, that finds
-- cycles by exhaustive search.

-- waits: by agent, { id, kind, number, on }; coming: what is in transit, in any order.
local Model = {}
Model.__index = Model

-- Whether what `wait` lacks of `from` is in transit.
function Model:is_coming(wait, from)
  for _, mail in ipairs(self.coming) do
    if mail.number == wait.number and mail.from == from then
      return true
    end
    if mail.task and wait.kind == "task" and mail.to == wait.id and mail.from == from then
      return true
    end
  end
  return false
end

-- Whether `id` waits for `on`, and nothing from it is in transit.
function Model:has_edge(id, on)
  local wait = self.waits[id]
  for _, each in ipairs(wait and wait.on or {}) do
    if each == on then
      return not self:is_coming(wait, on)
    end
  end
  return false
end

-- Whether a path leads from `at` to `goal`, by trying all of them.
function Model:leads(at, goal, seen)
  local wait = self.waits[at]
  for _, on in ipairs(wait and wait.on or {}) do
    if not seen[on] and self:has_edge(at, on) then
      seen[on] = true
      if on == goal or self:leads(on, goal, seen) then
        return true
      end
    end
  end
  return false
end

function Model:has_ring()
  for id in pairs(self.waits) do
    if self:leads(id, id, {}) then
      return true
    end
  end
  return false
end

-- A cycle was reported: it must be one, and its first waiter is released.
function Model:break_ring(id, cycle)
  assert(id == cycle[1], "the ring does not begin with who is let go")
  for i, each in ipairs(cycle) do
    local next_id = cycle[i % #cycle + 1]
    assert(self:has_edge(each, next_id), each .. " does not wait for " .. next_id)
    assert(self.waits[id].number <= self.waits[each].number, each .. " waited first")
  end
  self.waits[id] = nil
end

-- What arrives ends a wait, or a seat of it.
function Model:arrive(mail)
  local wait = self.waits[mail.to]
  local fits = wait and (mail.number == wait.number or (mail.task and wait.kind == "task"))
  for i, on in ipairs(fits and wait.on or {}) do
    if on == mail.from then
      table.remove(wait.on, i)
      self.waits[mail.to] = #wait.on > 0 and wait or nil
      return
    end
  end
end

function Model:pass(now)
  table.sort(self.coming, function(a, b)
    return a.due < b.due or (a.due == b.due and a.place < b.place)
  end)
  while self.coming[1] and self.coming[1].due <= now do
    self:arrive(table.remove(self.coming, 1))
  end
end

--- A checker of a society in which nobody waits.
return function()
  return setmetatable({ waits = {}, coming = {} }, Model)
end
