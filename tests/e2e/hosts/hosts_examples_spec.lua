-- The examples with several hosts, as their scripts start them.

local program = require("program")
local redis = require("redis")
local tree = require("tree")

local function run(script)
  local place = program.place()
  local result = place:shell(("%s %s"):format(program.quote(tree.path("examples/hosts/" .. script)),
    program.quote(place.program)))
  place:remove()
  assert.equal(0, result.code, result.err)
  return result.out
end

describe("the example with", function()
  if not redis.is_there() then
    pending("redis-server is not installed")
    return
  end

  it("two hosts asks, hires and meets agents on the other one", function()
    assert.equal("the lab counts 14\nclerk@lab counts 14\nmeets archive@lab through root@lab\n"
      .. "kept as number 1: 14 words\n", run("two.sh"))
  end)

  it("four hosts counts with a family on each", function()
    local out = run("four.sh")
    assert.matches("primes below 12800: 1526", out, 1, true)
    for _, name in ipairs({ "north", "east", "south", "west" }) do
      assert.matches(name .. ": %d+", out)
    end
  end)
end)
