--- fleet_books: what the stores of all hosts of a fleet must say when nothing is under way.
--
-- The books know the rows of the stores and nothing of the host: every item that one end of a link
-- has numbered is acknowledged there and taken at the other end; every message handed over is at
-- its receiver once, with the same bytes and in the order of its sender; the law of messages holds
-- on each host, and summed over all as many were taken as were handed over. What must be durable
-- when it is said, core/world/fleet_books.c checks while the hosts run.

local json = require("society.json")

local M = {}

local HANDED_OVER = 6 -- a status

-- Members in which the host changes ids as they leave.
local QUALIFIED = { "target_agent", "targetAgentId", "target_agent_id", "via", "collaborators",
  "task_brief", "taskBrief" }

local function rows_of(s)
  local tables = {}
  for _, row in ipairs(json.decode(s:dump())) do
    tables[row.table] = tables[row.table] or {}
    table.insert(tables[row.table], row)
  end
  return tables
end

-- An order or a notice of a host ends at that host and leaves no message there.
local function leaves_none(row, name)
  return row.receiver == "system@" .. name or row.receiver == "All@" .. name
    or row.type == "abort" or row.type == "delivery_failed"
    or (row.sender == "system" and (row.type == "result" or row.type == "task_complete"))
end

local function is_changed(payload)
  for _, member in ipairs(QUALIFIED) do
    if type(payload) == "table" and payload[member] ~= nil then
      return true
    end
  end
  return false
end

-- The last twelve digits of a message's id are its key.
local function key_of(id)
  return tonumber(id:sub(-12), 16)
end

local function by_place(a, b)
  return a.place < b.place
end

-- What host `from` handed over to host `to`, by key; and how many rows.
local function handed(tables, to)
  local list = {}
  for _, row in ipairs(tables.message_entries or {}) do
    if row.receiver:match("@(.*)$") == to and row.status == HANDED_OVER then
      list[row.key] = row
    end
  end
  return list
end

-- What it has from there; a notice of a host has no address, but its key is of one host alone.
local function taken(tables, from, sent)
  local list = {}
  for _, row in ipairs(tables.message_entries or {}) do
    local host = row.foreign_id and row.sender:match("@(.*)$")
    if host == from
      or (row.foreign_id and row.sender == "system" and sent[key_of(row.foreign_id)]) then
      list[#list + 1] = row
    end
  end
  table.sort(list, by_place)
  return list
end

local function check_taken(sent, rows, from, to)
  local last, seen = {}, {}
  for _, row in ipairs(rows) do
    local key = key_of(row.foreign_id)
    local item = sent[key]
    local class = row.sender .. " " .. row.receiver .. " " .. row.priority
    if not item then
      return ("%s has a message that %s did not hand over: %s"):format(to, from, row.foreign_id)
    elseif seen[key] then
      return ("%s has a message of %s twice: %s"):format(to, from, row.foreign_id)
    elseif not is_changed(item.payload)
      and json.encode(item.payload) ~= json.encode(row.payload) then
      return ("%s has other bytes than %s: %s"):format(to, from, row.foreign_id)
    elseif last[class] and last[class] > key then
      return ("%s has messages of %s out of order: %s"):format(to, from, row.foreign_id)
    end
    seen[key], last[class] = true, key
  end
  for key, item in pairs(sent) do
    if not seen[key] and not leaves_none(item, to) and not item.is_refused then
      return ("%s lacks a message that %s handed over: %s to %s, key %d"):format(to, from,
        item.type, item.receiver, key)
    end
  end
  return nil
end

-- What the other host refused came back as a notice, which names it.
local function note_refused(tables, sent)
  for _, row in ipairs(tables.message_entries or {}) do
    local id = row.type == "delivery_failed" and row.foreign_id and row.payload.message_id
    local item = id and sent[key_of(id)]
    if item then
      item.is_refused = true
    end
  end
  for _, row in ipairs(tables.tasks or {}) do
    local item = sent[row.key]
    if item and row.state ~= "completed" then
      item.is_refused = true -- a task that was refused fails, and its notice ends there
    end
  end
end

local function link_of(tables, peer)
  for _, row in ipairs(tables.links or {}) do
    if row.peer == peer then
      return row
    end
  end
  return nil
end

local function check_link(here, there, from, to)
  local out, back = link_of(here, to), link_of(there, from)
  if not out or not back then
    return nil
  end
  if out.last ~= out.acked or back.taken ~= out.acked then
    return ("%s has numbered %d items for %s, %d are acknowledged and %d are taken"):format(from,
      out.last, to, out.acked, back.taken)
  end
  return nil
end

local function check_law(s, name)
  local n = s:stats()
  local ended = n.processed + n.pending + n.expired + n.dead + n.dropped + n.cancelled
    + n.handed_over
  if n.sent + n.taken ~= ended then
    return ("%s sent %d and took %d messages, and %d have ended"):format(name, n.sent, n.taken,
      ended)
  end
  return nil
end

local function sum(rows, field)
  local total = 0
  for _, row in ipairs(rows or {}) do
    total = total + row[field]
  end
  return total
end

-- Summed over the hosts: what was handed over is what the others took, and nothing is under way.
local function check_sums(f, names, tables)
  local gave, took = 0, 0
  for _, name in ipairs(names) do
    local own = f:host(name):stats().handed_over
    local acked = sum(tables[name].links, "acked")
    if own ~= acked then
      return ("%s handed %d messages over, and %d are acknowledged"):format(name, own, acked)
    end
    gave, took = gave + own, took + sum(tables[name].links, "taken")
  end
  if gave ~= took then
    return ("all hosts handed %d messages over and took %d"):format(gave, took)
  end
  return nil
end

--- Checks the fleet `f` with hosts of these names. Returns nil, or what is wrong.
function M.check(f, names)
  local tables = {}
  for _, name in ipairs(names) do
    tables[name] = rows_of(f:host(name))
    local fault = check_law(f:host(name), name)
    if fault then
      return fault
    end
  end
  for _, from in ipairs(names) do
    for _, to in ipairs(names) do
      local sent = from ~= to and handed(tables[from], to) or {}
      note_refused(tables[from], sent)
      local fault = from ~= to and (check_link(tables[from], tables[to], from, to)
        or check_taken(sent, taken(tables[to], from, sent), from, to))
      if fault then
        return fault
      end
    end
  end
  return check_sums(f, names, tables)
end

return M
