-- examples/17_help_desk.lua as a service, driven by examples/http/drive.sh: curl alone.

local program = require("program")
local tree = require("tree")
local web = require("web")

describe("the help desk over HTTP", function()
  local place, door

  setup(function()
    place = program.place()
    door = web.start(place, ("run %s --http 0 --log none"):format(
      program.quote(tree.path("examples/17_help_desk.lua"))))
  end)

  teardown(function()
    door:stop()
    place:remove()
  end)

  it("is driven with curl", function()
    door.running:expect("refund 20: 20 refunded, 20 in all")
    local result = place:shell(program.quote(tree.path("examples/http/drive.sh")) .. " .society")
    assert.equal("", result.err)
    assert.equal(table.concat({
      "== a question, and its answer",
      "We are open from nine to five.",
      "== a refund that a person has to decide",
      "approve",
      "== what became of it",
      "80 refunded, 100 in all",
      "== deciding twice",
      "already_decided",
      "== who gave orders",
      "intake", "intake", "decide", "",
    }, "\n"), result.out)
    assert.equal(0, result.code)
  end)
end)
