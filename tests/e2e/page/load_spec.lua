-- Slow: the page of the built program in front of ten thousand agents that send a thousand
-- messages a second, for a minute. LOAD_SECONDS says how long; `make soak` looks for five.
-- Quiet: it measures time.

local browser = require("browser")
local program = require("program")

describe("the page under load", function()
  it("paints soon, keeps its frames short and its memory flat", function()
    local place = program.place()
    local text, reason = browser.run("load.test.mjs", "SOCIETY=" .. program.quote(place.program))
    place:remove()
    if not text then
      pending(reason)
    elseif os.getenv("LOAD_SECONDS") then
      print(text)
    end
  end)
end)
