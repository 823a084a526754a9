-- society cancel and terminate, and the beginnings of ids that commands take.

local program = require("program")

local APP = [[
local society = require("society")
local BRIEF = { objective = "-", constraints = {}, inputs = "-", outputs = "-",
  completion_criteria = "-" }
society.role { id = "worker", behaviour = { task = function() end, default = function() end } }
society.root(function(root)
  for _, id in ipairs({ "worker_1", "worker_10", "other" }) do
    assert(root:spawn_agent("worker", BRIEF, { id = id }))
  end
  for _, id in ipairs({ "T1", "T10", "T11", "S5", "N42" }) do
    assert(root:send_message { to = "other", type = "task", payload = { task_id = id } })
  end
  return { text = "ready" }
end)
]]

describe("ids on the command line", function()
  local place, running

  before_each(function()
    place = program.place()
    place:write("app.lua", APP)
    running = place:start_ready("run app.lua --quiet")
    assert.equal("ready\n", place:run("send --to root --wait go").out)
  end)

  after_each(function()
    running:kill("KILL")
    running:wait()
    place:remove()
  end)

  local function state_of(task)
    return program.rows(place:run("inspect tasks --json --task " .. task))[1].state
  end

  local function expect(code, out, err, arguments)
    local result = place:run(arguments)
    assert.same({ code, out }, { result.code, result.out }, arguments)
    assert.matches(err, result.err, 1, true)
  end

  it("cancel takes an exact id for itself, even if that task has ended", function()
    expect(0, "T1 (other): cancelled\n", "", "cancel T1 --reason enough")
    expect(1, "", "society: task_finished: ", "cancel T1")
    assert.same({ "cancelled", "processing", "processing" },
      { state_of("T1"), state_of("T10"), state_of("T11") })
  end)

  it("cancel takes the beginning of an id if it fits one open task", function()
    expect(0, "S5 (other): cancelled\n", "", "cancel S")
    expect(2, "", "cancel: 'T' begins the ids of 3 open tasks: T1, T10, T11\n", "cancel T")
    expect(1, "", "society: task_not_found: ", "cancel nothing")
    assert.same({ "processing", "processing", "processing" },
      { state_of("T1"), state_of("T10"), state_of("T11") })
    local row = program.rows(place:run("cancel T11 --json"))[1]
    assert.same({ "T11", "cancelled" }, { row.task_id, row.state })
  end)

  it("mean nothing when they are empty, even if there is only one", function()
    for _, id in ipairs({ "T1", "T10", "T11", "S5" }) do
      expect(0, id .. " (other): cancelled\n", "", "cancel " .. id)
    end
    assert.are_not.equal(0, place:run("cancel ''").code)
    assert.equal("processing", state_of("N42"))
  end)

  it("cancel and pause find them in a stopped society, too", function()
    running:kill("TERM")
    running:wait()
    expect(2, "", "begins the ids of 3 open tasks", "cancel T")
    expect(0, "S5 (other): cancelled\n", "", "cancel S")
    expect(1, "", "task_finished", "cancel S5")
    expect(0, "other is paused\n", "", "pause ot")
    expect(2, "", "'worker' begins the ids of 2 agents: worker_1, worker_10\n", "pause worker")
    expect(1, "", "no society is running in .society, and terminate needs one", "terminate other")
  end)

  it("terminate never takes an agent that has ended for another", function()
    expect(2, "", "terminate: 'w' begins the ids of 2 agents: worker_1, worker_10\n", "terminate w")
    expect(0, "worker_1 ends when its mailbox is empty\n", "", "terminate worker_1")
    program.wait_for("the end of worker_1", function()
      return not place:run("inspect agents --json").out:find('"id":"worker_1"', 1, true)
    end)
    expect(1, "", "society: agent_stopped: ", "terminate worker_1")
    expect(0, "other has ended\n", "", "terminate oth --force --reason 'it is late'")
    expect(0, "worker_10 ends when its mailbox is empty\n", "", "terminate wor")
    expect(1, "", "society: forbidden: ", "terminate root")
    expect(1, "", "society: agent_not_found: ", "terminate nobody")
  end)

  it("are never cut inside a number", function()
    expect(1, "", "society: task_not_found: ", "cancel N4")
    assert.equal("processing", state_of("N42"))
    expect(0, "N42 (other): cancelled\n", "", "cancel N")
    expect(1, "", "society: agent_not_found: ", "send --to worker_2 hello")
    expect(1, "", "society: agent_not_found: ", "pause worker_2")
  end)

  it("may be cut short in filters and for send", function()
    local whole = place:run("inspect messages --agent other --json").out
    assert.matches('"to":"other"', whole, 1, true)
    assert.equal(whole, place:run("inspect messages --agent oth --json").out)
    assert.equal("other", program.rows(place:run("inspect tasks --task S --json"))[1].agent)
    expect(2, "", "'wor' begins the ids of 2 agents", "inspect messages --agent wor")
    expect(2, "", "'wor' begins the ids of 2 agents", "send --to wor hello")
    expect(2, "", "'wor' begins the ids of 2 agents", "watch --agent wor")
    assert.equal(0, place:run("send --to oth hello").code)
    local sent = program.rows(place:run("inspect messages --agent oth --json"))
    assert.equal("hello", sent[#sent].payload.text)
  end)

  it("are offered for options, in the state directory that is named, running or not", function()
    local agents = "^user\nroot\nworker_1\nworker_10\nother\n$"
    assert.matches(agents, place:run("--complete send --to").out)
    assert.matches(agents, place:run("--complete inspect messages --agent").out)
    assert.matches("^T1\nT10\nT11\nS5\nN42\n$", place:run("--complete watch --task").out)
    running:kill("TERM")
    running:wait()
    place:shell("mv .society elsewhere")
    assert.equal("", place:run("--complete send --to").out)
    assert.matches(agents, place:run("--complete send --state elsewhere --to").out)
    assert.matches(agents, place:shell("SOCIETY_STATE=elsewhere society --complete send --to").out)
  end)

  it("of tasks and agents are offered by completion", function()
    assert.matches("^T1\nT10\nT11\nS5\n", place:run("--complete cancel").out)
    assert.matches("^user\nroot\nworker_1\nworker_10\nother\n",
      place:run("--complete terminate").out)
  end)
end)
