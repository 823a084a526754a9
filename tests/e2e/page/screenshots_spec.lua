-- The pictures of docs/page.md. SHOTS is the folder they go to.

local browser = require("browser")
local program = require("program")

describe("the pictures of the page", function()
  it("can be taken", function()
    local folder = os.getenv("SHOTS") or "build/screenshots"
    local text, reason = browser.run("screenshots.test.mjs", "SHOTS=" .. program.quote(folder))
    if not text then
      pending(reason)
    end
  end)
end)
