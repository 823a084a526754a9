-- A state directory that is removed or replaced under a running society: nothing is
-- acknowledged afterwards, and the program says what happened.

local program = require("program")

local DISK = 74

local APP = [[
  local society = require("society")
  society.root(function() return { text = "taken" } end)
]]

-- Sends to the society whose directory is open as 3: the name of the socket may be gone.
local TALK = [[
import json, socket
talk = socket.socket(socket.AF_UNIX)
try:
    talk.connect("/proc/self/fd/3/socket")
    for n in range(50):
        line = json.dumps({"id": n, "op": "send", "to": "root", "payload": "x"}) + "\\n"
        talk.sendall(line.encode())
    while True:
        some = talk.recv(65536)
        if not some:
            break
        print(some.decode(), end="")
except OSError:
    pass
]]

describe("a state that is gone", function()
  local place

  before_each(function()
    place = program.place()
    place:write("app.lua", APP)
    place:write("talk.py", TALK)
  end)

  after_each(function()
    place:remove()
  end)

  local function ids_of(result)
    local _, count = result.out:gsub("msg_%d+_%d+_%x+", "")
    return count
  end

  -- Ways to take the state away, and the words of the error.
  local CASES = {
    { how = "rm -rf .society", says = ".society was removed or moved" },
    { how = "mv .society elsewhere", says = ".society was removed or moved" },
    { how = "rm .society/society.db", says = "society.db was removed or moved" },
    { how = "rm .society/society.db-wal", says = "society.db-wal was removed or moved" },
    { how = "rm .society/society.db-mark", says = "society.db-mark was removed or moved" },
    { how = "cp .society/society.db new && mv new .society/society.db",
      says = "society.db was replaced" },
    { how = "cp -r .society new && rm -rf .society && mv new .society",
      says = ".society was replaced" },
  }

  for _, case in ipairs(CASES) do
    it("acknowledges nothing more after " .. case.how, function()
      local running = place:start_ready("run app.lua --quiet")
      assert.equal(1, ids_of(place:run("send --to root first")))
      local talk = place:shell(("exec 3<.society; %s; python3 talk.py"):format(case.how))
      local ended = running:wait()
      assert.equal(DISK, ended.code)
      assert.matches(case.says .. " while the society was running", ended.err, 1, true)
      assert.equal(0, ids_of(talk), talk.out)
    end)
  end

  it("is noticed by an idle society", function()
    local running = place:start_ready("run app.lua")
    place:shell("rm -rf .society")
    local ended = running:wait()
    assert.equal(DISK, ended.code)
    assert.matches(".society was removed or moved while the society", ended.err, 1, true)
  end)

  it("leaves the files alone that have the names now", function()
    local running = place:start_ready("run app.lua --quiet")
    place:run("send --to root first")
    place:shell("mv .society old && mkdir -m 700 .society && touch .society/society.db-wal " ..
      ".society/socket .society/lock")
    assert.equal(DISK, running:wait().code)
    assert.equal("lock\nsociety.db-wal\nsocket\n", place:shell("LC_ALL=C ls .society").out)
  end)

  it("continues after its own files are put back", function()
    local running = place:start_ready("run app.lua --quiet")
    place:run("send --to root first")
    place:shell("mv .society old")
    assert.equal(DISK, running:wait().code)
    place:shell("mv old .society")
    local again = place:start_ready("run app.lua --quiet")
    assert.equal(1, ids_of(place:run("send --to root second")))
    local count = 0
    for _, row in ipairs(program.rows(place:run("inspect messages --json"))) do
      count = count + (row.from == "user" and 1 or 0)
    end
    assert.equal(2, count)
    again:kill("TERM")
    again:wait()
  end)
end)
