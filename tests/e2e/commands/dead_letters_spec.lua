-- Dead letters on the command line, of running and stopped societies.

local json = require("society.json")
local program = require("program")

local APP = [[
local society = require("society")
society.policy("supervision", function() return nil end)
society.root(function(_, message)
  if message.attempt == 1 then
    error("not at first")
  end
  print("handled", message.payload.text, message.attempt)
end)
]]

describe("dead letters at the command line", function()
  local place, running

  local function start()
    running = place:start("run app.lua --json")
    program.wait_for("the socket", function() return place:run("inspect stats").code == 0 end)
  end

  local function stop()
    if running then
      running:kill("INT")
      running:wait()
      running = nil
    end
  end

  local function letters()
    local list = {}
    for line in place:run("inspect dead-letters --json").out:gmatch("[^\n]+") do
      list[#list + 1] = assert(json.decode(line)).id
    end
    return list
  end

  local function stats()
    return assert(json.decode(place:run("inspect stats --json").out))
  end

  before_each(function()
    place = program.place()
    place:write("app.lua", APP .. "society.main(function(user) user:receive{} end)\n")
    start()
    for i = 1, 3 do
      assert.equal(0, place:run("send --to root -- -text" .. i).code)
    end
    program.wait_for("dead letters", function() return #letters() == 3 end)
  end)

  after_each(function()
    stop()
    place:remove()
  end)

  it("are redelivered, in a running and in a stopped society", function()
    local ids = letters()
    local result = place:run("redeliver " .. ids[1])
    assert.equal(ids[1] .. ": sent again\n", result.out)
    running:expect([["handled\t-text1\t2"]])
    stop()
    result = place:run(("redeliver --json %s %s"):format(ids[2], ids[3]))
    assert.equal(('{"messageId":"%s"}\n{"messageId":"%s"}\n'):format(ids[2], ids[3]), result.out)
    assert.same({}, letters())
    assert.equal(2, stats().pending)
    start()
    running:expect([["handled\t-text3\t2"]])
    assert.equal(0, stats().dead)
  end)

  it("are dropped, in a running and in a stopped society", function()
    local ids = letters()
    assert.equal(ids[1] .. ": dropped\n", place:run("drop " .. ids[1]).out)
    stop()
    assert.equal(ids[2] .. ": dropped\n", place:run("drop " .. ids[2]).out)
    assert.same({ ids[3] }, letters())
    assert.equal(2, stats().dropped)
    assert.equal(1, stats().dead)
  end)

  it("are left alone if any id is wrong", function()
    local ids = letters()
    for _, is_stopped in ipairs({ false, true }) do
      if is_stopped then
        stop()
      end
      for _, command in ipairs({ "redeliver", "drop" }) do
        local unknown = place:run(command .. " msg_20260105_120000_00000000000ffff")
        assert.equal(1, unknown.code)
        assert.matches("^society: message_not_found: [^\n]+\n$", unknown.err)
        assert.equal(2, place:run(("%s %s nonsense"):format(command, ids[1])).code)
        assert.equal(2, place:run(command).code)
        assert.equal(1, place:run(command .. " --state none " .. ids[1]).code)
      end
    end
    assert.same(ids, letters())
  end)

  it("are changed by a filter, in a running and in a stopped society", function()
    local wrong = place:run("drop --filter to=root --expected 2")
    assert.equal(1, wrong.code)
    assert.matches("^society: count_differs: [^\n]+\n$", wrong.err)
    assert.equal("0 dropped\n", place:run("drop --filter reason=expired").out)
    assert.equal("0 dropped\n", place:run("drop --filter older=1d").out)
    assert.equal(3, #letters())
    assert.equal("3 sent again\n",
      place:run("redeliver --filter from=user --filter reason=script_error").out)
    running:expect([["handled\t-text3\t2"]])
    assert.equal(0, place:run("send --to root more").code)
    program.wait_for("a dead letter", function() return #letters() == 1 end)
    stop()
    local result = place:run("drop --filter all --expected 1 --json")
    assert.equal('{"count":1}\n', result.out)
    assert.same({}, letters())
    assert.equal(1, stats().dropped)
  end)

  it("are left alone if a filter is wrong", function()
    for _, words in ipairs({ "--filter all", "--filter", "--filter to", "--filter to=",
      "--filter agnt=root", "--filter until=soon", "--filter older=7",
      "--filter to=a --filter to=b",
      "--expected 3", "--filter to=root --expected x", "--filter to=root " .. letters()[1] }) do
      assert.equal(2, place:run("drop " .. words).code, words)
    end
    assert.equal(3, #letters())
  end)
end)
