-- society import: what `export jsonl` has written becomes the same society again, and nothing
-- else does.
--
-- Covers: core/store/sqlite/transfer.c, core/main/program_backup.c, core/main/program_system.c

local json = require("society.json")
local program = require("program")

-- Root hires somebody who asks the person, and keeps a state with every kind of text.
local APP = [[
  local society = require("society")
  local BRIEF = { objective = "ask", constraints = { "be brief" }, inputs = "a question",
    outputs = "an answer", completion_criteria = "it was answered" }
  society.role { id = "asker", name = "询问者", behaviour = {
    task = function(agent, message)
      agent.state.seen = message.payload.task_id
      local answer = agent:escalate { title = "may I \u{202e}?", options = { "yes", "no" } }
      agent:complete(message, answer.choice)
    end,
  } }
  society.root { general = function(root)
    root:spawn_agent("asker", BRIEF, { id = "a1" })
    root:send_message { to = "a1", type = "task", payload = { task_id = "T1" } }
    root:send_message { to = "a1", type = "task", payload = { task_id = "T2" } }
    root:send_message { to = "root", payload = { text = "later" }, delay_ms = 86400000 }
    root.state.text = 'quotes " and \\ and \0 and \n and 中文 and 🦉'
    root.state.number = 0.1
  end, result = function(_, message)
    print(message.payload.task_id .. " " .. message.payload.output)
  end }
  society.main(function(user) user:send_message { to = "root", payload = "go" } end)
]]

describe("society import", function()
  local place

  before_each(function()
    place = program.place()
    place:write("app.lua", APP)
  end)

  after_each(function()
    place:remove()
  end)

  local function start(arguments)
    local running = place:start_ready("run app.lua --quiet " .. (arguments or ""))
    program.wait_for("the question", function()
      return #program.rows(place:run("inspect inbox --json")) > 0
    end)
    return running
  end

  local function stop(running, signal)
    running:kill(signal)
    running:wait()
  end

  local function export(state)
    local result = place:run("export jsonl --state " .. state)
    assert.same({ 0, "" }, { result.code, result.err })
    return result.out
  end

  -- A file of a society that waits for the person, and its text.
  local function make_file()
    stop(start(), "KILL")
    local text = export(".society")
    place:write("a.jsonl", text)
    return text
  end

  local function refuse(text, sentence)
    place:write("bad.jsonl", text)
    local result = place:run("import bad.jsonl --state new")
    assert.same({ 1, "" }, { result.code, result.out })
    assert.matches(sentence, result.err, 1, true)
    assert.equal(1, place:run("inspect agents --state new").code)
  end

  it("makes the same society of what a killed one has exported, and it goes on", function()
    local text = make_file()
    local result = place:run("import a.jsonl --state new --json")
    assert.same({ 0, "" }, { result.code, result.err })
    assert.equal("new", json.decode(result.out).path)
    assert.equal(text, export("new"))
    assert.matches('\\"number\\":0.1', text, 1, true)
    assert.equal(0, place:run("verify --state new").code)

    place:shell("mv .society old && mv new .society")
    local running = place:start_ready("run app.lua --quiet")
    for _, task in ipairs({ "T1", "T2" }) do
      local item = program.wait_for("the question of " .. task, function()
        return program.rows(place:run("inspect inbox --json"))[1]
      end)
      assert.equal(0, place:run("decide " .. item.id .. " approve --choice yes").code)
      program.wait_for(task .. " to be done", function()
        return running:out():find(task .. " yes\n", 1, true)
      end)
    end
    stop(running, "TERM")
  end)

  it("takes one moment of a society that runs", function()
    local running = start()
    for round = 1, 3 do
      local send = place:start("send --to root more")
      place:write("a.jsonl", export(".society"))
      local result = place:run("import a.jsonl --state new" .. round)
      assert.same({ 0, "" }, { result.code, result.err })
      send:wait()
    end
    stop(running, "INT")
  end)

  it("leaves no copy behind, even if nobody reads the export to its end", function()
    local running = start()
    place:shell("mkdir tmp")
    for _ = 1, 300 do -- more than a pipe holds
      assert.equal(0, place:run("send --to root " .. program.quote(("x"):rep(1000))).code)
    end
    local read = place:shell("TMPDIR=$PWD/tmp society export jsonl | head -n 1")
    assert.matches("^{\"table\":\"roles\"", read.out)
    assert.equal("", read.err)
    assert.equal("", place:shell("ls tmp").out)
    local full = place:shell("TMPDIR=$PWD/tmp society export jsonl > /dev/full")
    assert.same({ 1, "society: stdout: No space left on device\n" }, { full.code, full.err })
    assert.equal("", place:shell("ls tmp").out)
    stop(running, "INT")
  end)

  it("leaves a directory alone that has a society", function()
    local text = make_file()
    local result = place:run("import a.jsonl")
    assert.equal(1, result.code)
    assert.matches("has a society already", result.err, 1, true)
    assert.equal(text, export(".society"))
  end)

  it("refuses what was changed or cut, and names the line", function()
    local text = make_file()
    local _, tables = text:gsub('{"table":[^\n]*\n', "")
    refuse(text:gsub('"text":"go"', '"text":"no"', 1), "the line is not what these rows make of it")
    refuse(text:gsub('^[^\n]*\n', ""), "bad.jsonl:1: the line is not what")
    refuse(text:gsub('{"stored":"agents"[^\n]*\n', "", 1), "the line is not what")
    refuse(text:gsub('{"stored":.*', ""), "it has no stored rows")
    refuse(text:sub(1, -20), "the line is not a stored row")
    refuse("no JSON\n" .. text, "bad.jsonl:1: the line is not a stored row")
    local first = ("bad.jsonl:%d: "):format(tables + 1)
    refuse(text:gsub('"version":%d+', '"version":1'), first .. "the rows are those of version 1")
    refuse(text:gsub('{"stored":"schema"[^\n]*\n', ""), "does not come first")
    refuse(text:gsub('"stored":"meta"', '"stored":"meta; DROP TABLE agents"'), "there is no table")
    refuse(text:gsub('"stored":"meta"', '"stored":"journal"'), "there is no table 'journal'")
    refuse(text:gsub('"number":1,', '"number":2,"nothing":1,', 1), "'nothing' is no column")
    refuse(text:gsub('({"stored":"agents"[^\n]*\n)', "%1%1", 1), "there twice")
    refuse("", "it has no stored rows")
  end)

  it("reports a file that is not there", function()
    local result = place:run("import nothing.jsonl")
    assert.same({ 1, "" }, { result.code, result.out })
    assert.matches("nothing.jsonl: No such file or directory", result.err, 1, true)
  end)
end)
