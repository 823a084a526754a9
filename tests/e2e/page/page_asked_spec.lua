-- Slow: questions of the inbox in a real browser, in front of a stand-in for the society: what is
-- shown with them, and what becomes of them meanwhile.

local browser = require("browser")

describe("a question on the page", function()
  it("says what its agent has done, and what became of it", function()
    local text, reason = browser.run("asked.test.mjs")
    if not text then
      pending(reason)
    end
  end)
end)
