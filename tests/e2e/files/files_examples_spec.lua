-- The workers of examples/files, unchanged.

local desk = require("desk")
local program = require("program")
local tree = require("tree")

local function example(name)
  return program.quote(tree.path("examples/files/" .. name))
end

local NO_MAIL = [[
local society = require("society")
society.config({ name = "no_mail", files = { dir = "w" } })
society.role({ id = "worker", behaviour = "external" })
society.root(function(root, message)
  if message.payload.text == "over" then
    return root:send_message({ to = "user", payload = "over" })
  end
  assert(root:spawn_agent("worker", { objective = "o", constraints = {}, inputs = "i",
    outputs = "o", completion_criteria = "c" }, { id = "a" }))
end)
society.main(function(user)
  user:send_message({ to = "root", payload = "go" })
  assert(user:receive({ from = "root", timeout_ms = 600000 }))
end)
]]

-- What an earlier workflow has left.
local STOPPED = '{"workflow_id":"old","created_at":"2025-01-25T14:30:00.000Z","agents":{\n'
  .. '"a":{"perspective":"x","status":"stopped","started_at":"2025-01-25T14:30:00.000Z",'
  .. '"last_heartbeat":null,"broadcasts_from":"msg_20250125_143000_000000000000002"}\n}}'

describe("the workers in shell and Python", function()
  it("do their tasks, reply, meet at the checkpoint and leave", function()
    local place = program.place()
    local result = place:shell(([[
      society run %s --quiet -- w & host=$!
      timeout 300 sh %s w agent_architecture & one=$!
      timeout 300 python3 %s w agent_cognitive & two=$!
      wait $host || exit 10
      wait $one || exit 11
      wait $two || exit 12]])
      :format(example("team.lua"), example("worker.sh"), example("worker.py")))
    assert.equal(0, result.code, result.err)
    local lines = {}
    for line in result.out:gmatch("[^\n]+") do
      lines[line] = true
    end
    for _, line in ipairs({
      "agent_architecture: user-auth-system has layers",
      "agent_cognitive: user-auth-system must be easy to remember",
      "agent_architecture: yes, I am here",
      "agent_architecture at the checkpoint: ready",
      "agent_cognitive at the checkpoint: ready",
      "all is done",
    }) do
      assert.is_true(lines[line], line .. " is missing in:\n" .. result.out .. result.err)
    end
    local again = place:shell(("society run %s --quiet -- w"):format(example("team.lua")))
    assert.matches("main finished in an earlier run", again.err, 1, true)
    assert.not_matches("file_", again.err, 1, true) -- they are in the archive
    place:remove()
  end)

  for _, worker in ipairs({ "sh " .. example("worker.sh"), "python3 " .. example("worker.py") }) do
    it("skip broadcasts from before they were spawned: " .. worker:match("^%w+"), function()
      local d = desk.open()
      d:tell({ command = "hire", id = "a" })
      d:tell({ command = "shout", text = "goodbye" })
      d:await("channel/broadcast.jsonl", 1)
      d:tell({ command = "hire", id = "b" })
      d.place:shell(("timeout 300 %s w b > b.out 2>&1 & echo $! > b.pid"):format(worker))
      d:tell({ command = "send", message = { to = "b", payload = {
        text = 'are "you"\nthere? C:\\cold \\c', id = "msg_0", type = "abort" } } })
      assert.equal("yes, I am here", d:await_heard(1)[1].payload.text)
      assert.equal(d:lines("channel/agents/b.jsonl")[1].id,
        d:await("channel/agents/b.ack", 1)[1].msg_id)
      d:tell({ command = "shout", text = "goodbye" })
      program.wait_for("the worker to leave", function()
        return d.place:shell("kill -0 $(cat b.pid)").code ~= 0
      end)
      d:close()
    end)

    it("leave at the end of the workflow, even without mail: " .. worker:match("^%w+"), function()
      local place = program.place()
      place:write("app.lua", NO_MAIL)
      place:shell(("timeout 300 %s w a > a.out 2>&1 & echo $! > a.pid"):format(worker))
      local running = place:start("run app.lua --quiet")
      -- It writes heartbeats, or follows its queue.
      program.wait_for("the worker to see that it is registered", function()
        return place:shell([=[[ -e w/state/heartbeat/a.ts ] && exit
          for p in $(pgrep -x tail); do
            [ "$(readlink /proc/$p/cwd)" = "$PWD" ] && exit
          done
          false]=]).code == 0
      end)
      assert.equal(0, place:run("send over").code)
      assert.equal(0, running:wait().code)
      program.wait_for("the worker to leave", function()
        return place:shell("kill -0 $(cat a.pid)").code ~= 0
      end)
      assert.equal("", place:read("a.out"))
      assert.equal(1, place:shell("test -e w/channel/agents/a.jsonl").code)
      place:remove()
    end)

    it("leave when terminated, not for an earlier workflow: " .. worker:match("^%w+"), function()
      local d = desk.open({}, "mkdir -p w/state && echo '" .. STOPPED .. "' > w/state/agents.json")
      d.place:shell(("timeout 300 %s w a > a.out 2>&1 & echo $! > a.pid"):format(worker))
      d:tell({ command = "hire", id = "a" })
      d:tell({ command = "send", message = { to = "a", payload = "are you there?" } })
      assert.equal("yes, I am here", d:await_heard(1)[1].payload.text)
      d:tell({ command = "end_agent", id = "a", drains = true })
      program.wait_for("the worker to leave", function()
        return d.place:shell("kill -0 $(cat a.pid)").code ~= 0
      end)
      d:close()
    end)
  end
end)
