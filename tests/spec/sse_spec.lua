-- Server-sent events, cut wherever a network may cut them.

local sse = require("society.llm.sse")

local TEXT = ": a comment\n\nevent: first\ndata: one\n\ndata:two\ndata: lines\nid: 7\n\n"
  .. "data: last, not closed"

local EXPECTED = { { event = "first", data = "one" }, { data = "two\nlines" },
  { data = "last, not closed" } }

local function read(...)
  local stream, events = sse.new(), {}
  for _, bytes in ipairs({ ... }) do
    for _, event in ipairs(assert(stream:put(bytes))) do
      events[#events + 1] = event
    end
  end
  for _, event in ipairs(stream:finish()) do
    events[#events + 1] = event
  end
  return events
end

describe("a stream of events", function()
  for name, ending in pairs({ LF = "\n", ["CR LF"] = "\r\n", CR = "\r" }) do
    it("with lines that end by " .. name .. " is the same wherever it is cut", function()
      local text = TEXT:gsub("\n", ending)
      for first = 0, #text do
        for second = first, math.min(first + 3, #text) do
          assert.same(EXPECTED, read(text:sub(1, first), text:sub(first + 1, second),
            text:sub(second + 1)))
        end
      end
    end)
  end

  it("has a bound on what waits for its end", function()
    local stream = sse.new()
    local events, fault
    for _ = 1, 20 do
      events, fault = stream:put("data: " .. ("x"):rep(1 << 20))
      if not events then
        break
      end
    end
    assert.is_nil(events)
    assert.matches("larger", fault, 1, true)
  end)
end)
