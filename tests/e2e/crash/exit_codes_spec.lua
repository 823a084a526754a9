-- Exit codes of a run that storage ends while a signal comes.

local program = require("program")

local DISK = 74

describe("a run that storage ends", function()
  local place

  before_each(function()
    place = program.place()
    place:write("app.lua", [[
      local society = require("society")
      society.root(function() return { text = "taken" } end)
    ]])
  end)

  after_each(function()
    place:remove()
  end)

  it("exits with 74 when it is interrupted while the disk is full, and continues later", function()
    local running = place:start("run app.lua --quiet",
      "FAULT_KIND=enospc FAULT_DIR=$PWD/.society FAULT_WHEN=$PWD/full LD_PRELOAD=" ..
      program.quote(place:preload("disk_faults")))
    program.wait_for("the socket", function()
      return place:shell("test -S .society/socket").code == 0
    end)
    place:shell("touch full")
    local sender = place:start("send --to root first")
    running:expect("the disk is full")
    running:kill("TERM")
    local ended = running:wait()
    assert.equal(DISK, ended.code)
    assert.matches("interrupted while the disk is full", ended.err, 1, true)
    assert.is_true(sender:wait().code ~= 0)
    place:shell("rm full")
    running = place:start_ready("run app.lua --quiet")
    assert.equal("taken\n", place:run("send --to root second --wait").out)
    running:kill("TERM")
    assert.equal(130, running:wait().code)
  end)

  it("exits with 74 although signals come while it stops", function()
    local running = place:start_ready("run app.lua")
    place:shell("rm -rf .society")
    running:expect("removed or moved")
    place:shell(("for i in $(seq 500); do kill -TERM %s || break; done"):format(running.pid))
    assert.equal(DISK, running:wait().code)
  end)
end)
