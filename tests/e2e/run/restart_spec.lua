-- `society run` killed half-way, and run again.

local program = require("program")

local SERVER = [[
local society = require("society")
society.root(function(root, message)
  root.state.count = (root.state.count or 0) + 1
  return { text = "number " .. root.state.count }
end)
]]

describe("society run", function()
  local place

  before_each(function()
    place = program.place()
    place:write("server.lua", SERVER)
  end)

  after_each(function()
    place:remove()
  end)

  it("continues after kill -9 with everything that was answered", function()
    local running = place:start_ready("run server.lua")
    for i = 1, 5 do
      assert.equal("number " .. i .. "\n", place:run("send --to root --wait x").out)
    end
    running:kill("KILL")
    assert.equal(137, running:wait().code)
    running = place:start("run server.lua")
    program.wait_for("an answer", function()
      return place:run("send --to root --wait x").out == "number 6\n"
    end)
    running:kill("INT")
    assert.equal(130, running:wait().code)
  end)

  it("continues a sleep of main after kill -9", function()
    place:write("sleep.lua", [[
      local society = require("society")
      society.main(function(user)
        print("before")
        user:sleep(86400000)
        print("after")
      end)
    ]])
    local running = place:start("run sleep.lua")
    running:expect("before\n")
    running:kill("KILL")
    running:wait()
    local result = place:run_next_day("run sleep.lua --quiet")
    assert.equal(0, result.code)
    assert.matches("after\n$", result.out)
  end)

  it("continues after kill -9 past lengths of tables with holes and texts of errors", function()
    place:write("holes.lua", [[
      local society = require("society")
      local function add_lengths()
        local text = ""
        for i = 1, 50 do
          local t = {}
          for _, k in ipairs { 1, 6, "a" .. i, 2, 3, "b" .. i, 7 } do t[k] = 1 end
          t["a" .. i] = nil
          t["c" .. i] = 1
          text = text .. #t
        end
        return text
      end
      society.main(function(user)
        print("lengths", add_lengths())
        print(pcall(math.atan))
        user:sleep(86400000)
        print("over")
      end)
    ]])
    local running = place:start("run holes.lua")
    running:expect("bad argument")
    running:kill("KILL")
    running:wait()
    local result = place:run_next_day("run holes.lua --quiet")
    assert.equal(0, result.code, result.err)
    assert.matches("over\n$", result.out)
  end)
end)
