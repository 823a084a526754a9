-- The workers of examples/files, as they are.

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
    place:remove()
  end)
end)
