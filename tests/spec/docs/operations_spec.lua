-- docs/operations.md is what the table of operations says (core/kernel/operations/operation.h).
--
-- Covers: core/bridge/control/operations.c, core/parts/subjects.c

local program = require("society.program")
local reference = require("society.cli.reference")
local tree = require("tree")

describe("the reference of the operations", function()
  it("is what `society call --reference` prints", function()
    assert.equal(reference.make(program.operations), tree.read("docs/operations.md"))
  end)

  it("has every operation, parameter and member of an answer", function()
    local page = tree.read("docs/operations.md")
    assert.is_true(#program.operations > 20)
    for _, operation in ipairs(program.operations) do
      local section = assert(page:match("\n## " .. operation.name .. "\n(.-)\n%f[#\0]#?#?")
        or page:match("\n## " .. operation.name .. "\n(.*)$"), operation.name)
      for _, list in ipairs({ operation.params, operation.answer }) do
        for _, param in ipairs(list) do
          assert.matches("`" .. param.name .. "`", section, 1, true)
        end
      end
    end
  end)
end)

describe("the reference of the routes", function()
  it("is what `society call --routes` prints", function()
    assert.equal(reference.routes(program.routes), tree.read("docs/routes.md"))
  end)

  it("has every route", function()
    local page = tree.read("docs/routes.md")
    assert.is_true(#program.routes > 20)
    for _, route in ipairs(program.routes) do
      assert.matches(("| `%s %s` |"):format(route.method, route.path), page, 1, true)
    end
  end)
end)
