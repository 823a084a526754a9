-- Surrogate pairs that a server splits across deltas are rejoined.

local anthropic = require("society.llm.anthropic")
local json = require("society.json")
local openai = require("society.llm.openai")

local FACE = "\u{1f600}"

-- What a provider makes of texts, each the inside of a JSON string, that a model says.
local READ = {
  [openai] = function(text)
    return ('{"choices":[{"delta":{"content":"%s"}}]}'):format(text),
      '{"choices":[{"delta":{},"finish_reason":"stop"}]}'
  end,
  [anthropic] = function(text)
    return ('{"type":"content_block_delta","delta":{"text":"%s"}}'):format(text),
      '{"type":"message_stop"}'
  end,
}

local function read(provider, ...)
  local reader, shown = provider.reader({}, { model = "m" }), {}
  local function put(event)
    shown[#shown + 1] = reader:put("data: " .. event .. "\n\n")
  end
  reader:head(200, { ["content-type"] = "text/event-stream" })
  if provider == anthropic then
    put('{"type":"content_block_start","content_block":{"type":"text","text":""}}')
  end
  local last
  for _, text in ipairs({ ... }) do
    local event
    event, last = READ[provider](text)
    put(event)
  end
  put(last)
  local message, err = reader:finish(0)
  return message and message.content or err.error, table.concat(shown)
end

for _, provider in ipairs({ openai, anthropic }) do
  describe("what a model says over " .. provider.name, function()
    it("has its characters rejoined where deltas split them", function()
      assert.equal("a" .. FACE .. "b", (read(provider, "a\\ud83d", "\\ude00b")))
      assert.equal("a" .. FACE .. "b", (read(provider, "a", "\\uD83D", "\\uDE00", "b")))
      assert.equal(FACE .. FACE, (read(provider, "\\ud83d\\ude00\\ud83d", "\\ude00")))
    end)

    it("has a replacement character for half a pair", function()
      assert.equal("a\u{fffd}b", (read(provider, "a\\ud83d", "b")))
      assert.equal("\u{fffd}\u{fffd}", (read(provider, "\\ude00", "\\ud83d")))
    end)

    it("never shows half a character meanwhile", function()
      local _, shown = read(provider, "a\\ud83d", "\\ude00b")
      assert.equal("a\u{fffd}\u{fffd}b", shown)
    end)

    it("is unchanged where it only looks like that", function()
      assert.equal("\\ud83d\u{10d83d}", (read(provider, "\\\\ud83d\u{10d83d}")))
      assert.equal("\\ud83d\u{fffd}", (read(provider, "\\\\ud83d\\ud83d")))
      assert.equal("bad_answer", (read(provider, "\\ud83d\\x")))
    end)
  end)
end

describe("the arguments of a tool call", function()
  it("have their characters rejoined", function()
    local reader = openai.reader({}, { model = "m" })
    reader:head(200, {})
    for _, part in ipairs({ '{\\"a\\":\\"\\ud83d', '\\ude00\\"}' }) do
      reader:put(('data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":'
        .. '{"name":"%s","arguments":"%s"}}]}}]}\n\n'):format(part:find("a", 1, true) and "f" or "",
          part))
    end
    reader:put("data: [DONE]\n\n")
    assert.same({ a = FACE }, json.decode(reader:finish(0).tool_calls[1].arguments))
  end)

  it("have them rejoined in an answer that is not streamed", function()
    local reader = openai.reader({}, { model = "m" })
    reader:head(200, {})
    reader:put('{"choices":[{"message":{"content":"cut \\ud83d"}}]}')
    assert.equal("cut \u{fffd}", reader:finish(0).content)
  end)
end)
