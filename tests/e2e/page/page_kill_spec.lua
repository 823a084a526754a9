-- Slow: the page of the built program under kill -9, its timeline and inbox, never loaded again.

local browser = require("browser")
local program = require("program")

describe("the page of a society that is killed", function()
  it("goes on, with nothing missing or doubled", function()
    local place = program.place()
    local text, reason = browser.run("kill.test.mjs", "SOCIETY=" .. program.quote(place.program))
    place:remove()
    if not text then
      pending(reason)
    end
  end)
end)
