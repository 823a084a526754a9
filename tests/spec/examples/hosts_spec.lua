-- The example with two hosts in virtual time, also when the carrier fails it.

local scene = require("scene")
local society = require("society")
local tree = require("tree")

local EXPECTED = { "the lab counts 14", "clerk@lab counts 14",
  "meets archive@lab through root@lab", "kept as number 1: 14 words" }

local function printed(s)
  local lines = {}
  for line in s:transcript():gmatch("print root: ([^\n]+)") do
    lines[#lines + 1] = line
  end
  return lines
end

describe("the example with two hosts", function()
  after_each(scene.close)

  for _, fault in ipairs({ "nothing", "flush", "failback", "cut", "crash" }) do
    it("tells its story in a fleet under " .. fault, function()
      local f = scene.keep(society.new { seed = 3, hosts = {
        office = tree.path("examples/hosts/office.lua"),
        lab = tree.path("examples/hosts/lab.lua"),
      } })
      f:delay(400)
      for round = 1, fault == "nothing" and 0 or 6 do
        f:advance(150 + 37 * round)
        if fault == "flush" then
          f:flush()
        elseif fault == "failback" then
          f:failback(round)
        elseif fault == "cut" then
          f:cut(round % 2 == 0 and "lab" or "office")
          f:advance(700)
          f:mend("lab")
          f:mend("office")
        else
          local host = f:host(round % 2 == 0 and "lab" or "office")
          host:crash()
          f:advance(300)
          host:recover()
        end
      end
      f:run()
      assert.same(EXPECTED, printed(f.office))
      assert.same({}, f.office:dead_letters())
      assert.same({}, f.lab:dead_letters())
    end)
  end
end)
