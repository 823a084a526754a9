-- A command whose request finds the disk full: it waits for space and says so.
--
-- Covers: core/main/program_asking.c, core/bridge/control/client.c

local program = require("program")

local APP = [[
local society = require("society")
society.root(function() end)
society.main(function(user) user:receive { type = "alert" } end)
]]

describe("society send", function()
  it("says why it waits while the disk is full, and is done when there is space", function()
    local place = program.place()
    place:write("app.lua", APP)
    local running = place:start("run app.lua", ("FAULT_DIR=%s FAULT_WHEN=%s LD_PRELOAD=%s"):format(
      program.quote(place.path .. "/.society"), program.quote(place.path .. "/full"),
      program.quote(place:preload("disk_faults"))))
    program.wait_for("the society", function()
      return place:run("send --to root before").code == 0
    end)
    program.wait_for("its rest: whatever it writes first finds the disk full", function()
      return place:run("inspect messages --agent root --json").out:find('"processed"', 1, true)
    end)
    place:write("full", "")
    local sending = place:start("send --to root during")
    sending:expect("the disk is full; the request is kept and done when there is space")
    place:shell("rm full")
    assert.equal(0, sending:wait().code)
    local listed = place:run("inspect messages --agent root --json").out
    assert.matches('"during"', listed, 1, true)
    running:kill("TERM")
    assert.equal(0, running:wait().code)
    place:remove()
  end)
end)
