-- Output of the program, and what it does when stdout fails.
--
-- Covers: core/main/show.c

local program = require("program")

describe("output that cannot be written", function()
  local place

  before_each(function()
    place = program.place()
    place:write("app.lua", [[
      local society = require("society")
      society.main(function()
        print("first")
        print("second")
      end)
    ]])
  end)

  after_each(function()
    place:remove()
  end)

  it("ends the run with 1 and is printed by the next one, once", function()
    local full = place:shell("society run app.lua --quiet > /dev/full")
    assert.equal(1, full.code)
    assert.matches("^society: stdout: [^\n]*\n$", full.err)
    local next_run = place:run("run app.lua --quiet")
    assert.equal(0, next_run.code)
    assert.equal("first\nsecond\n", next_run.out)
    assert.equal("", place:run("run app.lua --quiet").out)
  end)

  it("is kept over several runs until it can be written", function()
    for _ = 1, 3 do
      assert.equal(1, place:shell("society run app.lua --quiet > /dev/full").code)
    end
    assert.equal("first\nsecond\n", place:run("run app.lua --quiet").out)
  end)

  it("ends a simulation with 1", function()
    local full = place:shell("society sim app.lua > /dev/full")
    assert.equal(1, full.code)
    assert.matches("^society: stdout: [^\n]*\n$", full.err)
    place:write("silent.lua", [[
      require("society").main(function(user) user:send_message { to = "root", payload = "x" } end)
    ]]) -- its transcript alone
    assert.equal(1, place:shell("society sim silent.lua > /dev/full").code)
  end)

  it("ends every command with 1 and a message, and blames no seed", function()
    place:run("run app.lua --quiet --set history=full")
    for _, command in ipairs({ "inspect activity", "inspect agents --json", "export org-json",
      "replay", "check app.lua", "version", "help", "run --help", "init new",
      "sim app.lua --seeds 1..3 --json" }) do
      local full = place:shell("society " .. command .. " > /dev/full")
      assert.equal(1, full.code, command)
      assert.matches("^society: stdout: [^\n]*\n$", full.err)
    end
  end)
end)

describe("output", function()
  it("may contain zero bytes", function()
    local place = program.place()
    place:write("zero.lua", [[
      local society = require("society")
      society.main(function() print("a\0b") end)
    ]])
    assert.equal("a\0b\n", place:run("run zero.lua --quiet").out)
    place:remove()
  end)
end)
