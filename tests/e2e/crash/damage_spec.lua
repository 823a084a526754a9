-- The built program on a damaged state directory: it reports the damage and exits with 74,
-- or does what it would have done. FLIPS is the number of flipped bytes (60), SEED chooses
-- them.

local program = require("program")

local FLIPS = tonumber(os.getenv("FLIPS")) or 60
local SEED = tonumber(os.getenv("SEED")) or 1
local DISK = 74

-- Messages that wait for a day, and what has arrived so far.
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

-- Half of the work comes before a wait of a day, half after; the history is read only then.
local HALVES = [[
local society = require("society")
society.policy("messages", "any")
society.root({
  work = function(root, message)
    root.state.last = message.payload.text:sub(1, 8)
    return { n = #message.payload.text }
  end,
})
local function work(user, first, last)
  for i = first, last do
    local text = ("word %d "):format(i):rep(400)
    assert(user:request({ to = "root", type = "work", payload = text }))
  end
end
society.main(function(user)
  work(user, 1, 20)
  print("half")
  user:sleep(86400000)
  work(user, 21, 25)
  print("seen " .. #society.messages({ agent = "root", type = "work" }))
end)
]]

describe("a damaged state directory", function()
  local place

  -- A society that was killed, or stopped, with messages that are not due yet.
  local function leave(signal)
    local running = place:start("run app.lua --state s --quiet")
    running:expect("sent")
    place:wait_until_folded("s")
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

  -- What commands say about a copy of the directory, after `harm` was done to it.
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

  -- What the run had sent, without what differs from run to run.
  local function words()
    local result = place:run("inspect messages --state copy --json")
    if result.code ~= 0 then
      assert.equal(DISK, result.code, result.err)
      return nil
    end
    local list = {}
    for word in result.out:gmatch('"payload":{"text":"(word %d+) ') do
      list[#list + 1] = word
    end
    return table.concat(list, ",")
  end

  for _, signal in ipairs({ "INT", "KILL" }) do
    it("ends the run that finds it, however late, after " .. signal, function()
      place:write("app.lua", HALVES)
      local running = place:start("run app.lua --state s --quiet")
      running:expect("half")
      place:wait_until_folded("s")
      running:kill(signal)
      running:wait()
      place:shell("rm -rf copy; cp -r s copy")
      local right = place:run_next_day("run app.lua --state copy --quiet")
      assert.equal(0, right.code, right.err)
      assert.equal("seen 25\n", right.out)
      local right_words = assert(words())
      assert.matches("word 25$", right_words)
      local pages = #place:read("s/society.db") // 4096
      local step = math.max(1, pages * 2 // FLIPS)
      local reported = 0
      for page = math.random(0, step - 1), pages - 1, step do
        place:shell("rm -rf copy; cp -r s copy")
        flip("society.db", page * 4096 + math.random(0, 4095))
        local result = place:run_next_day("run app.lua --state copy --quiet")
        local what = ("page %d: %d %s%s"):format(page + 1, result.code, result.out, result.err)
        if result.code == 0 then
          assert.equal("", result.err, what)
          assert.equal(right.out, result.out, what)
          local now = words()
          assert.is_true(now == nil or now == right_words, what)
        else
          assert.equal(DISK, result.code, what)
          assert.matches("damaged", result.err, 1, true)
          assert.matches("restore a backup", result.err, 1, true)
          reported = reported + 1
        end
      end
      print(("# %d pages, every %d. flipped, %d reported"):format(pages, step, reported))
      assert.is_true(signal == "KILL" or reported > 0)
    end)
  end

  it("may lack its database", function()
    leave("KILL")
    for _, harm in ipairs({ "rm copy/society.db", "rm copy/society.db copy/society.db-shm",
      "rm copy/society.db copy/society.db-wal", "rm copy/society.db copy/society.db-mark" }) do
      local looked, sent = look(function()
        place:shell(harm)
      end)
      local ran = place:run("run app.lua --state copy --quiet")
      for _, result in ipairs({ looked, sent, ran, place:run("inspect stats --state copy") }) do
        assert.equal(DISK, result.code, harm .. ": " .. result.err)
        assert.matches("copy/society%.db is missing, but society%.db%-[wm]", result.err)
        assert.matches("put it back, or start over", result.err, 1, true)
      end
      assert.is_nil(place:read("copy/society.db"), harm)
      -- what is left is moved aside, and kept
      local running = place:start("run app.lua --state copy --quiet --fresh")
      running:expect("sent")
      running:kill("INT")
      running:wait()
      assert.is_true(place:read("copy/previous/society.db-wal") ~= nil
        or place:read("copy/previous/society.db-mark") ~= nil)
    end
  end)

  it("is moved aside next to an older one without mixing the two", function()
    leave("KILL")
    place:shell("rm -rf copy; cp -r s copy; mkdir copy/previous;"
      .. "cp s/society.db s/society.db-wal s/society.db-mark copy/previous;"
      .. "echo mine > copy/society.db-mark; rm copy/society.db")
    local running = place:start("run app.lua --state copy --quiet --fresh")
    running:expect("sent")
    running:kill("INT")
    running:wait()
    assert.equal("mine\n", place:read("copy/remains/society.db-mark"))
    for _, name in ipairs({ "society.db", "society.db-wal", "society.db-mark" }) do
      assert.is_true(place:read("s/" .. name) == place:read("copy/previous/" .. name), name)
    end
  end)

  it("may have a mark that is empty or truncated", function()
    for _, signal in ipairs({ "KILL", "INT" }) do
      place:shell("rm -rf s")
      leave(signal)
      for _, bytes in ipairs({ 0, 20 }) do
        local looked, sent = look(function()
          place:shell(("truncate -s %d copy/society.db-mark"):format(bytes))
        end)
        for _, result in ipairs({ looked, sent }) do
          assert.equal(DISK, result.code, result.err)
          assert.matches("society%.db%-mark is damaged", result.err)
        end
        assert.equal(bytes, #place:read("copy/society.db-mark"))
      end
      -- removing it says to continue with what is there
      local _, sent = look(function()
        place:shell("rm copy/society.db-mark")
      end)
      assert.equal(0, sent.code, sent.err)
      assert.equal(48, #place:read("copy/society.db-mark"))
    end
  end)

  it("is reported in our own words if the database was truncated", function()
    leave("INT")
    for _, bytes in ipairs({ 100000, 40000, 4096, 50, 0 }) do
      local looked, sent = look(function()
        place:shell(("truncate -s %d copy/society.db"):format(bytes))
      end)
      for _, result in ipairs({ looked, sent }) do
        assert.equal(DISK, result.code, result.err)
        assert.matches("society%.db was cut off", result.err)
        assert.matches("restore a backup (`society restore`)", result.err, 1, true)
      end
    end
  end)

  it("is named in the error", function()
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
  it("is not assumed after another program has only read the database", function()
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
    -- and once taken over it is protected as before
    flip("society.db", 4096 * 3 + 100)
    local again = place:run("send --state copy --to root --type show hello")
    assert.is_true(again.code == 0 or again.code == DISK)
  end)
end)
