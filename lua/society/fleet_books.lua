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

local TASK_FAILED, TASK_CANCELLED = 3, 4 -- states

local IS_FORMAL = 8 -- a flag

-- What the host completes as it leaves, by type: members that hold an id, or a list of them.
local QUALIFIED = {
  introduction_request = { via = "ids" },
  introduction_response = { via = "ids", target_agent = "agent" },
  collaboration_request = { requester = "agent", target_agent = "agent", is_formal = true },
  host_spawn = { task_brief = "brief", is_formal = true },
}
for _, type in ipairs({ "task", "task_assign", "task_assignment" }) do
  QUALIFIED[type] = { collaborators = "people", task_brief = "brief", taskBrief = "brief" }
end

local function rows_of(s)
  local tables = {}
  for _, row in ipairs(json.decode(s:dump())) do
    tables[row.table] = tables[row.table] or {}
    table.insert(tables[row.table], row)
  end
  return tables
end

local complete = {}

function complete.id(value, host)
  if type(value) == "string" and value:match("^%w[%w_.-]*$") and value ~= "system" then
    return value .. "@" .. host
  end
  return value
end

function complete.ids(value, host)
  for i, id in ipairs(value) do
    value[i] = complete.id(id, host)
  end
  return value
end

function complete.agent(value, host)
  value.id = complete.id(value.id, host)
  return value
end

function complete.people(value, host)
  for _, person in ipairs(value) do
    for _, name in ipairs({ "agentId", "agent_id", "id" }) do
      person[name] = complete.id(person[name], host)
    end
  end
  return value
end

function complete.brief(value, host)
  value.collaborators = value.collaborators and complete.people(value.collaborators, host)
  return value
end

-- The payload of a row as it leaves the host.
local function payload_of(row, host)
  local members = QUALIFIED[row.type]
  local payload = row.payload
  if not members or type(payload) ~= "table"
    or (members.is_formal and row.flags & IS_FORMAL == 0) then
    return payload
  end
  for name, kind in pairs(members) do
    local value = kind ~= true and payload[name]
    if type(value) == "table" then
      payload[name] = complete[kind](value, host)
    end
  end
  return payload
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

-- The key that must be unique: the item, or one copy of a broadcast per receiver.
local function once_of(item, row, to)
  return item.receiver == "All@" .. to and item.key .. " " .. row.receiver or item.key
end

local function check_taken(sent, rows, from, to)
  local last, seen = {}, {}
  for _, row in ipairs(rows) do
    local key = key_of(row.foreign_id)
    local item = sent[key]
    local once = item and once_of(item, row, to)
    local class = row.sender .. " " .. row.receiver .. " " .. row.priority
    if not item then
      return ("%s has a message that %s did not hand over: %s"):format(to, from, row.foreign_id)
    elseif seen[once] then
      return ("%s has a message of %s twice: %s"):format(to, from, row.foreign_id)
    elseif json.encode(payload_of(item, from)) ~= json.encode(row.payload) then
      return ("%s has other bytes than %s: %s"):format(to, from, row.foreign_id)
    elseif last[class] and last[class] > key then
      return ("%s has messages of %s out of order: %s"):format(to, from, row.foreign_id)
    end
    seen[key], seen[once], last[class] = true, true, key
  end
  for key, item in pairs(sent) do
    if not seen[key] and not item.leaves_none then
      return ("%s lacks a message that %s handed over: %s to %s, key %d"):format(to, from,
        item.type, item.receiver, key)
    end
  end
  return nil
end

-- The first row with that value of a field, and with any of another one if that is named.
local function find(rows, field, value, other)
  for _, row in ipairs(rows or {}) do
    if row[field] == value and (not other or row[other]) then
      return row
    end
  end
  return nil
end

-- A task that ended on a host as another host said: of that key, or of that owner and id.
local function has_ended(tables, state, key, owner, id)
  for _, row in ipairs(tables.tasks or {}) do
    local is_meant = row.key == key or (owner ~= nil and row.owner == owner and row.id == id)
    if row.state == state and is_meant then
      return true
    end
  end
  return false
end

-- A task of an agent of host `from` has ended as the result says.
local function has_result(tables, result, assigner, from)
  for _, row in ipairs(tables.tasks or {}) do
    if row.assigner == assigner and row.id == result.task_id and row.state >= TASK_FAILED
      and row.owner:match("@(.*)$") == from then
      return true
    end
  end
  return false
end

-- What host `to` does with an item beside keeping it, and what then shows there: orders for the
-- host itself, news about a task, and notices. A `delivery_failed` may end a wait for an ack,
-- which leaves no row: what shows is the message that it names.
local function ends_there(item, tables, from, to)
  local receiver = item.receiver:match("^(.*)@")
  if receiver == "system" then
    return item.receiver == "system@" .. to
  elseif item.type == "abort" then
    return has_ended(tables, TASK_CANCELLED, nil, receiver, item.task_id)
  elseif item.sender ~= "system" then
    return false
  elseif find(tables.agents, "id", receiver, "ended_ms") then
    return true
  elseif item.type == "delivery_failed" then
    local key = key_of(item.payload.message_id)
    return has_ended(tables, TASK_FAILED, key) or handed(tables, from)[key] ~= nil
  end
  return (item.type == "result" or item.type == "task_complete")
    and has_result(tables, item, receiver, from)
end

-- Marks what leaves no message at host `to`: what ends there, and what it refused, of which it has
-- sent a notice that names it.
local function note_missing(sent, tables, from, to)
  for _, row in ipairs(tables.message_entries or {}) do
    local id = row.type == "delivery_failed" and row.sender == "system" and row.payload.message_id
    local item = id and sent[key_of(id)]
    if item and row.receiver:match("@(.*)$") == from then
      item.leaves_none = true
    end
  end
  for _, item in pairs(sent) do
    item.leaves_none = item.leaves_none or ends_there(item, tables, from, to)
  end
end

local function check_link(here, there, from, to)
  local out, back = find(here.links, "peer", to), find(there.links, "peer", from)
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
      note_missing(sent, tables[to], from, to)
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
