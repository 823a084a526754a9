-- Slow: details of the page in a real browser, in front of a stand-in for the society: an agent in
-- the past, refusals, counts, filters by key, the slider.

local browser = require("browser")

describe("the page in detail", function()
  it("says what happened, in every detail", function()
    local text, reason = browser.run("details.test.mjs")
    if not text then
      pending(reason)
    end
  end)
end)
