-- Isolated agents in a simulation: each has a world of its own, which comes and goes as a worker
-- process does.
--
-- Covers: core/script/turns/cell.c, core/script/turns/cell_world.c

local scene = require("scene")

local HEAD = [[
local society = require("society")
local BRIEF = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
  completion_criteria = "c" }
]]

-- Root spawns a guest of each id in the payload, or passes it to the one that is named.
local ROOT = [[
society.root {
  spawn = function(root, message)
    for _, id in ipairs(message.payload.ids) do
      assert(root:spawn_agent(message.payload.role, BRIEF,
        { id = id, isolated = message.payload.isolated }))
    end
  end,
  default = function() end,
}
society.policy("contacts", "open")
]]

local HELPER = "return { count = 0 }"

-- Counts in three places of its own, and looks at what is shared elsewhere.
local GUEST = [[
local helper = require("lib.helper")
local society = require("society")
local count = 0
print("loading", ...)
string.format = nil
society.agents = nil
COUNT = 0
return function(agent, message)
  if message.payload.text == "fail" then error("on purpose") end
  count, COUNT, helper.count = count + 1, COUNT + 1, helper.count + 1
  agent.state.count = (agent.state.count or 0) + 1
  if message.payload.text == "wait" then
    agent:send_message { to = "root", type = "status_report", payload = agent.id .. " waits" }
    agent:receive { type = "go_on" }
  end
  return { counts = { count, COUNT, helper.count }, lasting = agent.state.count,
    loaded = load("return 1 + 1")(), format = string.format == nil,
    method = ("%d"):format(7), own = require("lib.helper") == helper,
    outline = require("society.outline") ~= nil,
    missing = select(2, pcall(require, "lib.nothing")),
    changes = select(2, pcall(society.role, { id = "x" })),
    frozen = select(2, pcall(function() table.insert = nil end)) }
end
]]

local function start(app, options)
  local folder = scene.files({ ["app.lua"] = HEAD .. app .. ROOT, ["guest.lua"] = GUEST })
  assert(os.execute(("mkdir %q/lib"):format(folder)))
  local file = assert(io.open(folder .. "/lib/helper.lua", "w"))
  file:write(HELPER)
  file:close()
  options = options or {}
  options.app = folder .. "/app.lua"
  return scene.new(options)
end

local APART = [[
society.role { id = "guest", name = "g", isolated = true, behaviour = "guest" }
]]

local function spawn(s, ...)
  assert(s:send("user", { to = "root", type = "spawn",
    payload = { role = "guest", ids = { ... } } }))
  s:run()
end

-- What the agent answered last.
local function answer_of(s, id)
  local payload
  for _, message in ipairs(s:messages({ agent = id })) do
    payload = message.from == id and message.to == "user" and message.payload or payload
  end
  return payload
end

local function ask(s, id, text)
  assert(s:send("user", { to = id, payload = text or "go" }))
  s:run()
  return answer_of(s, id)
end

describe("an isolated agent in a simulation", function()
  after_each(scene.close)

  it("has modules, globals, locals and libraries of its own", function()
    local s = start(APART)
    spawn(s, "ann", "bob")
    for _, count in ipairs({ 1, 2 }) do
      for _, id in ipairs({ "ann", "bob" }) do
        local got = ask(s, id)
        assert.same({ count, count, count }, got.counts)
        assert.same({ count, 2, true, true, true },
          { got.lasting, got.loaded, got.format, got.own, got.outline })
        assert.equal("7", got.method)
        assert.matches("no module 'lib.nothing'", got.missing, 1, true)
        assert.matches("works while the script loads", got.changes, 1, true)
        assert.matches("table.insert cannot be changed", got.frozen, 1, true)
      end
    end
    assert.is_nil(s:transcript():find("loading", 1, true))
  end)

  it("shares nothing with the app's own agents when its behaviour is in the app's file", function()
    local s = start([[
      local count = 0
      SHARED = 0
      local function behaviour()
        count, SHARED = count + 1, SHARED + 1
        return { counts = { count, SHARED } }
      end
      society.role { id = "inside", name = "i", behaviour = behaviour }
      society.role { id = "guest", name = "g", isolated = true,
        behaviour = { default = behaviour } }
    ]])
    spawn(s, "ann", "bob")
    assert(s:send("user", { to = "root", type = "spawn",
      payload = { role = "inside", ids = { "cid", "dan" } } }))
    assert(s:send("user", { to = "root", type = "spawn",
      payload = { role = "inside", ids = { "eve" }, isolated = true } }))
    s:run()
    local counts = {}
    for _, id in ipairs({ "ann", "bob", "cid", "dan", "eve", "ann", "cid", "eve" }) do
      local got = ask(s, id).counts
      assert.equal(got[1], got[2])
      counts[#counts + 1] = got[1]
    end
    assert.same({ 1, 1, 1, 2, 1, 2, 3, 2 }, counts)
  end)

  it("makes isolated what it spawns and declares", function()
    local s = start([[
      society.role { id = "plain", name = "p", behaviour = function()
        return { seen = HOST or "apart" }
      end }
      society.role { id = "guest", name = "g", isolated = true, behaviour = function(agent)
        local child = assert(agent:spawn_agent("plain", agent.brief)).id
        local seen = assert(agent:request { to = child, payload = "?" }).payload.seen
        assert(agent:create_role { id = "made", name = "m", behaviour = "plain" })
        child = assert(agent:spawn_agent("made", agent.brief)).id
        return { child = seen, made = assert(agent:request { to = child, payload = "?" })
          .payload.seen }
      end }
      HOST = nil
      society.role { id = "host", name = "h", behaviour = function() HOST = "host" end }
    ]])
    assert(s:send("user", { to = "root", type = "spawn",
      payload = { role = "host", ids = { "host" } } }))
    assert(s:send("user", { to = "root", type = "spawn",
      payload = { role = "plain", ids = { "pat" } } }))
    s:run()
    ask(s, "host")
    spawn(s, "ann")
    assert.same({ child = "apart", made = "apart" }, ask(s, "ann"))
    assert.same({ seen = "host" }, ask(s, "pat"))
  end)

  it("keeps agent.state through a crash, and nothing else", function()
    local s = start(APART)
    spawn(s, "ann")
    assert.same({ true, nil }, { s:agent("ann").isolated, s:agent("root").isolated })
    ask(s, "ann")
    assert.same({ 2, 2, 2 }, ask(s, "ann").counts)
    s:crash()
    s:recover()
    local got = ask(s, "ann")
    assert.same({ 1, 1, 1 }, got.counts)
    assert.equal(3, got.lasting)
  end)

  it("has a new world after a run that failed", function()
    local s = start(APART)
    spawn(s, "ann", "bob")
    assert.equal(1, ask(s, "ann").counts[1])
    assert.equal(1, ask(s, "bob").counts[1])
    ask(s, "ann", "fail")
    assert.equal(1, ask(s, "ann").counts[1])
    assert.equal(2, ask(s, "bob").counts[1])
  end)

  it("gives its world up where there is no room, also while it waits", function()
    local s = start(APART, { config = { workers_max = 2 } })
    spawn(s, "ann", "bob", "cid")
    for _, id in ipairs({ "ann", "bob", "ann", "cid", "ann", "bob" }) do
      ask(s, id)
    end
    assert.same({ 3, 1 }, { answer_of(s, "ann").counts[1], answer_of(s, "bob").counts[1] })
    local ids = { "ann", "bob", "cid" }
    for _, id in ipairs(ids) do
      assert(s:send("user", { to = id, payload = "wait" }))
    end
    s:run()
    for _, id in ipairs(ids) do
      assert(s:send("user", { to = id, type = "go_on", payload = "x" }))
    end
    s:run()
    local lasting, waits = {}, 0
    for i, id in ipairs(ids) do
      local got = answer_of(s, id)
      lasting[i] = got.lasting
      assert.equal(1, got.counts[1], id) -- each was repeated in a new world
      for _, message in ipairs(s:messages({ agent = id, type = "status_report" })) do
        waits = waits + 1
        assert.equal(id .. " waits", message.payload.text)
      end
    end
    assert.same({ 4, 3, 2 }, lasting)
    assert.equal(3, waits)
  end)

  it("has the handlers of its table, and is asked about messages of no type of it", function()
    local s = start([[
      society.role { id = "guest", name = "g", isolated = true,
        behaviour = { go_on = function(_, message) print("printed", message.payload.text) end } }
    ]])
    spawn(s, "ann")
    assert(s:send("user", { to = "ann", type = "go_on", payload = "hello" }))
    ask(s, "ann")
    assert.matches("printed\thello", s:transcript(), 1, true)
    assert.matches("unhandled ann: no handler for messages of type general", s:transcript(), 1,
      true)
  end)

  it("is told what its files raise", function()
    local s = start([[
      society.role { id = "guest", name = "g", isolated = true, behaviour = "broken" }
    ]])
    spawn(s, "ann")
    ask(s, "ann")
    assert.matches("no module 'broken'", s:dead_letters()[1].error.message, 1, true)
  end)
end)
