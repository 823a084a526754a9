-- The workers of examples/files, as they are.

local desk = require("desk")
local program = require("program")

local function example(name)
  local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$")
  local path = program.quote(here .. "/../../examples/files")
  local pipe = assert(io.popen("cd " .. path .. " && pwd"))
  local folder = pipe:read("l")
  pipe:close()
  return program.quote(folder .. "/" .. name)
end

describe("the workers in shell and Python", function()
  it("do their tasks, reply, meet at the checkpoint and leave", function()
    local place = program.place()
    local result = place:shell(([[
      society run %s --quiet -- w & host=$!
      timeout 60 sh %s w agent_architecture & one=$!
      timeout 60 python3 %s w agent_cognitive & two=$!
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
    assert.matches("main has finished", again.err, 1, true)
    assert.not_matches("file_", again.err, 1, true) -- its files are in the archive, by ourselves
    place:remove()
  end)

  for _, worker in ipairs({ "sh " .. example("worker.sh"), "python3 " .. example("worker.py") }) do
    it("take no broadcast from before their birth: " .. worker:match("^%w+"), function()
      local d = desk.open()
      d:tell({ command = "hire", id = "a" })
      d:tell({ command = "shout", text = "goodbye" })
      d:await("channel/broadcast.jsonl", 1)
      d:tell({ command = "hire", id = "b" })
      d.place:shell(("timeout 60 %s w b > b.out 2>&1 & echo $! > b.pid"):format(worker))
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
  end
end)
