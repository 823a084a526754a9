-- society pause and society resume, on running and stopped societies.

local json = require("society.json")
local program = require("program")

local APP = [[
local society = require("society")
local BRIEF = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
  completion_criteria = "c" }
society.role { id = "worker", behaviour = function(agent, message)
  if message.payload.text == "fail" then error("on purpose") end
  print(agent.id, message.payload.text)
end }
society.root {
  alert = function(_, message)
    print("alert", message.payload.alert_type, message.payload.agent)
  end,
  default = function(root, message)
    if message.payload.text == "hire" then
      root:spawn_agent("worker", BRIEF, { id = "ann" })
    end
  end,
}
]]

describe("pause and resume", function()
  local place, running

  before_each(function()
    place = program.place()
    place:write("app.lua", APP)
  end)

  after_each(function()
    if running then
      running:kill("KILL")
      running:wait()
      running = nil
    end
    place:remove()
  end)

  local function start(app)
    running = place:start_ready("run app.lua --log none " .. (app or ""))
  end

  local function stop()
    running:kill("INT")
    running:wait()
    running = nil
  end

  local function status(id)
    for line in place:run("inspect agents --json").out:gmatch("[^\n]+") do
      local agent = json.decode(line)
      if agent.id == id then
        return agent.status
      end
    end
  end

  it("hold an agent of a running society, through a restart", function()
    start()
    place:run("send --to root hire")
    program.wait_for("ann", function() return status("ann") == "idle" end)
    assert.equal("ann is paused\n", place:run("pause ann --reason 'a look'").out)
    assert.equal("ann was already paused\n", place:run("pause ann").out)
    place:run("send --to ann one")
    assert.equal("paused", status("ann"))
    stop()
    assert.equal("paused", status("ann"))
    start()
    assert.equal("paused", status("ann"))
    local done = json.decode(place:run("resume --all --json").out)
    assert.same({ count = 1, id = "All" }, done)
    running:expect("ann\tone")
    assert.equal("idle", status("ann"))
  end)

  it("hold a stopped society and release it", function()
    start()
    place:run("send --to root hire")
    program.wait_for("ann", function() return status("ann") == "idle" end)
    stop()
    assert.equal("2 agents paused\n", place:run("pause root --subtree").out)
    assert.equal("paused", status("root"))
    place:run("send --to ann one")
    start()
    assert.equal("paused", status("ann"))
    assert.equal("ann is resumed\n", place:run("resume ann").out)
    running:expect("ann\tone")
    assert.equal("paused", status("root"))
  end)

  it("release a failed agent", function()
    start("--set name=x")
    place:run("send --to root hire")
    program.wait_for("ann", function() return status("ann") == "idle" end)
    place:run("send --to ann fail")
    place:run("send --to ann fail")
    running:expect("alert\tfailed\tann")
    local asked = place:run("send --to ann --wait hello")
    assert.equal(1, asked.code)
    assert.matches("^society: receiver_failed: ", asked.err)
    stop()
    assert.equal("failed", status("ann"))
    assert.equal("ann is resumed\n", place:run("resume ann").out)
    assert.equal("idle", status("ann"))
  end)

  it("are in the activity, which can be filtered by the chain of an order", function()
    start()
    place:run("send --to root hire")
    program.wait_for("ann", function() return status("ann") == "idle" end)
    place:run("pause ann --reason 'a look'")
    local id = place:run("send --to ann one").out:match("msg_[%w_]+")
    place:run("resume ann")
    running:expect("ann\tone")
    local function ask(filters)
      local events = {}
      for line in place:run("inspect activity --json " .. filters).out:gmatch("[^\n]+") do
        local row = json.decode(line)
        events[#events + 1] = row.agent .. " " .. row.event
      end
      return table.concat(events, ", ")
    end
    for _ = 1, 2 do -- running, then stopped
      assert.equal("user sent, ann processed", ask("--correlation " .. id))
      assert.equal("ann resumed", ask("--agent ann --type resumed --since 2020-01-01T00:00:00Z"))
      assert.equal("ann paused", ask("--type paused --limit 1"))
      if running then
        stop()
      end
    end
  end)

  it("report errors", function()
    start()
    local none = place:run("pause nobody")
    assert.equal(1, none.code)
    assert.matches("^society: agent_not_found: ", none.err)
    assert.equal(1, place:run("pause user").code)
    assert.equal(2, place:run("pause").code)
    assert.equal(2, place:run("resume root --all").code)
    assert.equal(1, place:run("pause root --state /nonexistent").code)
    assert.matches("--subtree", place:run("help pause").out, 1, true)
  end)
end)
