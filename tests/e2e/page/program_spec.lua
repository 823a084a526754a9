-- Slow: the page in front of the built program: decisions seen by another tab,
-- hostile texts, other host names, signing in, the newsroom, its past, what if.
-- Quiet: it measures how soon another tab sees a decision.

local browser = require("browser")
local program = require("program")

describe("the page of a running society", function()
  it("shows what the program says, and decides", function()
    local place = program.place()
    local text, reason = browser.run("program.test.mjs", "SOCIETY=" .. program.quote(place.program))
    place:remove()
    if not text then
      pending(reason)
    end
  end)
end)
