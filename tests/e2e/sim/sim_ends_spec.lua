-- How a simulation ends, and what is left of it.

local program = require("program")

describe("the end of a simulation", function()
  local place

  before_each(function()
    place = program.place()
  end)

  after_each(function()
    place:remove()
  end)

  it("is a failure if a model call does not match its script, which is shown", function()
    place:write("app.lua", [[
      local society = require("society")
      society.config { llm = { provider = "scripted",
        answers = { { expect = "one", content = "1" } } } }
      society.root { default = function(root, message)
        root:chat { messages = { { role = "user", content = message.payload.text } } }
      end }
      society.main(function(user, ...)
        user:request { to = "root", payload = arg[1], timeout_ms = 1000000000 }
      end)
    ]])
    assert.equal(0, place:run("sim app.lua -- one").code)
    for _, words in ipairs({ "", "--seeds 1..3", "--seeds 1..20 --faults crash" }) do
      local result = place:run("sim app.lua " .. words .. " -- two")
      assert.equal(1, result.code, words)
      assert.matches("root made an unexpected model call: script_mismatch",
        result.err, 1, true)
      assert.matches('last = "two"', result.err, 1, true)
    end
  end)

  it("dumps the rows when it fails, and touches nothing if the app does not load", function()
    place:write("app.lua", [[
      local society = require("society")
      society.root { default = function() end }
      society.main(function(user)
        user:request { to = "root", payload = "kept" }
        error("oh no")
      end)
    ]])
    local function dump()
      local file = assert(io.open(place.path .. "/dump", "rb"))
      local text = file:read("a")
      file:close()
      return text
    end
    assert.equal(1, place:run("sim app.lua --dump dump").code)
    local before = dump()
    assert.matches('"kept"', before, 1, true)
    place:write("app.lua", "this is no Lua")
    assert.equal(1, place:run("sim app.lua --dump dump").code)
    assert.equal(before, dump())
    assert.equal(1, place:run("sim app.lua --dump other").code)
    assert.is_nil(io.open(place.path .. "/other"))
    place:write("app.lua", "require('society').main(function() end)")
    local nowhere = place:run("sim app.lua --dump no/such")
    assert.equal(1, nowhere.code)
    assert.matches("no/such: ", nowhere.err, 1, true)
  end)

  it("resolves the path of a policy from the current directory, as run does", function()
    local policy = [[return { kind = "contacts", version = 1, defaults = {}, examples = {},
      may_send = function() return false, { hint = "%s" } end }]]
    place:shell("mkdir app other")
    place:write("app/mine.lua", policy:format("of the app"))
    place:write("other/mine.lua", policy:format("of the caller"))
    place:write("app/app.lua", [[
      local society = require("society")
      society.config { orchestrator = "scheduler" } -- whom everybody may write to
      society.root(function() end)
      society.main(function(user)
        local _, err = user:send_message { to = "root", payload = "x" }
        print(err.hint)
      end)
    ]])
    for _, command in ipairs({ "run --quiet --fresh", "sim" }) do
      for _, name in ipairs({ "./mine.lua", "mine.lua", "../other/mine.lua" }) do
        local result = place:shell(("cd other && society %s ../app/app.lua --policy contacts=%s")
          :format(command, name))
        assert.equal(0, result.code, result.err)
        assert.matches("of the caller\n", result.out, 1, true)
      end
    end
    -- The same rows, whatever path names the app's policy.
    local dumps = {}
    for i, words in ipairs({ "cd app && society sim app.lua --policy contacts=mine.lua",
      "society sim app/app.lua --policy contacts=./app/mine.lua",
      ("cd / && society sim %s/app/app.lua --policy contacts=%s/app/mine.lua"):format(
        place.path, place.path) }) do
      local result = place:shell(("%s --dump %s/dump"):format(words, place.path))
      assert.matches("of the app\n", result.out, 1, true)
      dumps[i] = place:read("dump")
    end
    assert.equal(dumps[1], dumps[2])
    assert.equal(dumps[1], dumps[3])
    local missing = place:run("sim app/app.lua --policy contacts=./mine.lua")
    assert.equal(1, missing.code)
    assert.matches(place.path .. "/./mine.lua: No such file", missing.err, 1, true)
  end)

  it("is refused for a policy or a setting without a value", function()
    place:write("app.lua", "require('society').main(function() end)")
    for _, words in ipairs({ "--policy contacts", "--set history" }) do
      local result = place:run("sim app.lua " .. words)
      assert.same({ 2, "" }, { result.code, result.out })
      assert.matches(" expects %u+=%u+, not '", result.err)
    end
  end)

  local ENDLESS = [[
    local society = require("society")
    society.root { default = function(root)
      root:send_message { to = "root", payload = "again", delay_ms = 10 }
    end }
    society.main(function(user) user:send_message { to = "root", payload = "go" } end)
  ]]

  it("is a failure that names the busiest agent if there is no end", function()
    place:write("app.lua", ENDLESS)
    for words, text in pairs({
      ["--limit-ms 60000"] = "the run does not end: the next event is more than 60000 ms",
      ["--limit-steps 2000"] = "the run does not end: 2000 steps taken",
    }) do
      for _, more in ipairs({ " --seed 3", " --seeds 3..9" }) do
        local result = place:run("sim app.lua " .. words .. more)
        assert.equal(1, result.code)
        assert.matches(text, result.err, 1, true)
        assert.matches("busiest agents: root %(%d+ messages%)\n", result.err)
        local command = result.err:match("repeat it with: ([^\n]+)\n$")
        assert.equal(more == " --seeds 3..9", command ~= nil)
        assert.is_true(command == nil or command:find(words, 1, true) ~= nil)
      end
    end
    place:write("app.lua", [[
      require("society").main(function(user) user:sleep(86400000 * 300) end)
    ]])
    assert.equal(0, place:run("sim app.lua").code)
    assert.equal(1, place:run("sim app.lua --limit-ms 1000").code)
    assert.equal(0, place:run("sim app.lua --limit-ms 0 --limit-steps 0").code)
  end)

  it("by Ctrl-C prints the current seed and its time", function()
    place:write("app.lua", ENDLESS)
    local running = place:start(
      "sim app.lua --seeds 7..9 --faults none --limit-steps 0 --limit-ms 0")
    running:expect("0 of 3 seeds, 0.0 seeds/s\n")
    running:kill("INT")
    local result = running:wait()
    assert.matches("society: stopped: seed 7: virtual time 2026%-%S+Z, %d+ steps\n",
      result.err)
    assert.matches("seed 7 was stopped; repeat it with: .* sim app.lua %-%-seed 7", result.err)
  end)
end)
