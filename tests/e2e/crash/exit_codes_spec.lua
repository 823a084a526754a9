-- Exit codes of a run that storage ends while a signal comes.

local program = require("program")

local DISK = 74

-- Takes the state away from a program that cannot write its last words, because the pipe is
-- full: it stays in its last step, after its own handler of signals is gone, and gets a
-- signal there.
local INTERRUPT = [[
import os, shutil, signal, subprocess, sys, time

def wait_for(is_so):
    for _ in range(6000):
        if is_so():
            return
        time.sleep(0.01)
    sys.exit("waited in vain")

def handles_signals(pid):
    with open("/proc/%d/status" % pid) as status:
        caught = [line.split()[1] for line in status if line.startswith("SigCgt:")][0]
    return int(caught, 16) >> (signal.SIGTERM - 1) & 1 == 1

read_end, write_end = os.pipe()
run = subprocess.Popen([sys.argv[1], "run", "app.lua", "--log", "none"], stderr=write_end)
wait_for(lambda: os.path.exists(".society/socket") and handles_signals(run.pid))
os.set_blocking(write_end, False)
for size in (4096, 1):
    try:
        while True:
            os.write(write_end, b"x" * size)
    except BlockingIOError:
        pass
os.set_blocking(write_end, True)
shutil.rmtree(".society", ignore_errors=True)
wait_for(lambda: not handles_signals(run.pid))
run.send_signal(signal.SIGTERM)
os.close(write_end)
said = b""
while True:
    some = os.read(read_end, 65536)
    if not some:
        break
    said += some
print(run.wait(), said.decode().lstrip("x").strip())
]]

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
    assert.equal(0, running:wait().code)
  end)

  it("exits with 74 although a signal comes while it stops", function()
    place:write("interrupt.py", INTERRUPT)
    local result = place:shell("python3 interrupt.py " .. program.quote(place.program))
    assert.equal(0, result.code, result.err)
    assert.matches("^74 society: ended without storing everything", result.out)
  end)
end)
