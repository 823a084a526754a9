-- society watch: every line of the activity log once, across restarts of the society.

local json = require("society.json")
local program = require("program")

local APP = [[
local society = require("society")
society.root(function(root, message)
  return { text = "hello" }
end)
]]

describe("society watch", function()
  local place, running, watching

  before_each(function()
    place = program.place()
    place:write("app.lua", APP)
    running = place:start_ready("run app.lua --log none")
  end)

  after_each(function()
    for _, process in ipairs({ running, watching }) do
      process:kill("KILL")
      process:wait()
    end
    place:remove()
  end)

  local function lines_of(text)
    local list = {}
    for line in text:gmatch("[^\n]+") do
      list[#list + 1] = json.decode(line).line
    end
    return list
  end

  local function send(text)
    assert.equal(0, place:run("send --to root " .. text).code)
  end

  it("shows every line once, also across kill -9", function()
    watching = place:start("watch --after 0 --json")
    for round = 1, 3 do
      send("round" .. round)
      running:kill("KILL")
      running:wait()
      running = place:start_ready("run app.lua --log none")
    end
    send("last")
    local log
    program.wait_for("the whole log", function()
      log = lines_of(place:run("call activity").out)
      return #lines_of(watching:out():match("^(.*\n)") or "") >= #log
    end)
    assert.same(log, lines_of(watching:out()))
    for index, line in ipairs(log) do
      assert.equal(index, line)
    end
  end)

  it("begins with what happens next, filtered, for people", function()
    send("before")
    watching = place:start("watch --type order")
    program.wait_for("a line", function()
      send("after")
      return #watching:out() > 0
    end)
    local line = watching:out():match("[^\n]+")
    assert.matches("^%S+Z %d+ system order ", line)
    assert.matches("root", line, 1, true)
  end)

  it("is what inspect --follow does with a list, from all or the latest rows on", function()
    send("one")
    send("two")
    watching = place:start("inspect messages --follow --limit 2 --json")
    local all = place:start("inspect messages --follow --json")
    local function texts(process)
      local list = {}
      for line in (process:out():match("^(.*\n)") or ""):gmatch("[^\n]+") do
        local row = json.decode(line)
        list[#list + 1] = row.from == "user" and row.payload.text or nil
      end
      return table.concat(list, " ")
    end
    program.wait_for("the first rows", function()
      return texts(watching):find("two") and texts(all):find("two")
    end)
    running:kill("KILL")
    running:wait()
    running = place:start_ready("run app.lua --log none")
    send("three")
    program.wait_for("the row that came", function()
      return texts(watching):find("three") and texts(all):find("three")
    end)
    all:kill("KILL")
    all:wait()
    assert.equal("one two three", texts(all))
    assert.matches("two three$", texts(watching))
    local refused = place:run("inspect agents --follow")
    assert.equal(2, refused.code)
    assert.matches("agents cannot be followed", refused.err, 1, true)
  end)

  it("says what is wrong", function()
    watching = place:start("watch --after 0")
    assert.equal(2, place:run("watch --after -1").code)
    assert.equal(2, place:run("watch --reason x").code)
  end)

  it("says that it waits where no society runs", function()
    watching = place:start("watch --after 0 --json --state other")
    program.wait_for("the notice", function()
      return watching:err():find("no society runs in other; waiting for one", 1, true)
    end)
    local other = place:start("run app.lua --log none --state other")
    watching:expect('"line":1')
    other:kill("KILL")
    other:wait()
  end)
end)
