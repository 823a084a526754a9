-- society sim with several hosts.

local program = require("program")
local tree = require("tree")

local BOTH = ("sim %s@office %s@lab "):format(
  program.quote(tree.path("examples/hosts/office.lua")),
  program.quote(tree.path("examples/hosts/lab.lua")))

describe("society sim with several hosts", function()
  local place

  before_each(function() place = program.place() end)
  after_each(function() place:remove() end)

  it("plays a seed, the same bytes twice, and many seeds under faults", function()
    local first = place:run(BOTH .. "--seed 7 --faults default")
    assert.equal(0, first.code, first.err)
    assert.matches("office %S+ print root: kept as number 1: 14 words", first.out)
    assert.matches("fault %d+ %l+ %l+", first.out)
    assert.equal(first.out, place:run(BOTH .. "--seed 7 --faults default").out)
    local many = place:run(BOTH .. "--seeds 1..20")
    assert.same({ 0, "20 seeds, nothing found\n" }, { many.code, many.out })
  end)

  it("names the seed that fails and how to repeat it", function()
    place:write("a.lua", [[
      local society = require("society")
      society.root(function() end)
      society.main(function(user) user:receive { from = "root@b" } end)
    ]])
    place:write("b.lua", 'require("society").root(function() end)')
    local result = place:run("sim a.lua@a b.lua@b --seeds 5..6 --faults flush")
    assert.equal(1, result.code)
    assert.matches("seed 5: main of a has not finished", result.err, 1, true)
    assert.matches("sim a.lua@a b.lua@b --seed 5 --faults flush", result.err, 1, true)
  end)

  it("refuses what is not for several hosts", function()
    for _, case in ipairs({
      { "a.lua@a b.lua", "for several hosts give APP.lua@HOST" },
      { "a.lua@a b.lua@a", "there are two hosts 'a'" },
      { "a.lua@a --faults earthquake", "unknown fault 'earthquake'; there are evict, crash" },
      { "a.lua@a --strict", "--strict is not for several hosts" },
    }) do
      local result = place:run("sim " .. case[1])
      assert.equal(2, result.code)
      assert.matches(case[2], result.err, 1, true)
    end
  end)
end)
