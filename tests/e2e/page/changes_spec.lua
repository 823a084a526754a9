-- Slow: what is changed from the page, in a real browser, in front of a stand-in for the society:
-- policies, agents, dead letters, each done, refused and called off.

local browser = require("browser")

describe("changes from the page", function()
  it("are those that somebody asked for, and no others", function()
    local text, reason = browser.run("changes.test.mjs")
    if not text then
      pending(reason)
    end
  end)
end)
