-- Roles of isolated agents, later: what a stranger wrote does not come into the program itself
-- because its author is forgotten, or because the app called it a stranger only now.
--
-- Covers: core/kernel/registry.c

local json = require("society.json")
local program = require("program")

local HEAD = [[
local society = require("society")
local BRIEF = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
  completion_criteria = "c" }
society.role { id = "plain", name = "p", behaviour = function()
  return { seen = HOST or "apart" }
end }
]]

local GUEST = [[
print("loading")
return function(agent, message)
  if message.payload.text == "where" then return { seen = HOST or "apart" } end
  assert(agent:create_role({ id = "made", name = "m", behaviour = "guest" }))
  local child = assert(agent:spawn_agent("plain", agent.brief)).id
  local answer = assert(agent:request({ to = child, payload = "where" })).payload
  return { child = answer.seen }
end
]]

describe("what an isolated agent has declared", function()
  local place, running

  before_each(function()
    place = program.place()
    place:write("guest.lua", GUEST)
  end)

  after_each(function()
    if running then
      running:kill("KILL")
      running:wait()
    end
    place:remove()
  end)

  -- Runs the app until root has answered, and returns the answer.
  local function run(text, state)
    place:write("app.lua", HEAD .. text)
    running = place:start_ready("run app.lua --state " .. state, state)
    local sent = place:run("send --to root --wait go --timeout 250000 --state " .. state)
    running:kill("INT")
    local ended = running:wait()
    running = nil
    assert.is_nil((ended.out .. ended.err):find("loading", 1, true), ended.err)
    return assert(json.decode(sent.out), sent.err .. ended.err)
  end

  it("is isolated when its author ended too long ago to be remembered", function()
    local role = 'society.role { id = "guest", name = "g", isolated = true, behaviour = "guest" }'
    assert.same({ child = "apart" }, run(role .. [[
      society.root(function(root)
        HOST = "host"
        local guest = assert(root:spawn_agent("guest", BRIEF, { id = "guest" })).id
        local answer = assert(root:request { to = guest, payload = "go" }).payload
        assert(root:terminate(guest, { force = true }))
        return answer
      end)
    ]], "st"))
    -- As if 200,000 agents had been born since. A start remembers the last 100,000 that ended.
    place:shell("society export jsonl --state st > st.jsonl")
    local later = 0
    place:write("later.jsonl", (place:read("st.jsonl"):gsub(
      '({"stored":"agents","row":{"number":)(%d+)(,"id":"plain)', function(before, number, after)
        later = later + 1
        return before .. number + 200000 .. after
      end)))
    assert.equal(1, later)
    local imported = place:run("import later.jsonl --state later")
    assert.equal(0, imported.code, imported.err)
    assert.same({ made = "apart" }, run(role .. [[
      society.root(function(root)
        HOST = "host"
        local made = assert(root:spawn_agent("made", BRIEF)).id
        return { made = assert(root:request { to = made, payload = "where" }).payload.seen }
      end)
    ]], "later"))
  end)

  it("is isolated if its author's role is by now", function()
    local role = [[
      society.role { id = "guest", name = "g", ISOLATED behaviour = function(agent, message)
        if message.payload.text == "first" then return "hello" end
        return GUEST(agent, message)
      end }
      function GUEST(agent, message)
        if message.payload.text == "where" then return { seen = HOST or "apart" } end
        assert(agent:create_role({ id = "made", name = "m", behaviour = "guest" }))
        local child = assert(agent:spawn_agent("plain", agent.brief)).id
        return { child = assert(agent:request({ to = child, payload = "where" })).payload.seen }
      end
    ]]
    run(role:gsub("ISOLATED", "") .. [[
      society.root(function(root)
        assert(root:spawn_agent("guest", BRIEF, { id = "guest" }))
        root:request { to = "guest", payload = "first" }
        return { ready = true }
      end)
    ]], "st")
    assert.same({ child = "apart", made = "apart" },
      run(role:gsub("ISOLATED", "isolated = true,") .. [[
        society.root(function(root)
          HOST = "host"
          local answer = assert(root:request { to = "guest", payload = "go" }).payload
          local made = assert(root:spawn_agent("made", BRIEF)).id
          answer.made = assert(root:request { to = made, payload = "where" }).payload.seen
          return answer
        end)
      ]], "st"))
  end)
end)
