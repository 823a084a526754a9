-- Slow: the keyboard of the page in a real browser, in front of a stand-in for the society.

local browser = require("browser")

describe("the keys of the page", function()
  it("do what the help says", function()
    local text, reason = browser.run("keys.test.mjs")
    if not text then
      pending(reason)
    end
  end)
end)
