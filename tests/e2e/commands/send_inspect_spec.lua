-- Covers: core/main/stopped.c, core/main/program_asking.c, core/main/program_texts.c
-- Covers: core/bridge/control/client.c

local program = require("program")

local APP = [[
local society = require("society")
society.policy("messages", "any")
society.role {
  id = "worker", name = "工人", prompt = "Works.",
  behaviour = function(agent, message) return { text = "done" } end,
}
society.root {
  hard = function() error("too hard") end,
  default = function(root, message)
    if message.payload.text == "wait" then root:sleep(600000) end
    local worker = root:spawn_agent("worker", {
      objective = "work", constraints = {}, inputs = "x", outputs = "y",
      completion_criteria = "done",
    })
    return root:request { to = worker.id, payload = "go" }.payload
  end,
}
]]

local rows = program.rows

describe("inspect and send", function()
  local place, running

  local function start()
    running = place:start_ready("run app.lua --quiet")
  end

  local function stop()
    running:kill("INT")
    running:wait()
    running = nil
  end

  before_each(function()
    place = program.place()
    place:write("app.lua", APP)
    start()
  end)

  after_each(function()
    if running then
      stop()
    end
    place:remove()
  end)

  it("prints the reply with --wait, the id without", function()
    assert.equal("done\n", place:run("send --to root --wait hello").out)
    assert.matches("^msg_%d+_%d+_%x+\n$", place:run("send --to root hello").out)
  end)

  it("accepts a payload as JSON", function()
    local result = place:run([[send --to root --json-payload '{"a":[1,2],"text":"x"}']])
    assert.equal(0, result.code)
    local sent = rows(place:run("inspect messages --agent user --json"))
    assert.same({ a = { 1, 2 }, text = "x" }, sent[1].payload)
    assert.equal("user", sent[1].from)
    assert.equal(2, place:run("send --to root --json-payload '{'").code)
  end)

  it("refuses text that is not UTF-8 instead of changing it", function()
    for _ = 1, 2 do
      for _, case in ipairs({
        { [[--to root "$(printf 'a\377b')"]], "the text is not UTF-8: byte 2 is wrong" },
        { [[--to "$(printf '\377')" hello]], "--to is not UTF-8: byte 1 is wrong" },
        { [[--to root --type "$(printf 'x\300')" hello]], "--type is not UTF-8: byte 2 is wrong" },
      }) do
        assert.same({ code = 2, out = "", err = "society: send: " .. case[2] .. "\n" },
          place:shell("society send " .. case[1]))
      end
      assert.same({}, rows(place:run("inspect messages --json")))
      if running then
        stop()
      end
    end
  end)

  it("prints why a message was refused", function()
    local result = place:run("send --to nobody hello")
    assert.equal(1, result.code)
    assert.matches("^society: agent_not_found: [^\n]+\n$", result.err)
  end)

  it("stops waiting after --timeout", function()
    local result = place:run("send --to root --wait --timeout 200 wait")
    assert.equal(1, result.code)
    assert.matches("^society: timeout: ", result.err)
  end)

  it("waits with --wait for a society that is just starting", function()
    place:write("app.lua", APP .. "for _ = 1, 30000000 do end\n")
    running:kill("KILL")
    running:wait()
    place:shell("rm .society/socket; : > .society/lock")
    running = place:start("run app.lua --quiet")
    program.wait_for("the state to be held", function()
      return place:read(".society/lock"):find("since")
    end)
    assert.same({ code = 0, out = "done\n", err = "" }, place:run("send --to root --wait hello"))
  end)

  it("reports with --wait that a process holds the state but does not answer", function()
    stop()
    local result = place:shell("exec 9< .society/lock; flock 9; " ..
      "society send --to root --wait --timeout 200 hello 9<&-")
    assert.same({ code = 1, out = "", err = "society: a process holds .society, but its society " ..
      "does not answer yet\n" }, result)
  end)

  it("shows the same agents and messages running and stopped", function()
    place:run("send --to root --wait hello")
    local seen = {}
    for _ = 1, 2 do
      local agents, messages = {}, {}
      for _, row in ipairs(rows(place:run("inspect agents --json"))) do
        agents[#agents + 1] = { row.id, row.role, row.parent, row.created_at, row.brief }
      end
      for _, row in ipairs(rows(place:run("inspect messages --json"))) do
        messages[#messages + 1] = row.id .. row.status
      end
      seen[#seen + 1] = { agents = agents, messages = messages }
      if running then
        stop()
      end
    end
    assert.equal(3, #seen[1].agents)
    assert.same({ id = "worker", name = "工人" }, seen[1].agents[3][2])
    assert.equal(4, #seen[1].messages)
    assert.same(seen[1], seen[2])
  end)

  it("treats payloads the same running and stopped", function()
    for _ = 1, 2 do
      local result = place:run("send --to root --json-payload ' null'")
      assert.same({ 1, "", "society: missing_payload: a message needs a payload\n" },
        { result.code, result.out, result.err })
      assert.equal(0, place:run([[send --to root --json-payload ' "wait"']]).code)
      local list = rows(place:run("inspect messages --agent user --limit 1 --json"))
      assert.same({ text = "wait" }, list[1].payload)
      if running then
        stop()
      end
    end
  end)

  it("filters and limits", function()
    place:run("send --to root --wait hello")
    for _ = 1, 2 do
      assert.equal(2, #rows(place:run("inspect messages --limit 2 --json")))
      assert.equal(2, #rows(place:run("inspect messages --agent user --json")))
      assert.equal(0, #rows(place:run("inspect messages --type none --json")))
      assert.equal(0, #rows(place:run("inspect messages --since 2999-01-01T00:00:00Z --json")))
      if running then
        stop()
      end
    end
    assert.equal(2, place:run("inspect messages --since soon").code)
    assert.equal(2, place:run("inspect messages --limit few").code)
    assert.equal(2, place:run("inspect things").code)
  end)

  it("shows the same tasks running and stopped", function()
    place:run([[send --to root --type task --json-payload --wait '{"task_id":"T1"}']])
    local seen = {}
    for i = 1, 2 do
      seen[i] = rows(place:run("inspect tasks --json"))
      if running then
        stop()
      end
    end
    assert.equal("processing", seen[1][1].state)
    assert.equal("user", seen[1][1].assigner)
    assert.same(seen[1], seen[2])
    assert.equal(0, #rows(place:run("inspect tasks --type completed --json")))
    assert.equal(1, #rows(place:run("inspect tasks --task T1 --agent root --json")))
    assert.matches("T1 +processing +root +user", place:run("inspect tasks").out)
  end)

  it("aligns columns, also with wide characters", function()
    place:run("send --to root --wait hello")
    local lines = {}
    for line in place:run("inspect agents").out:gmatch("[^\n]+") do
      lines[#lines + 1] = line
    end
    local column = lines[1]:find("PARENT", 1, true)
    assert.matches("^ID +ROLE +PARENT +STATUS", lines[1])
    assert.equal("worker_2  工人  root", lines[4]:match("^worker_2 +工人 +root"))
    assert.equal(column, lines[4]:find("root", 1, true) - #"工人" + 4)
  end)

  it("shows waits and activity, running and stopped", function()
    place:run("send --to root wait")
    local waits = program.wait_for("a wait", function()
      return rows(place:run("inspect waits --json"))[1]
    end)
    assert.equal("root", waits.agent)
    assert.equal("sleep", waits.kind)
    assert.equal(1, rows(place:run("inspect stats --json"))[1].pending)
    assert.is_true(#rows(place:run("inspect activity --json")) > 0)
    assert.matches("^app%.lua:%d+$", waits.where)
    waits.where = nil -- a stopped society runs no script
    stop()
    assert.same(waits, rows(place:run("inspect waits --json"))[1])
    local stats = rows(place:run("inspect stats --json"))[1]
    assert.equal(1, stats.sent)
    assert.equal(1, stats.pending)
  end)

  it("serialises concurrent sends to a stopped society", function()
    stop()
    local together = {}
    for i = 1, 8 do
      together[i] = ("society send --to root m%d > /dev/null & pids=\"$pids $!\";"):format(i)
    end
    local result = place:shell(table.concat(together, " ") ..
      " for p in $pids; do wait $p || exit 1; done")
    assert.equal(0, result.code)
    assert.equal(8, rows(place:run("inspect stats --json"))[1].pending)
  end)

  it("lists dead letters with their reason", function()
    place:run("send --to root --type hard x")
    local dead = program.wait_for("a dead letter", function()
      return rows(place:run("inspect dead-letters --json"))[1]
    end)
    assert.equal("hard", dead.type)
    assert.equal("script_error", dead.reason)
    assert.matches("too hard", dead.error.message, 1, true)
  end)

  it("keeps messages to a stopped society for its next run", function()
    stop()
    local result = place:run("send --to root later")
    assert.equal(0, result.code)
    local id = result.out:match("^(msg_%d+_%d+_%x+)\n$")
    assert.equal("pending", rows(place:run("inspect messages --json"))[1].status)
    assert.equal(1, place:run("send --to root --wait now").code)
    assert.equal(1, place:run("send --to nobody x").code)
    start()
    program.wait_for("the message to be handled", function()
      local row = rows(place:run("inspect messages --json"))[1]
      return row.id == id and row.status == "processed"
    end)
  end)

  it("reports that there is no society", function()
    for _, arguments in ipairs({ "inspect agents", "send --to root x" }) do
      local result = place:run(arguments .. " --state none")
      assert.equal(1, result.code)
      assert.matches("^society: there is no society in none[^\n]*\n$", result.err)
      assert.not_equal(0, place:shell("test -e none").code)
    end
  end)

  it("reaches a society whose directory has a very long name", function()
    local long = ("d"):rep(150)
    local other = place:start("run app.lua --quiet --state " .. long)
    local result = program.wait_for("an answer", function()
      local answer = place:run("send --to root --wait hello --state " .. long)
      return answer.code == 0 and answer
    end)
    assert.equal("done\n", result.out)
    other:kill("INT")
    assert.equal(130, other:wait().code)
  end)
end)
