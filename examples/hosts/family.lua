-- Four hosts of one machine: a host uses one core, so a family of agents on each uses four.
--
-- Every host runs this app under its own name. In each family the members count primes in a range
-- of their own; nothing of that leaves the host. The first host asks the roots of the others for
-- their sums. Run it with ./four.sh.

local society = require("society")
society.config { name = "families", language = "en" }

local HOSTS = { "north", "east", "south", "west" } -- the range of each begins at its place here
local MEMBERS, EACH = 8, 400

local function primes(first, last)
  local count = 0
  for n = math.max(first, 2), last do
    local is_prime = true
    for d = 2, math.floor(n ^ 0.5) do
      if n % d == 0 then
        is_prime = false
        break
      end
    end
    count = count + (is_prime and 1 or 0)
  end
  return count
end

society.role { id = "member", name = "Member", behaviour = function(_, message)
  return { count = primes(message.payload.first, message.payload.last) }
end }

local function ask_family(root, place)
  local sum = 0
  for i = 1, MEMBERS do
    local member = assert(root:spawn_agent("member", { objective = "count primes",
      constraints = {}, inputs = "a range", outputs = "a number",
      completion_criteria = "all were tried" }))
    local first = ((place - 1) * MEMBERS + i - 1) * EACH
    sum = sum + assert(root:request { to = member.id,
      payload = { first = first, last = first + EACH - 1 } }).payload.count
  end
  return sum
end

society.root {
  count = function(root, message)
    return { sum = ask_family(root, message.payload.place) }
  end,
  begin = function(root)
    -- A checkpoint asks the others at once, and waits for all of them.
    local others = {}
    for i = 2, #HOSTS do
      others[i - 1] = "root@" .. HOSTS[i]
    end
    local sum = ask_family(root, 1)
    print("north: " .. sum)
    local all = assert(root:checkpoint { agents = others, timeout_ms = 120000 })
    for i, id in ipairs(others) do
      print(HOSTS[i + 1] .. ": " .. all.responses[id].sum)
      sum = sum + all.responses[id].sum
    end
    print("primes below " .. #HOSTS * MEMBERS * EACH .. ": " .. sum)
    return { text = "done" }
  end,
  checkpoint_request = function(root)
    for i, name in ipairs(HOSTS) do
      if name == arg[1] then
        return { sum = ask_family(root, i) }
      end
    end
  end,
}

society.policy("messages", { "society", "workflow", "any" })

society.main(function(user)
  if arg[1] == HOSTS[1] then
    assert(user:request { to = "root", type = "begin", payload = "begin", timeout_ms = 180000 })
  end
end)
