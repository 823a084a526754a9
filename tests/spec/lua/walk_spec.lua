-- All rows of a list, by pages, of a society that adds rows meanwhile.

local ask = require("society.cli.ask")
local program = require("society.program")

describe("a walk over all rows", function()
  local real = program.ask_page

  after_each(function() program.ask_page = real end)

  it("ends with the last line there was when it began", function()
    local cursors, last = {}, 100
    program.ask_page = function(_, request)
      cursors[#cursors + 1] = tonumber(request:match('"after":(%d+)'))
      assert(#cursors < 1000, "it never ends")
      last = last + 50 -- faster than it is read
      return "[]", cursors[#cursors] + 40, last
    end
    local pages = 0
    assert.is_nil(ask.walk("nowhere", "messages", {}, function() pages = pages + 1 end))
    assert.same({ 0, 40, 80, 120 }, cursors) -- up to 150, the last line of the first answer
    assert.equal(4, pages)
  end)

  it("goes on behind lines that were removed meanwhile", function()
    local cursors = {}
    program.ask_page = function(_, request)
      cursors[#cursors + 1] = tonumber(request:match('"after":(%d+)'))
      if #cursors == 2 then
        return nil, "refused", '{"error":"gone","first":71}'
      end
      return "[]", #cursors == 3 and 0 or 10, 100
    end
    assert.is_nil(ask.walk("nowhere", "activity", {}, function() end))
    assert.same({ 0, 10, 70 }, cursors)
  end)
end)
