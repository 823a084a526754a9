-- The built program on a failing disk: killed or failing at each of its I/O calls, and on a
-- file system that is really full.
-- Slow: a run for each I/O call.

local program = require("program")
local tree = require("tree")

local SIDE_BY_SIDE = 4
local STEPS = 6
local KILLED, DISK = 128 + 9, 74
-- How many cases are struck in any run: the calls of opening and closing alone. The others
-- depend on how many batches are written together, that is on speed.
local STRUCK_MIN = { kill = 100, eio = 10, enospc = 30 }

local function app_path()
  return tree.path("tests/e2e/apps/steady.lua")
end

-- How many calls of that kind an undisturbed run makes; it varies a little.
local function count_calls(place, kind)
  local result = place:shell(([[mkdir plain && cd plain && FAULT_DIR=$PWD/.society FAULT_KIND=%s \
    FAULT_AT=0 FAULT_OUT=calls LD_PRELOAD=%s society run %s --quiet]]):format(kind,
    program.quote(place:preload("disk_faults")), program.quote(app_path())))
  assert.equal(0, result.code, result.err)
  return assert(tonumber(place:read("plain/calls")))
end

local function run_cases(place, kind, count)
  local commands = {}
  for first = 1, SIDE_BY_SIDE do
    commands[first] = ("%s %s %s %s %s %d %d %d &"):format(
      program.quote(tree.path("tests/e2e/crash/fault_cases")),
      program.quote(place.program), program.quote(place:preload("disk_faults")),
      program.quote(app_path()), kind, first, count, SIDE_BY_SIDE)
  end
  place:shell(table.concat(commands, "\n") .. "\nwait")
end

-- Each line of that kind, with the random number that was drawn for it: shown once or more,
-- and always the same.
local function check_lines(out, word, case)
  local chances = {}
  for number, chance in out:gmatch(word .. " (%d+) (%d+)\n") do
    local seen = chances[tonumber(number)]
    assert.is_true(seen == nil or seen == chance, case .. ": shown before it was kept\n" .. out)
    chances[tonumber(number)] = chance
  end
  assert.equal(STEPS, #chances, case .. ": lines are missing\n" .. out)
  return chances
end

-- Reads how case N ended. Returns the exit code of the run with the fault.
local function check_case(place, kind, n)
  local case = ("%s at call %d"):format(kind, n)
  local out, err = place:read(n .. "/out"), place:read(n .. "/err")
  assert.equal(0, tonumber(place:read(n .. "/second")), case .. ": " .. err)
  assert.same(check_lines(out, "step", case), check_lines(out, "added", case))
  assert.matches("seen 1 2 3 4 5 6\n", out, 1, true)
  for line in out:gmatch("seen [^\n]*") do
    assert.equal("seen 1 2 3 4 5 6", line, case)
  end
  return tonumber(place:read(n .. "/first")), err
end

-- A failed sync ends the process, whoever called it and when, except those of the directory
-- that SQLite makes and ignores: the store makes the same ones itself.
local function check_sync(place, n, code)
  local path, caller = (place:read(n .. "/seen") or ""):match("^(%S+) (%S+)\n$")
  local is_swallowed = path and path:find("/%.society$") and caller:find("sqlite", 1, true)
  if path and not is_swallowed then
    assert.equal(DISK, code, ("sync %d, of %s, failed and was passed over"):format(n, path))
  end
end

-- Fails each sync of a command, each time in a fresh state. Returns which were struck, and
-- the exit code when none is.
local function strike_each(place, prepare, command)
  local count, code, struck = nil, nil, {}
  for n = 0, 40 do
    local result = place:shell(([[%s; rm -rf seen %d; FAULT_DIR=$PWD/.society FAULT_KIND=eio \
      FAULT_AT=%d FAULT_OUT=$PWD/calls FAULT_SEEN=$PWD/seen LD_PRELOAD=%s society %s]])
      :format(prepare, n, n, program.quote(place:preload("disk_faults")), command))
    count, code = count or tonumber(place:read("calls")), code or result.code
    place:shell(("mkdir %d; mv seen %d/seen"):format(n, n))
    check_sync(place, n, result.code)
    if result.code == DISK then
      assert.matches("society: %w[^\n]*\n$", result.err)
    end
    struck[#struck + 1] = place:read(n .. "/seen")
    if n > count then
      break
    end
  end
  return table.concat(struck), code
end

describe("a failing disk", function()
  local place

  before_each(function()
    place = program.place()
  end)

  after_each(function()
    place:remove()
  end)

  -- Runs all cases of a kind; returns how often each exit code came.
  local function campaign(kind)
    local count, codes, errors = count_calls(place, kind), {}, {}
    run_cases(place, kind, count)
    for n = 1, count do
      local code, err = check_case(place, kind, n)
      codes[code] = (codes[code] or 0) + 1
      errors[n] = code == DISK and err or nil
      check_sync(place, n, code)
    end
    print(("# %s at each of %d calls: 0 lost, 0 doubled"):format(kind, count))
    return count, codes, errors
  end

  it("may kill the process in any call, and the next one continues", function()
    local count, codes = campaign("kill")
    assert.equal(count, (codes[KILLED] or 0) + (codes[0] or 0))
    assert.is_true(codes[KILLED] >= STRUCK_MIN.kill)
  end)

  it("stops it with 74 when a sync fails, and the next start knows the outcome", function()
    local count, codes, errors = campaign("eio")
    assert.equal(count, (codes[DISK] or 0) + (codes[0] or 0))
    assert.is_true(codes[DISK] >= STRUCK_MIN.eio)
    for _, err in pairs(errors) do
      assert.is_true(#err > 0)
    end
  end)

  it("stops it with 74 when the sync of the database at close fails", function()
    place:write("hello.lua", [[
      local society = require("society")
      society.main(function() print("hello") end)
    ]])
    local all = strike_each(place, "rm -rf .society", "run hello.lua --quiet")
    for _, name in ipairs({ "society.db", "society.db-wal", "society.db-mark" }) do
      assert.matches(name .. " ", all, 1, true)
    end
    assert.matches("/.society " .. place.program, all, 1, true) -- the store's own
  end)

  it("stops a command on a stopped society with 74, whatever it answers", function()
    place:write("app.lua", [[
      local society = require("society")
      society.policy("supervision", function() return nil end)
      society.root(function(root, message)
        assert(message.payload.text == "ask", "on purpose")
        root:escalate { title = "may I?", wait = false }
      end)
      society.main(function(user)
        user:send_message { to = "root", payload = "ask" }
        user:send_message { to = "root", payload = "fail" }
      end)
    ]])
    assert.equal(0, place:shell("society run app.lua --quiet; mv .society base").code)
    local letter = place:run("inspect dead-letters --json --state base").out:match("msg_[%w_]+")
    local item = place:run("inspect inbox --json --state base").out:match("item_[%w_]+")
    for command, expected in pairs({ ["drop " .. letter] = 0, ["redeliver " .. letter] = 0,
      ["pause root"] = 0, ["decide " .. item .. " approve"] = 0, ["send --to root more"] = 0,
      ["pause nobody"] = 1 }) do
      local all, code = strike_each(place, "rm -rf .society; cp -r base .society", command)
      assert.equal(expected, code, command)
      assert.matches("society.db-wal ", all, 1, true)
    end
  end)

  it("is waited for when it is full, from any write on", function()
    local count, codes = campaign("enospc")
    -- At the very start nothing can wait yet.
    assert.equal(count, (codes[DISK] or 0) + (codes[0] or 0))
    assert.is_true(codes[0] >= STRUCK_MIN.enospc)
  end)
end)

local SERVER = [[
local society = require("society")
society.policy("messages", "any")
society.root(function(root, message)
  root.state.count = (root.state.count or 0) + 1
  return { number = root.state.count }
end)
]]

describe("a full file system", function()
  local place, is_mounted, running

  before_each(function()
    running = nil
    place = program.place()
    place:write("server.lua", SERVER)
    is_mounted = place:shell("mkdir small && mount -t tmpfs -o size=2m tmpfs small").code == 0
  end)

  after_each(function()
    if running then
      running:kill("KILL")
      running:wait()
    end
    if is_mounted then
      place:shell("umount small")
    end
    place:remove()
  end)

  it("blocks the society until there is room", function()
    if not is_mounted then
      pending("mounting a file system needs root")
      return
    end
    running = place:start("run server.lua --state small/s")
    local send = "send --state small/s --to root --wait "
    program.wait_for("a reply", function()
      return place:run(send .. "first").code == 0
    end)
    place:shell("head -c 4000000 /dev/zero > small/filler")
    local text = ("x"):rep(20000)
    local function is_full()
      return running:err():find("the disk is full", 1, true)
    end
    local last
    repeat -- the log has room of its own for a while
      last = place:start(send .. text)
      program.wait_for("an answer or a full disk", function()
        return is_full() or last:code()
      end)
    until is_full()
    assert.is_nil(last:code()) -- it waits for room
    local answer = place:run(send .. "second")
    assert.matches("storage_full", answer.out .. answer.err, 1, true)
    for _, command in ipairs({ "inspect agents", "inspect messages", "export org-json" }) do
      local look = place:shell(("timeout 300 %s %s --state small/s"):format(place.program, command))
      assert.equal(1, look.code, command)
      assert.matches("the disk is full", look.err, 1, true)
    end
    place:shell("rm small/filler")
    running:expect("disk space is available again")
    assert.equal(0, last:wait().code)
    local third = place:run(send .. "third")
    assert.equal(0, third.code, third.err)
    running:kill("INT")
    assert.equal(130, running:wait().code)
    running = nil
    local rows = place:run("inspect messages --state small/s --json")
    assert.is_nil(rows.out:find('"status":"pending"', 1, true))
  end)

  it("is reported by commands on a stopped society", function()
    if not is_mounted then
      pending("mounting a file system needs root")
      return
    end
    running = place:start("run server.lua --state small/s")
    program.wait_for("a reply", function()
      return place:run("send --state small/s --to root --wait first").code == 0
    end)
    running:kill("INT")
    running:wait()
    running = nil
    place:shell("head -c 4000000 /dev/zero > small/filler")
    for _, command in ipairs({ "send --state small/s --to root second",
      "run server.lua --state small/s --quiet", "run server.lua --state small/new --quiet" }) do
      local result = place:shell("timeout -s KILL 300 " .. place.program .. " " .. command)
      assert.equal(74, result.code, command .. ": " .. result.err)
      assert.matches("the disk is full (storage_full)", result.err, 1, true)
      assert.is_nil(result.err:find("database or disk", 1, true))
    end
    place:shell("rm small/filler")
    local sent = place:run("send --state small/s --to root second")
    assert.equal(0, sent.code, sent.err)
  end)
end)
