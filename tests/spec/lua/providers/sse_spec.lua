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
    it("with lines ending in " .. name .. " is the same wherever it is cut", function()
      local text = TEXT:gsub("\n", ending)
      for first = 0, #text do
        for second = first, math.min(first + 3, #text) do
          assert.same(EXPECTED, read(text:sub(1, first), text:sub(first + 1, second),
            text:sub(second + 1)))
        end
      end
    end)
  end

  it("has a limit on what waits for its end", function()
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

  it("is ignored once it was too large", function()
    local stream = sse.new()
    assert.is_nil((stream:put("data: " .. ("x"):rep(sse.bytes_max + 1))))
    local events, fault = stream:put("\n\ndata: small\n\n")
    assert.is_nil(events)
    assert.matches("larger", fault, 1, true)
    assert.same({}, stream:finish())
  end)

  it("also counts lines without text", function()
    local usual = sse.bytes_max
    finally(function() sse.bytes_max = usual end)
    sse.bytes_max = 1000
    local stream = sse.new()
    assert.same({}, stream:put(("data:\n"):rep(1000)))
    assert.is_nil((stream:put("data:\n")))
  end)

  -- Allocation stands for time: copying everything again for each piece shows.
  it("costs time proportional to its length, in the smallest pieces", function()
    local function allocated_kb(count)
      local stream, piece = sse.new(), ("x"):rep(16)
      stream:put("data: ")
      collectgarbage()
      collectgarbage("stop")
      local before = collectgarbage("count")
      for _ = 1, count do
        assert(stream:put(piece))
      end
      local events = stream:put("\n\n")
      local after = collectgarbage("count")
      collectgarbage("restart")
      assert.equal(count * 16, #events[1].data)
      return after - before
    end
    local few, many = allocated_kb(500), allocated_kb(4000)
    assert.is_true(many < 2 * 8 * few, ("%d KB, then %d KB"):format(few // 1, many // 1))
  end)
end)
