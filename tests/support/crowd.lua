--- crowd: a society whose agents do what a spec says in their turn, for specs that spawn
-- agents by the thousand; and their contacts.

local json = require("society.json")
local scene = require("scene")

local M = {}

--- The roles there are, and their names; `able` has the Interface Spec SPEC.
M.ROLES = { "plain", "able" }
M.ROLE_NAMES = { plain = "普通", able = "able one" }
M.SPEC = { services = "s", input_format = "i", output_format = "o" }

local function declare(app, behave)
  app:role({ id = "plain", name = M.ROLE_NAMES.plain, behaviour = behave })
  app:role({ id = "able", name = M.ROLE_NAMES.able, behaviour = behave, interface_spec = M.SPEC })
  app:root(behave)
  app:policy("supervision", "backoff", { failures_max = 1000 }) -- turns raise on purpose
end

--- A society under that contacts policy.
-- @treturn table the society
-- @treturn function as(id, what): runs what(agent) as a turn of that agent, on user's
--   order, and returns its results
-- @treturn table heard[message's id] = who got it, of all mail but those orders
function M.new(contacts)
  local act
  local heard = {}
  local function behave(agent, message)
    if message.type == "act" then
      return act(agent, message)
    end
    heard[message.id] = agent.id
  end
  local s = scene.new({ quiet = true, policies = { contacts = contacts },
    app = function(app) declare(app, behave) end })
  local function as(id, what)
    local results
    act = function(agent) results = table.pack(what(agent)) end
    scene.tell(s, id, "act", "act")
    assert(results, "the turn failed: " .. json.encode(s:dead_letters({ limit = 1 })))
    return table.unpack(results, 1, results.n)
  end
  return s, as, heard
end

--- The contacts of an agent by id, and how many there are.
function M.contacts(s, id)
  local entries, count = {}, 0
  for _, entry in ipairs(s:contacts(id)) do
    assert(not entries[entry.id], "twice in the list: " .. entry.id)
    entries[entry.id] = entry
    count = count + 1
  end
  return entries, count
end

--- Whom an agent knows, and how: id -> source.
function M.sources(s, id)
  local found = {}
  for _, entry in ipairs(s:contacts(id)) do
    found[entry.id] = entry.source
  end
  return found
end

return M
