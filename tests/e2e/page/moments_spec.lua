-- Slow: moments of the past in a real browser, in front of a stand-in for the society: where links
-- to them lead, what each view shows there, the slider and the keys.

local browser = require("browser")

describe("moments on the page", function()
  it("are those that were asked for", function()
    local text, reason = browser.run("moments.test.mjs")
    if not text then
      pending(reason)
    end
  end)
end)
