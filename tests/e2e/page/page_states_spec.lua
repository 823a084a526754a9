-- Slow: forms, dialogs, notices, the past and troubles of the page in a real browser, in front of a
-- stand-in for the society: axe finds nothing serious in them.

local browser = require("browser")

describe("the states of the page", function()
  it("are as accessible as its views", function()
    local text, reason = browser.run("states.test.mjs")
    if not text then
      pending(reason)
    end
  end)
end)
