-- What a model is sent fits its window, whatever is long: messages, its own calls, results.
--
-- Covers: core/lualib/lua_heap.c

local json = require("society.json")
local scene = require("scene")
local thinkers = require("thinkers")
local usage = require("society.llm.usage")

local think, call, ask, last = thinkers.think, thinkers.call, thinkers.ask, thinkers.last

describe("the window", function()
  after_each(scene.close)

  -- The most tokens of a request, by estimate, while ann answers a long question by calls
  -- with long arguments and long results; and how many requests there were.
  local function write_long(text, calls_max, llm)
    local most, count = 0, 0
    llm.tools = { { name = "write", run = function() return text:rep(20000) end } }
    local s = think(function(request)
      count = count + 1
      most = math.max(most, usage.of_chat(request, json.encode(request.tools)))
      local calls = {}
      for index = 1, 1 + count % calls_max do
        calls[index] = { name = "write", arguments = { n = index, text = text:rep(count * 400) } }
      end
      return count > 12 and "end" or { content = text:rep(count * 50), tool_calls = calls }
    end, { llm = llm })
    assert.equal("end", last(ask(s, "QUESTION-2 " .. text:rep(30000))).payload.text)
    return most, count
  end

  it("has room for long arguments of calls and their results", function()
    for _, text in ipairs({ "x", "字", '"', "\n", "é", "😀" }) do
      for _, tokens in ipairs({ 9000, 12000, 20000 }) do
        local most, count = write_long(text, 3, { context_tokens = tokens })
        assert.is_true(most <= tokens, ("%s: %d of %d tokens"):format(text, most, tokens))
        assert.equal(13, count)
      end
    end
  end)

  it("shows a call that fits whole, and runs one that does not with all of it", function()
    local shown_text, ran = nil, {}
    local sizes = { 2000, 60000 }
    local s = think(function(request)
      local number = #ran + 1
      shown_text = number > 1 and request.messages[#request.messages - 1].tool_calls[1].arguments
        or nil
      if number == 2 then
        assert.equal(2000, #json.decode(shown_text).text)
      end
      return number > 2 and "end" or call("write", { text = ("x"):rep(sizes[number]) })
    end, { llm = { context_tokens = 12000, tools = { { name = "write", run = function(_, given)
      ran[#ran + 1] = #given.text
    end } } } })
    assert.equal("end", last(ask(s)).payload.text)
    assert.same(sizes, ran)
    assert.matches("the rest is left out", json.decode(shown_text).cut, 1, true)
  end)

  it("leaves messages without room to wait for their turn", function()
    local most, answered = 0, 0
    local s = think(function(request)
      most = math.max(most, usage.of_chat(request, json.encode(request.tools)))
      return { content = "end", delay_ms = 1000 }
    end, { llm = { context_tokens = 9000, on_message = "interrupt", guards = { rounds = 99 } } })
    for index = 1, 30 do
      assert(s:send("user", { to = "ann", payload = { text = ("字"):rep(1000) .. index } }))
      s:advance(10)
    end
    s:run()
    for _, message in ipairs(s:messages({ agent = "ann" })) do
      answered = answered + (message.from == "user" and message.status == "processed" and 1 or 0)
    end
    assert.equal(30, answered)
    assert.is_true(most <= 9000, most .. " tokens")
  end)
end)
