-- Who waits for whom on the command line: a table, JSON and a graph.

local dot = require("dot")
local json = require("society.json")
local program = require("program")

local APP = [[
local society = require("society")
society.policy("contacts", "open")
society.role {
  id = "worker", name = 'a "quoted" \\ name',
  behaviour = function(agent)
    local ask = coroutine.create(function()
      agent:request { to = "user", payload = "may I?", timeout_ms = 600000 }
    end)
    coroutine.resume(ask, "two", "values")
  end,
}
society.role {
  id = "idler", name = "idler",
  behaviour = function(agent)
    local receive = coroutine.wrap(function()
      agent:receive { from = "w-1.x", timeout_ms = 600000 }
    end)
    receive("a value")
  end,
}
local BRIEF = { objective = "wait", constraints = {}, inputs = "x", outputs = "y",
  completion_criteria = "done" }
society.root(function(root)
  root:spawn_agent("worker", BRIEF, { id = "w-1.x" })
  root:spawn_agent("idler", BRIEF, { id = "idle" })
  root:send_message { to = "idle", payload = "go" }
  root:request { to = "w-1.x", payload = "go", timeout_ms = 600000 }
end)
]]

local PLACES = { root = "app.lua:27", idle = "app.lua:16", ["w-1.x"] = "app.lua:7" }

local function edge_lines(edges)
  local lines = {}
  for _, edge in ipairs(edges) do
    lines[#lines + 1] = ("%s %s %s %s"):format(edge.from, edge.to, edge.attributes.style,
      edge.attributes.label or "-")
  end
  table.sort(lines)
  return lines
end

-- Without the names of roles, which only the script knows.
local function nameless(text)
  return (text:gsub('(label="[^\\]+)\\n.-(\\n[a-z_]+",)', "%1%2"))
end

describe("waits on the command line", function()
  local place, running

  local function stop()
    running:kill("INT")
    running:wait()
    running = nil
  end

  before_each(function()
    place = program.place()
    place:write("app.lua", APP)
    running = place:start_ready("run app.lua --quiet")
    place:run("send --to root go")
    program.wait_for("three waits", function()
      return select(2, place:run("inspect waits --json").out:gsub("\n", "")) == 3
    end)
  end)

  after_each(function()
    if running then
      stop()
    end
    place:remove()
  end)

  it("inspect shows who waits for whom, running and stopped alike but where", function()
    local before = place:run("inspect waits --json").out
    local found = {}
    for line in before:gmatch("[^\n]+") do
      local wait = json.decode(line)
      assert.equal(PLACES[wait.agent], wait.where)
      assert.is_string(wait.since)
      assert.is_string(wait.deadline)
      assert.matches("^msg_", wait.correlation_id)
      found[#found + 1] = ("%s %s %s"):format(wait.agent, wait.kind, wait.waits_for[1])
    end
    table.sort(found)
    assert.same({ "idle receive w-1.x", "root reply w-1.x", "w-1.x reply user" }, found)
    local chain = place:run([[call why '{"agent":"root"}']]).out
    assert.matches('"where":"' .. PLACES.root .. '".*"where":"' .. PLACES["w-1.x"] .. '"', chain)
    local shown = place:run("inspect waits").out
    assert.matches("^AGENT +KIND +WAITS FOR +RECEIVER +SINCE +DEADLINE +CORRELATION +WHERE\n",
      shown)
    assert.matches("\nw%-1%.x +reply +user +%l+ ", shown)
    stop()
    before = before:gsub(',"where":"[^"]+"', "")
    assert.equal(before, place:run("inspect waits --json").out)
    shown = shown:gsub(" +WHERE\n", "\n"):gsub(" +app%.lua:%d+\n", "\n")
    assert.equal(shown, place:run("inspect waits").out)
  end)

  it("export dot draws agents, parents and waits, running and stopped alike", function()
    local result = place:run("export dot")
    assert.equal(0, result.code)
    local nodes, edges = dot.parse(result.out)
    assert.same({
      'idle w-1.x bold receive', 'root idle dashed -', 'root w-1.x bold reply',
      'root w-1.x dashed -', 'w-1.x user bold reply',
    }, edge_lines(edges))
    assert.equal([[w-1.x\na \"quoted\" \\ name\nblocked_user]], nodes["w-1.x"].label)
    assert.equal("gold", nodes["w-1.x"].fillcolor)
    assert.equal("orange", nodes.root.fillcolor)
    assert.equal("user\\nuser\\nidle", nodes.user.label)
    stop()
    assert.equal(nameless(result.out), nameless(place:run("export dot").out))
  end)

  it("export lists its formats and reports a missing society", function()
    local result = place:run("export nonsense")
    assert.equal(2, result.code)
    assert.matches("the formats are [^\n]*dot", result.err)
    assert.equal(2, place:run("export").code)
    result = place:run("export dot --state nowhere")
    assert.equal(1, result.code)
    assert.matches("no society in nowhere", result.err, 1, true)
  end)
end)

describe("a response that fell due while the society was down", function()
  local place

  before_each(function()
    place = program.place()
  end)

  after_each(function()
    place:remove()
  end)

  it("answers its request after the start", function()
    place:write("app.lua", [[
      local society = require("society")
      society.root(function(root, message)
        root:send_message { to = message.from, type = "response", delay_ms = 86400000,
          payload = { query_id = message.id, answer = "at last" } }
      end)
      society.main(function(user)
        print(user:request({ to = "root", type = "query", payload = { query = "?" },
          timeout_ms = 2 * 86400000 }).payload.answer)
      end)
    ]])
    local running = place:start("run app.lua --quiet")
    program.wait_for("the response to be on its way", function()
      return place:run("inspect messages --type response --json").out:find("pending", 1, true)
    end)
    running:kill("KILL")
    running:wait()
    local ended = place:run_next_day("run app.lua --quiet")
    assert.equal(0, ended.code)
    assert.equal("at last\n", ended.out)
  end)
end)
