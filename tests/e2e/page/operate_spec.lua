-- Slow: changes from the page in front of the built program: dead letters, policies, the end of an
-- agent.

local browser = require("browser")
local program = require("program")

describe("the page of a society that somebody operates", function()
  it("changes what was ordered, and nothing else", function()
    local place = program.place()
    local text, reason = browser.run("operate.test.mjs", "SOCIETY=" .. program.quote(place.program))
    place:remove()
    if not text then
      pending(reason)
    end
  end)
end)
