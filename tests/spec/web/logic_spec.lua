-- The page's own tests of its logic, which need Node and no browser.

local program = require("program")
local tree = require("tree")

local function output_of(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read("a")
  return text, pipe:close()
end

describe("the page's logic", function()
  it("holds by its own tests", function()
    if not os.execute("node --version >/dev/null 2>&1") then
      pending("node is not here")
      return
    end
    local file = program.quote(tree.path("tests/web/logic.test.mjs"))
    local text, is_done = output_of("node --test --test-reporter=tap " .. file .. " 2>&1")
    assert.is_true(is_done, text)
    assert.is_true(tonumber(text:match("\n# pass (%d+)")) > 20, text)
  end)
end)
