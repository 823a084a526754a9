-- A `main` that failed, and how to go on from there.

local program = require("program")

local APP = [[
local society = require("society")
society.root(function(root, message)
  root.state.count = (root.state.count or 0) + 1
  return { text = message.payload.text .. root.state.count }
end)
society.main(function(user)
  print(user:request({ to = "root", payload = "first " }).payload.text)
  print(user:request({ to = "root", payload = "second " }).payload.text)
  assert(arg[1] == "now", "not now")
end)
]]

describe("society run after a main that failed", function()
  local place

  before_each(function()
    place = program.place()
    place:write("app.lua", APP)
    local result = place:run("run app.lua --quiet")
    assert.equal(1, result.code)
    assert.equal("first 1\n", result.out)
    assert.matches("not now", result.err, 1, true)
    assert.matches("main failed; to try it again: society run app.lua", result.err, 1, true)
    assert.matches("--retry-main", result.err, 1, true)
    assert.matches("--fresh", result.err, 1, true)
  end)

  after_each(function()
    place:remove()
  end)

  it("repeats the last wait", function()
    local result = place:run("run app.lua --quiet -- now")
    assert.equal(0, result.code)
    assert.equal("second 3\n", result.out)
  end)

  it("runs main from its start with --retry-main", function()
    local result = place:run("run app.lua --quiet --retry-main -- now")
    assert.equal(0, result.code)
    assert.equal("first 3\nsecond 4\n", result.out)
  end)

  it("takes up no request of the earlier run with --retry-main", function()
    place:write("slow.lua", [[
      local society = require("society")
      society.root(function(root, message)
        if message.payload.set then
          root.state.value = message.payload.set
          return
        end
        root:sleep(1000)
        return { text = root.state.value }
      end)
      society.main(function(user)
        user:send_message { to = "root", payload = { set = arg[1] } }
        print(assert(user:request { to = "root", payload = "get",
          timeout_ms = tonumber(arg[2]) }).payload.text)
      end)
    ]])
    assert.equal(1, place:run("run slow.lua --state slow --quiet -- A 1").code)
    assert.equal("B\n", place:run("run slow.lua --state slow --quiet --retry-main -- B 600000").out)
  end)

  it("does not run a finished main again", function()
    place:run("run app.lua --quiet -- now")
    local result = place:run("run app.lua --quiet --retry-main")
    assert.equal(0, result.code)
    assert.equal("", result.out)
    assert.matches("main finished in an earlier run", result.err, 1, true)
  end)
end)
