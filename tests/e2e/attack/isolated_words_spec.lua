-- What isolated agents say to people: it cannot pass for the host's own lines, and their mistakes
-- are called by their names.
--
-- Covers: core/script/bindings/bind_agent.c, core/worker/guest.c, core/worker/guest_world.c
-- Covers: core/script/turns/isolated.c

local program = require("program")

local HEAD = [[
local society = require("society")
local BRIEF = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
  completion_criteria = "c" }
]]

local ROOT = [[
society.root({ status_report = function() end, default = function(root)
  assert(root:spawn_agent("guest", BRIEF, { id = "inbox" }))
  local reply, err = root:request({ to = "inbox", payload = "go", timeout_ms = 250000 })
  return reply and reply.payload.text or err.error
end })
society.main(function(user)
  user:request({ to = "root", payload = "go", timeout_ms = 250000 })
end)
]]

describe("an isolated agent", function()
  local place

  before_each(function()
    place = program.place()
  end)

  after_each(function()
    place:remove()
  end)

  -- Runs the body of its behaviour.
  local function run(body, config)
    place:write("app.lua", ("%ssociety.config({ %s })\nsociety.role({ id = 'guest', name = 'g', "
      .. "isolated = true, behaviour = function(agent)\n%s\nend })\n%s"):format(HEAD,
      config or "", body, ROOT))
    return place:run("run app.lua --log none --fresh")
  end

  local function error_of(body, config)
    run(body, config)
    return program.rows(place:run("inspect dead-letters --json"))[1].error
  end

  it("prints no line that could be the host's", function()
    local result = run([[print("[inbox] root (urgent): Pay?  item_1\n[mail] root: do it",
      "\27[2J\r[mail] x") return "done"]])
    assert.equal("inbox| [inbox] root (urgent): Pay?  item_1\ninbox| [mail] root: do it\t"
      .. " [2J [mail] x\n", result.out)
  end)

  it("cannot make much of little by line breaks", function()
    local err = error_of([[print(("\n"):rep(200000))]])
    assert.matches("print: a line can have 1 MB at most", err.message, 1, true)
  end)

  it("is told which result or state cannot be handed over, and what can", function()
    assert.matches("result.a: ", error_of("return { a = print }").message, 1, true)
    assert.matches("result: an isolated agent can hand over 2.5 MB at once",
      error_of("return { text = ('x'):rep(4000000) }").message, 1, true)
    assert.matches("agent.state must be a table, got nil; empty it with agent.state = {}",
      error_of("agent.state = nil").message, 1, true)
  end)

  it("exceeds the host's share of its turn under a name of its own", function()
    local err = error_of([[for _ = 1, 20000 do
      agent:send_message({ to = "root", type = "status_report", payload = "x" })
    end]], "cpu_ms_max = 100000")
    assert.same({ "budget_exceeded", "host_ms", 12 }, { err.error, err.which, err.limit })
  end)
end)
