-- State directories that earlier versions of the program have left behind: each is opened,
-- upgraded and run to its end. golden/tablesN.tar.* is a society with the version N of the
-- tables: up to 10 of golden/app.lua, stopped where it waits for the person; since 11 of
-- golden/busy.lua, killed with a journal that was not folded.
--
-- Whoever changes the tables first has `tests/e2e/golden/make` leave the state of the version
-- before, unless it is there, and then that of the new one.

local program = require("program")
local tree = require("tree")

local FIRST = 8 -- of the versions that were released
local SKIPPED = { [9] = true } -- never released
local FIRST_BUSY = 11
local DAY_MS = 86400000

local function current()
  return tonumber(tree.read("core/store/tables/schema.h"):match("SOC_SCHEMA_VERSION (%d+)"))
end

local function archives()
  local list = {}
  local pipe = assert(io.popen(("ls %q"):format(tree.path("tests/e2e/golden"))))
  for name in pipe:lines() do
    local version = tonumber(name:match("^tables(%d+)%.tar%.%az$"))
    if version then
      list[#list + 1] = { version = version, path = tree.path("tests/e2e/golden/" .. name) }
    end
  end
  pipe:close()
  table.sort(list, function(a, b) return a.version < b.version end)
  return list
end

describe("the state directory of a society with tables of version", function()
  local place

  before_each(function()
    place = program.place()
  end)

  after_each(function()
    place:remove()
  end)

  local function rows(subject)
    return program.rows(place:run("inspect " .. subject .. " --json"))
  end

  local function unpack_state(archive, app)
    place:write("app.lua", tree.read("tests/e2e/golden/" .. app))
    assert.equal(0, place:shell("mkdir -m 700 .society && tar -C .society -xf "
      .. program.quote(archive.path)).code)
  end

  it(FIRST .. " and each since is there", function()
    local expected, found = {}, {}
    for version = FIRST, current() do
      expected[#expected + 1] = not SKIPPED[version] and version or nil
    end
    for index, archive in ipairs(archives()) do
      found[index] = archive.version
    end
    assert.same(expected, found)
  end)

  local function check_quiet(archive)
    unpack_state(archive, "app.lua")
    local running = place:start_ready("run app.lua --quiet")
    local letter = rows("dead-letters")[1]
    assert.same({ "clerk", "too much" }, { letter.to, letter.payload.text })
    assert.equal("clerk", rows("agents")[3].id)
    for index, row in ipairs(rows("activity")) do
      assert.equal(index, row.line)
    end
    local item = rows("inbox")[1]
    assert.same({ "Which colour?", "clerk" }, { item.title, item.agent })
    assert.equal(0, place:run("decide " .. item.id .. " --choice blue").code)
    local ended = running:wait()
    assert.equal(0, ended.code, ended.err)
    assert.matches("it is blue", ended.out, 1, true)
    assert.no.matches("the clerk asks", ended.out, 1, true)
    for _, task in ipairs(rows("tasks")) do
      assert.equal("completed", task.state)
    end
    assert.equal(0, place:run("verify").code)
  end

  -- Sets the date to the moment of the kill, so that nothing is overdue.
  local function go_back()
    local activity = rows("activity")
    local time = place:shell("date -d " .. activity[#activity].time .. " +%s").out
    place:clock()
    place:advance((tonumber(time) + 1 - os.time()) * 1000)
  end

  local function start()
    place:shell("rm -f .society/socket")
    local running = place:start("run app.lua", place:clock())
    program.wait_for("the socket", function()
      return place:shell("test -S .society/socket").code == 0
    end)
    return running
  end

  local function waits()
    local kinds = {}
    for _, row in ipairs(rows("waits")) do
      kinds[row.agent] = row.kind
    end
    return kinds
  end

  local function delayed()
    for _, row in ipairs(rows("messages --agent root")) do
      if row.deliver_at then
        return row
      end
    end
  end

  -- Everything that was under way when it was killed.
  local function check_whole()
    assert.same({ user = "receive", root = "receive", clerk = "human", sleeper = "sleep",
      patient = "reply", guest = "reply", pollster = "checkpoint" }, waits())
    assert.equal("3000-01-01T00:00:00.000Z", rows("tasks --task T1")[1].deadline)
    assert.equal("another thought", rows("conversation --agent thinker")[1].entries[4].content)
    local tokens = 0
    for _, row in ipairs(rows("usage")) do
      assert.equal("thinker", row.agent)
      tokens = tokens + row.input_tokens
    end
    assert.equal(7 + 11, tokens)
    assert.equal("open", rows("policies")[1].name)
    assert.equal("the delayed message", delayed().payload.text)
    assert.equal("pending", rows("messages --type broadcast")[1].status)
    assert.same({ "clerk", "too much" },
      { rows("dead-letters")[1].to, rows("dead-letters")[1].payload.text })
    for index, row in ipairs(rows("activity")) do
      assert.equal(index, row.line)
    end
  end

  -- The order was done before the kill: again under its key it does nothing.
  local function check_key()
    local again = place:run([[call send --key once '{"to":"sleeper","payload":"under a key"}']])
    assert.equal(0, again.code, again.err)
    local found = {}
    for _, row in ipairs(rows("messages --agent sleeper")) do
      found[#found + 1] = row.payload.text == "under a key" and row.id or nil
    end
    assert.same({ program.rows(again)[1].messageId }, found)
  end

  local function check_busy(archive)
    unpack_state(archive, "busy.lua")
    local journal = "sqlite3 copy/society.db 'SELECT count(*) > 1 FROM journal'"
    assert.equal("1\n", place:shell("cp -r .society copy && " .. journal).out)
    go_back()
    local running = start()
    check_whole()
    check_key()
    local item = rows("inbox")[1]
    assert.same({ "Which colour?", "clerk" }, { item.title, item.agent })
    assert.equal(0, place:run("decide " .. item.id .. " --choice blue").code)
    running:expect("it is blue")
    running:expect("the guest knows clerk")
    assert.same({ sleeper = "sleep", patient = "reply", pollster = "checkpoint" }, waits())
    running:kill("KILL")
    local began = running:wait().out
    place:advance(2 * DAY_MS)
    local ended = place:start("run app.lua", place:clock()):wait()
    assert.equal(0, ended.code, ended.err)
    for _, line in ipairs({ "the sleeper wakes", "the patient's request ends: timeout",
      "root hears the delayed message from root", "sleeper hears a poll from pollster",
      "sleeper hears under a key from user",
      "the poll: Which colour?, nothing, 0 missing" }) do
      local _, count = (began .. ended.out):gsub(line:gsub("%p", "%%%0"), "")
      assert.equal(1, count, line)
    end
    assert.no.matches("the clerk asks", began .. ended.out, 1, true)
    for _, task in ipairs(rows("tasks")) do
      assert.equal("completed", task.state)
    end
    assert.equal(0, place:run("verify").code)
    local replayed = place:run("replay")
    assert.equal(0, replayed.code, replayed.err)
  end

  for _, archive in ipairs(archives()) do
    it(archive.version .. " is upgraded and goes on where it waited", function()
      local check = archive.version < FIRST_BUSY and check_quiet or check_busy
      check(archive)
    end)
  end
end)
