-- society backup, restore and verify: a copy taken while a society works is a whole society,
-- and damage and copies by other programs are refused.
--
-- Covers: core/store/sqlite/backup.c, core/main/program_backup.c, core/store/tables/copy.c

local json = require("society.json")
local program = require("program")

-- Two agents pass a number on, one higher each time, until it has reached the end.
local APP = [[
  local society = require("society")
  society.config { no_progress_max = 1000000000, hops_max = 1000000000 }
  local function pass(agent, message)
    local number = message.payload.number
    agent.state.number = number
    if number >= message.payload.last then return end
    agent:send_message {
      to = agent.id == "root" and "other" or "root",
      payload = { number = number + 1, last = message.payload.last, fill = ("x"):rep(300) },
    }
  end
  society.role {
    id = "passer", name = "passer", prompt = "Passes.", behaviour = { general = pass },
  }
  society.root { general = pass }
  society.main(function(user)
    user:spawn_agent("passer", { objective = "pass", constraints = {}, inputs = "a number",
      outputs = "a number", completion_criteria = "none" }, { id = "other" })
    user:send_message { to = "other", payload = { number = 1, last = tonumber(arg[1]) } }
  end)
]]

describe("a backup", function()
  local place

  before_each(function()
    place = program.place()
    place:write("app.lua", APP)
  end)

  after_each(function()
    place:remove()
  end)

  -- The numbers of a state, which must be 1, 2, … without a gap; returns the last one.
  local function last_number(state)
    local last = 0
    local result = place:run("inspect messages --type general --json --state " .. state)
    assert.equal(0, result.code, result.err)
    for line in result.out:gmatch("[^\n]+") do
      local number = json.decode(line).payload.number
      assert.equal(last + 1, number)
      last = number
    end
    return last
  end

  local function last_line()
    return json.decode(place:run("verify --json").out).line
  end

  it("taken while the society works is a whole society, which goes on", function()
    local running = place:start_ready("run app.lua --quiet --fresh -- 1000000000")
    program.wait_for("traffic", function() return last_line() > 500 end)
    local before = last_line()
    local made = place:run("backup a.backup --json")
    assert.equal(0, made.code, made.err)
    local report = json.decode(made.out)
    assert.is_true(report.line >= before)
    program.wait_for("more traffic", function() return last_line() > report.line end)
    assert.equal(0, place:run("verify a.backup").code)
    running:kill("KILL")
    running:wait()

    local restored = place:run("restore a.backup --state restored --json")
    assert.equal(0, restored.code, restored.err)
    assert.equal(report.line, json.decode(restored.out).line)
    local last = last_number("restored")
    assert.is_true(last > 0)
    local again = place:start_ready("run app.lua --quiet --state restored -- 1000000000",
      "restored")
    program.wait_for("the restored society to go on", function()
      return json.decode(place:run("verify --json --state restored").out).line > report.line + 100
    end)
    again:kill("TERM")
    assert.equal(0, again:wait().code)
    assert.is_true(last_number("restored") > last)
  end)

  it("of a society that was killed has what was durable", function()
    local running = place:start_ready("run app.lua --quiet --fresh -- 1000000000")
    program.wait_for("traffic", function() return last_line() > 200 end)
    running:kill("KILL")
    running:wait()
    local line = last_line()
    assert.equal(line, json.decode(place:run("backup a.backup --json").out).line)
    assert.equal(0, place:run("restore a.backup --state restored").code)
    assert.equal(last_number(".society"), last_number("restored"))
  end)

  describe("of a society that has ended", function()
    before_each(function()
      assert.equal(0, place:run("run app.lua --quiet -- 50").code)
      assert.equal(0, place:run("backup a.backup").code)
    end)

    it("says what it contains and is readable by its owner only", function()
      assert.matches("^a.backup is intact: %d+ KB, %d+ lines of activity, %d+ records to load\n$",
        place:run("verify a.backup").out)
      assert.equal("600\n", place:shell("stat -c %a a.backup").out)
      place:shell("echo cut > b.backup.part; chmod 644 b.backup.part")
      assert.equal(0, place:run("backup b.backup").code)
      assert.equal("600\n", place:shell("stat -c %a b.backup").out)
      assert.equal("50\n", place:shell("sqlite3 a.backup 'SELECT count(*) FROM messages'").out)
      assert.equal("a.backup\n", place:shell("ls a.backup*").out)
    end)

    it("replaces a file only if told so", function()
      local result = place:run("backup a.backup")
      assert.equal(1, result.code)
      assert.matches("a.backup exists; --replace overwrites it", result.err, 1, true)
      assert.equal(0, place:run("backup a.backup --replace").code)
    end)

    it("is restored only where there is no society", function()
      local result = place:run("restore a.backup")
      assert.equal(1, result.code)
      assert.matches(".society has a society already", result.err, 1, true)
      place:shell("mkdir -m 700 rest && echo x > rest/society.db-mark")
      assert.equal(1, place:run("restore a.backup --state rest").code)
      assert.equal("lock\nsociety.db-mark\n", place:shell("ls rest").out)
    end)

    it("is refused with a flipped byte, wherever it is", function()
      local size = tonumber(place:shell("stat -c %s a.backup").out)
      for at = 30, size - 1, 8192 do
        place:shell(("cp a.backup b.backup && printf '\\377\\1' | dd of=b.backup bs=1 seek=%d "
          .. "conv=notrunc"):format(at))
        local result = place:run("verify b.backup")
        assert.equal(74, result.code, ("byte %d: %s"):format(at, result.out))
        assert.matches("b.backup", result.err, 1, true)
      end
      assert.equal(74, place:run("restore b.backup --state other").code)
      assert.equal("", place:shell("ls other 2> /dev/null").out)
    end)

    for _, way in ipairs({ "sqlite3 .society/society.db '.backup b.backup'",
      "sqlite3 .society/society.db \"VACUUM INTO 'b.backup'\"" }) do
      it("is refused if made by " .. way, function()
        place:shell(way)
        local result = place:run("restore b.backup --state other")
        assert.equal(74, result.code)
        assert.matches("make it with `society backup`", result.err, 1, true)
      end)
    end

    it("is refused if it is the database of a society without its log", function()
      for _, command in ipairs({ "verify b.backup", "restore b.backup --state other" }) do
        place:shell("cp .society/society.db b.backup")
        local result = place:run(command)
        assert.equal(74, result.code, result.out)
        assert.matches("b.backup: it is the database of a state directory, .* log beside it; "
          .. ".* make it with `society backup`", result.err)
      end
      assert.equal("", place:shell("ls other 2> /dev/null").out)
    end)

    it("fails clearly without a society, a file or a directory", function()
      local result = place:run("backup b.backup --state nowhere")
      assert.equal(1, result.code)
      assert.matches("there is no society in nowhere", result.err, 1, true)
      result = place:run("verify nothing.backup")
      assert.matches("nothing.backup: No such file", result.err, 1, true)
      result = place:run("backup no/b.backup")
      assert.equal(1, result.code)
      assert.matches("no/b.backup.part: No such file or directory", result.err, 1, true)
      place:write("text", "no database")
      assert.equal(74, place:run("verify text").code)
    end)
  end)

  it("reports damage of a state, and leaves it alone", function()
    assert.equal(0, place:run("run app.lua --quiet -- 50").code)
    assert.equal(0, place:run("verify").code)
    place:shell("printf '\\377\\1' | dd of=.society/society.db bs=1 seek=20000 conv=notrunc")
    local result = place:run("verify")
    assert.equal(74, result.code)
    assert.matches("page 3 of society.db is damaged: its checksum differs", result.err, 1, true)
    assert.matches("society restore", result.err, 1, true)
    assert.equal(74, place:run("backup a.backup").code)
    assert.equal("", place:shell("ls a.backup* 2> /dev/null").out)
  end)
end)
