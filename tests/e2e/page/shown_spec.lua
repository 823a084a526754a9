-- Slow: what each view of the page shows of a society, fact by fact, in a real browser, in front
-- of a stand-in for the society.

local browser = require("browser")

describe("the views of the page", function()
  it("show every fact that they are there for", function()
    local text, reason = browser.run("shown.test.mjs")
    if not text then
      pending(reason)
    end
  end)
end)
