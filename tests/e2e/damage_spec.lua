-- The built program on a state directory with damage: it says so and ends with 74, or
-- does what it would have done. FLIPS says how many bytes are flipped (60), SEED which.

local program = require("program")

local FLIPS = tonumber(os.getenv("FLIPS")) or 60
local SEED = tonumber(os.getenv("SEED")) or 1
local DISK = 74

-- Mail that waits for a day, and a line of what arrived so far.
local APP = [[
local society = require("society")
society.policy("messages", "any")
society.root({
  later = function(root, message)
    root.state.late = (root.state.late or "") .. message.payload.text
  end,
  show = function(root, message) return { text = message.payload.text } end,
})
society.main(function(user)
  for i = 1, 20 do
    assert(user:send_message({ to = "root", type = "later",
      payload = ("word %d "):format(i):rep(20), deliver_at = user:now() + 86400000 }))
  end
  print("sent")
  user:receive({ from = "root" })
end)
]]

describe("a damaged state directory", function()
  local place

  -- A society that was killed, or stopped in order, with mail that is not due yet.
  local function leave(signal)
    local running = place:start("run app.lua --state s --quiet")
    running:expect("sent")
    os.execute("sleep 0.5") -- the journal is folded meanwhile
    running:kill(signal)
    running:wait()
  end

  before_each(function()
    place = program.place()
    place:write("app.lua", APP)
    math.randomseed(SEED)
  end)

  after_each(function()
    place:remove()
  end)

  -- What a copy of the directory tells, after `harm` was done to it.
  local function look(harm)
    place:shell("rm -rf copy; cp -r s copy")
    if harm then
      harm()
    end
    return place:run("inspect messages --state copy --json"),
      place:run("send --state copy --to root --type show hello")
  end

  local function flip(name, at)
    local path = place.path .. "/copy/" .. name
    local file = assert(io.open(path, "r+b"))
    file:seek("set", at)
    local byte = file:read(1):byte()
    file:seek("set", at)
    file:write(string.char(byte ~ (1 << math.random(0, 7))))
    file:close()
  end

  local function check(right, result, sent, what)
    if result.code == 0 then
      assert.equal(right.out, result.out, what)
    else
      assert.equal(DISK, result.code, what .. ": " .. result.err)
      assert.is_true(#result.err > 20, what)
    end
    assert.is_true(sent.code == 0 or sent.code == DISK, what .. ": " .. sent.err)
    return sent.code == DISK
  end

  for signal, names in pairs({
    KILL = { "society.db", "society.db-wal", "society.db-mark" },
    INT = { "society.db", "society.db-mark" },
  }) do
    it("is reported, or without effect, after " .. signal, function()
      leave(signal)
      local right, first = look()
      assert.equal(0, right.code, right.err)
      assert.equal(0, first.code, first.err)
      local reported = 0
      for i = 1, FLIPS // 2 do
        local name = names[i % #names + 1]
        local at = math.random(0, #place:read("s/" .. name) - 1)
        local result, sent = look(function()
          flip(name, at)
        end)
        reported = reported
          + (check(right, result, sent, ("%s at %d"):format(name, at)) and 1 or 0)
      end
      print(("# %d bytes flipped, %d reported"):format(FLIPS // 2, reported))
      assert.is_true(reported > 0)
    end)
  end

  it("is named in what is said", function()
    leave("KILL")
    local _, sent = look(function()
      place:shell("truncate -s 20000 copy/society.db-wal")
    end)
    assert.equal(DISK, sent.code)
    assert.matches("batch %d+ was durable", sent.err)
    _, sent = look(function()
      place:shell("rm copy/society.db-wal copy/society.db-shm")
    end)
    assert.equal(DISK, sent.code)
    assert.matches("batch %d+ was durable", sent.err)
    _, sent = look(function()
      place:shell("truncate -s 100000 copy/society.db; rm copy/society.db-wal copy/society.db-mark")
    end)
    assert.equal(DISK, sent.code)
  end)

  -- SQLite copies a log back, without our checksums, when its last connection closes.
  it("is not what another program leaves that has only read the database", function()
    leave("KILL")
    local right = look()
    local result, sent = look(function()
      place:write("read.py", "import sqlite3; c = sqlite3.connect('copy/society.db');"
        .. "print(c.execute('select count(*) from messages').fetchall()); c.close()")
      assert.equal("[(20,)]\n", place:shell("python3 read.py; test ! -e copy/society.db-wal").out)
    end)
    assert.equal(right.out, result.out)
    assert.equal(0, sent.code, sent.err)
    assert.equal(0, place:run("inspect messages --state copy").code)
    -- and taken over it is guarded as before
    flip("society.db", 4096 * 3 + 100)
    local again = place:run("send --state copy --to root --type show hello")
    assert.is_true(again.code == 0 or again.code == DISK)
  end)
end)
