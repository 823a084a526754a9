-- Slow: the page in a real browser, in front of a stand-in for the society: every view in both
-- themes and languages, narrow and wide, full, empty, hostile, without a token, with errors.

local browser = require("browser")

describe("the page", function()
  it("shows every view, whatever the state of the society", function()
    local text, reason = browser.run("views.test.mjs")
    if not text then
      pending(reason)
    end
  end)
end)
