-- Slow: where the page's stream of events resumes, in a real browser, in front of a stand-in for
-- the society: retention, a society begun anew.

local browser = require("browser")

describe("the stream of events of the page", function()
  it("resumes, and begins at the present where it cannot", function()
    local text, reason = browser.run("stream.test.mjs")
    if not text then
      pending(reason)
    end
  end)
end)
