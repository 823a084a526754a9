-- Slow: hostile texts on the page in a real browser, in front of a stand-in for the society.

local browser = require("browser")

describe("hostile texts on the page", function()
  it("are shown as texts, and nothing comes of them", function()
    local text, reason = browser.run("hostile.test.mjs")
    if not text then
      pending(reason)
    end
  end)
end)
