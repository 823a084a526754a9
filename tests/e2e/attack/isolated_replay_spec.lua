-- Isolated agents in `society sim` and `society replay`: what workers did is repeated inside the
-- program without a difference, and one seed gives one transcript.
--
-- Covers: core/parts/history/history.c, core/parts/history/replay.c

local hostile = require("hostile")
local program = require("program")
local recorded = require("recorded")

-- Guests by role, by option, by birth and by declaration, in modules and in the app's file; they
-- wait, fail, load modules in a turn and count beside agent.state. In workers the counts of two
-- agents are not one count.
local APP = [[
local society = require("society")
]] .. recorded.BRIEF .. [[
society.config { history = "full" }
local count = 0
local function behaviour(agent, message)
  count = count + 1
  agent.state.count = (agent.state.count or 0) + 1
  agent:sleep(agent:random(1, 3))
  if message.payload.text == "fail" then error("on purpose") end
  return { count = count, lasting = agent.state.count, at = os.time() > 0, text = message.text,
    loaded = LOADED }
end
society.policy("contacts", "open")
society.role { id = "inside", name = "i", behaviour = behaviour }
society.role { id = "apart", name = "a", isolated = true, behaviour = { default = behaviour } }
society.role { id = "visitor", name = "v", isolated = true, behaviour = "guest" }
society.root(function(root)
  local ids, counts = {}, {}
  local function hire(role, options)
    ids[#ids + 1] = assert(root:spawn_agent(role, BRIEF, options)).id
  end
  hire("inside") hire("inside") hire("apart") hire("apart") hire("visitor")
  hire("inside", { isolated = true })
  assert(root:request { to = ids[5], payload = "go" })
  hire("made") hire("made")
  for round = 1, 3 do
    for i, id in ipairs(ids) do
      local reply, err = root:request { to = id, payload = round == 2 and "fail" or "go" }
      counts[#counts + 1] = reply and reply.payload.count or err.error
    end
  end
  return table.concat(counts, " ")
end)
society.main(function(user)
  local reply, err = user:request { to = "root", payload = "go", timeout_ms = 3600000 }
  print(reply and reply.payload.text or err.error)
end)
]]

local GUEST = [[
local count = 0
LOADED = true -- nobody else sees it
string.lower = nil
return function(agent, message)
  count = count + 1
  if string.lower then error("the library is somebody else's") end
  if message.payload.text == "fail" then error({ error = "on_purpose" }) end
  local helper = require("helper")
  if message.from == "root" and not agent.state.made and agent.role.id == "visitor" then
    agent.state.made = agent:create_role { id = "made", name = "m", behaviour = "guest" }
    print("made by", agent.id)
  end
  return { count = count, helped = helper(agent, message) }
end
]]

-- As workers count: each agent on its own, anew after a run that failed.
local COUNTS = "1 2 1 1 2 1 1 1"

describe("isolated agents", function()
  local place

  before_each(function()
    place = program.place()
    place:write("guest.lua", GUEST)
    place:write("helper.lua", recorded.HELPER)
    place:write("app.lua", APP)
  end)

  after_each(function()
    place:remove()
  end)

  local function counts_of(result)
    local line = result.out:match("[^\n]*1 2 1 1[^\n]*") or result.out .. result.err
    return (line:gsub("receiver_failed", "-"))
  end

  it("are the same in workers, in a simulation and in a replay", function()
    local result = place:run("run app.lua")
    assert.equal(0, result.code, result.err)
    local real = counts_of(result)
    assert.matches(COUNTS .. " - - - - - - - - ", real, 1, true)
    local totals = recorded.assert_same(place)
    assert.is_true(totals.runs > 24)
    result = place:run("sim app.lua --seed 1 --faults none")
    assert.equal(0, result.code, result.err)
    assert.matches(real, counts_of(result), 1, true)
  end)

  it("are simulated alike with one seed, and survive the usual faults", function()
    local first = place:run("sim app.lua --seed 7 --faults default")
    assert.equal(0, first.code, first.err)
    assert.equal(first.out, place:run("sim app.lua --seed 7 --faults default").out)
    local many = place:run("sim app.lua --seeds 1..40 --faults default")
    assert.equal(0, many.code, many.out:sub(-2000) .. many.err)
  end)

  it("are simulated alike when they are hostile", function()
    place:write("app.lua", hostile.app({ steps_max = 200000, memory_bytes_max = 8000000 }, true))
    local first = place:run("sim app.lua --seed 3 -- main")
    assert.matches("budget_exceeded", first.out, 1, true)
    assert.equal(first.out, place:run("sim app.lua --seed 3 -- main").out)
  end)
end)
