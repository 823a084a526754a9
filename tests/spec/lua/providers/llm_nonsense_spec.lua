-- Servers that answer 200 with nonsense: it is reported as such and retried; an odd but
-- valid answer is accepted.

local json = require("society.json")
local model = require("model")
local scene = require("scene")

local JSON = { ["content-type"] = "application/json" }

-- The outcome of a chat whose server says that, and how often it was called.
local function hear(provider, headers, body)
  local s, seen = model.ask(function() return { status = 200, headers = headers, body = body } end,
    { config = { llm = { provider = provider, model = "m", retries_max = 2 } } })
  scene.tell(s, "root", "?")
  return seen.results[1].answer, seen.results[1].err, #seen.requests
end

local function events(...)
  return model.stream(...)
end

-- A complete answer of openai's with such a message; the members of it.
local function message(members)
  return ('{"choices":[{"message":{%s},"finish_reason":"stop"}]}'):format(members)
end

-- One that calls, more or less.
local function called(part)
  return message(('"tool_calls":[{"id":"c","function":%s}]'):format(part))
end

local NONSENSE = {
  openai = {
    { JSON, message('"content":7') },
    { JSON, message('"content":false') },
    { JSON, message('"content":{"text":"x"}') },
    { JSON, message('"content":["x"]') },
    { JSON, message('"content":[{"type":"text","text":7}]') },
    { JSON, message('"content":"x","tool_calls":{"id":"c"}') },
    { JSON, message('"content":"x","tool_calls":"f"') },
    { JSON, called('"f"') },
    { JSON, called('{"name":{"a":1},"arguments":"{}"}') },
    { JSON, called('{"name":"","arguments":"{}"}') },
    { JSON, called('{"arguments":"{}"}') },
    { JSON, called('{"name":"f","arguments":7}') },
    { JSON, called('{"name":"f","arguments":[1]}') },
    { model.SSE, events('{"choices":[{"delta":{"content":7}}]}', "[DONE]") },
    { JSON, '{"status":"ok"}' },
    { JSON, "[]" },
    { JSON, '{"choices":{}}' },
    { JSON, '{"choices":[{"text":"legacy"}]}' },
    { JSON, '{"choices":[{"message":null}]}' },
    { JSON, '{"choices":[{"finish_reason":"stop"}]}' },
    { JSON, '{"choices":null}' },
    { model.SSE, events("[]", "[DONE]") },
    { model.SSE, events('{"choices":{}}', "[DONE]") },
    { model.SSE, events('{"choices":[{"text":"legacy"}]}', "[DONE]") },
    { model.SSE, events('{"choices":[{"text":"legacy","finish_reason":"stop"}]}', "[DONE]") },
    { model.SSE, events("[DONE]") },
    { model.SSE, events('{"choices":[],"usage":{"prompt_tokens":1}}', "[DONE]") },
  },
  anthropic = {
    { model.SSE, events('{"type":"content_block_start","index":0}', '{"type":"message_stop"}') },
    { model.SSE, events('{"type":"content_block_start","content_block":7}',
      '{"type":"message_stop"}') },
    { model.SSE, events('{"type":"content_block_start","content_block":{"type":"text","text":{}}}',
      '{"type":"message_stop"}') },
    { model.SSE, events('{"type":"content_block_start","content_block":{"type":"text"}}',
      '{"type":"content_block_delta","delta":{"text":{}}}', '{"type":"message_stop"}') },
    { model.SSE, events('{"type":"content_block_start","content_block":{"type":"tool_use",'
      .. '"name":"f","input":{}}}', '{"type":"message_stop"}') },
    { model.SSE, events('{"type":"content_block_start","content_block":{"type":"tool_use",'
      .. '"id":"c","name":"f","input":"x"}}', '{"type":"message_stop"}') },
    { model.SSE, events('{"type":"content_block_delta","delta":{"text":"x"}}',
      '{"type":"message_stop"}') },
    { model.SSE, events('{"type":"content_block_start","index":0,"content_block":{"type":"text"}}',
      '{"type":"content_block_delta","index":1,"delta":{"text":"x"}}', '{"type":"message_stop"}') },
    { model.SSE, events('{"type":"message_stop"}') },
    { model.SSE, events("7") },
    { JSON, '{"status":"ok"}' },
    { JSON, '{"content":[7]}' },
    { JSON, '{"content":[{"type":"tool_use","name":"f"}]}' },
    { JSON, '{"content":[{"type":"tool_use","id":"c","name":""}]}' },
    { JSON, '{"content":{"a":1}}' },
  },
}

describe("an invalid answer", function()
  after_each(scene.close)

  for provider, list in pairs(NONSENSE) do
    for _, case in ipairs(list) do
      local shown = case[2]:gsub("%s+", " "):sub(1, 90)
      it(("of %s is bad_answer, and retried: %s"):format(provider, shown), function()
        local answer, err, tries = hear(provider, case[1], case[2])
        assert.is_nil(answer)
        assert.equal("bad_answer", err.error)
        assert.equal(3, tries)
        assert.is_nil(err.message:find(".lua", 1, true))
      end)
    end
  end
end)

describe("an odd answer", function()
  after_each(scene.close)

  local START = '{"type":"message_start","message":{"model":null,"usage":{"input_tokens":%s}}}'
  local WORD = '{"type":"content_block_start","content_block":{"type":"text","text":"hi"}}'

  it("is accepted, and its token counts only if they are possible", function()
    for _, number in ipairs({ "-5", "1e300", "9223372036854775807", '"many"', "null" }) do
      local answer, err = hear("openai", JSON, ('{"choices":[{"message":{"content":"hi"}}],'
        .. '"usage":{"prompt_tokens":%s,"completion_tokens":3}}'):format(number))
      assert.is_nil(err)
      assert.equal("hi", answer.content)
      assert.is_true(answer.usage.is_estimated)
      scene.close()
      answer, err = hear("anthropic", model.SSE, events(START:format(number), WORD,
        '{"type":"message_delta","delta":{"stop_reason":null},"usage":{"output_tokens":-1}}',
        '{"type":"message_stop"}'))
      assert.is_nil(err)
      assert.same({ "hi", "m", "stop" }, { answer.content, answer.model, answer.finish_reason })
      scene.close()
    end
  end)

  it("may have an empty message", function()
    local answer = hear("openai", JSON, '{"choices":[{"message":{"content":null}}]}')
    assert.equal("", answer.content)
    scene.close()
    answer = hear("anthropic", JSON, json.encode({ content = json.array({}) }))
    assert.equal("", answer.content)
  end)

  it("may end with a delta of null, or none, that has the finish reason", function()
    for _, delta in ipairs({ '"delta":null,', "" }) do
      local ending = ('{"choices":[{"index":0,%s"finish_reason":"length"}]}'):format(delta)
      for _, done in ipairs({ events("[DONE]"), "" }) do
        local answer, err = hear("openai", model.SSE, events(model.delta("cut"), ending) .. done)
        assert.is_nil(err)
        assert.same({ "cut", "length" }, { answer.content, answer.finish_reason })
        scene.close()
      end
    end
  end)

  it("may have its text in parts, with thoughts among them", function()
    local parts = '"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"forty"},'
      .. '{"type":"text","text":"-two"}]'
    assert.equal("forty-two", hear("openai", JSON, message(parts)).content)
    scene.close()
    local answer = hear("openai", model.SSE,
      events(('{"choices":[{"delta":{%s}}]}'):format(parts), model.delta("!", "stop"), "[DONE]"))
    assert.equal("forty-two!", answer.content)
  end)

  it("may give the arguments of a call as an object", function()
    for given, arguments in pairs({ ['{"to":"bob","amount":5}'] = '{"amount":5,"to":"bob"}',
      ["{}"] = "{}", ["[]"] = "{}", ["null"] = "", ['"{}"'] = "{}" }) do
      local answer = hear("openai", JSON, called(('{"name":"f","arguments":%s}'):format(given)))
      assert.same({ { id = "c", name = "f", arguments = arguments } }, answer.tool_calls)
      scene.close()
    end
  end)

  it("may number none of its tool calls", function()
    for _, index in ipairs({ "", '"index":null,' }) do
      local function call(rest)
        return ('{"choices":[{"delta":{"tool_calls":[{%s%s}]}}]}'):format(index, rest)
      end
      local answer = hear("openai", model.SSE, events(
        call('"id":"a","function":{"name":"f","arguments":"{\\"x\\""}'),
        call('"id":"","function":{"arguments":":1}"}'),
        call('"id":"b","function":{"name":"g","arguments":"{}"}'), "[DONE]"))
      assert.same({ { id = "a", name = "f", arguments = '{"x":1}' },
        { id = "b", name = "g", arguments = "{}" } }, answer.tool_calls)
      scene.close()
    end
  end)

  it("may have any content type", function()
    local anthropic_events = events('{"type":"message_start","message":{"model":"m"}}',
      '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"yes"}}',
      '{"type":"message_stop"}')
    local bodies = {
      openai = { message('"content":"yes"'),
        events('{"choices":[{"delta":{"content":"yes"}}]}', "[DONE]") },
      anthropic = { '{"content":[{"type":"text","text":"yes"}]}', anthropic_events,
        "event: message_start\n" .. anthropic_events },
    }
    local kinds = { "Text/Event-Stream", "text/event-stream", "application/json", "text/plain",
      "application/octet-stream", "" }
    for provider, list in pairs(bodies) do
      for _, body in ipairs(list) do
        for _, before in ipairs({ "", "\n\n", ("\n"):rep(20), "\xef\xbb\xbf" }) do
          for _, kind in ipairs(kinds) do
            local answer, err, tries = hear(provider, { ["content-type"] = kind }, before .. body)
            assert.same({ "yes", nil, 1 }, { answer and answer.content, err, tries })
            scene.close()
          end
        end
      end
    end
  end)

  it("may come letter by letter under a wrong content type", function()
    local letters = {}
    for letter in events('{"choices":[{"delta":{"content":"yes"}}]}', "[DONE]"):gmatch(".") do
      letters[#letters + 1] = letter
    end
    assert.equal("yes", hear("openai", { ["content-type"] = "text/plain" }, letters).content)
  end)

  it("may have blanks around its last word", function()
    local said = '{"choices":[{"delta":{"content":"yes"}}]}'
    for _, done in ipairs({ "[DONE] ", "  [DONE]" }) do
      local answer, _, tries = hear("openai", model.SSE, events(said, done))
      assert.same({ "yes", 1 }, { answer and answer.content, tries })
      scene.close()
    end
  end)

  it("may be a refusal in its own field", function()
    for _, case in ipairs({
      { JSON, message('"content":null,"refusal":"I will not"') },
      { JSON, message('"content":[{"type":"refusal","refusal":"I will not"}],"refusal":null') },
      { model.SSE, events('{"choices":[{"delta":{"refusal":"I will"}}]}',
        '{"choices":[{"delta":{"refusal":" not"}}]}', "[DONE]") },
    }) do
      assert.equal("I will not", hear("openai", case[1], case[2]).content)
      scene.close()
    end
  end)

  it("may number its tool calls in any way", function()
    local function call(rest)
      return ('{"choices":[{"delta":{"tool_calls":[{%s}]}}]}'):format(rest)
    end
    local f, g = '"function":{"name":"f","arguments":"{\\"x\\""}',
      '"function":{"name":"g","arguments":"{}"}'
    local rest = '"function":{"arguments":":1}"}'
    for _, case in ipairs({
      -- all of them alike
      { '"index":0,"id":"a",' .. f, '"index":0,' .. rest, '"index":0,"id":"b",' .. g },
      { '"index":0,"id":"a",' .. f, '"index":0,"id":"a",' .. rest, '"index":0,"id":"b",' .. g },
      -- from one on, and with gaps
      { '"index":1,"id":"a",' .. f, '"index":3,"id":"b",' .. g, '"index":1,' .. rest },
      -- with an id for each piece
      { '"index":0,"id":"a",' .. f, '"index":0,"id":"z",' .. rest, '"index":1,"id":"b",' .. g },
    }) do
      local answer = hear("openai", model.SSE,
        events(call(case[1]), call(case[2]), call(case[3]), "[DONE]"))
      assert.same({ { id = "a", name = "f", arguments = '{"x":1}' },
        { id = "b", name = "g", arguments = "{}" } }, answer.tool_calls)
      scene.close()
    end
  end)

  it("may give its tool calls no ids", function()
    for _, index in ipairs({ "", '"index":0,' }) do
      local answer = hear("openai", JSON, ([[{"choices":[{"message":{"tool_calls":[
        {%s"function":{"name":"f","arguments":"{}"}},
        {%s"function":{"name":"g","arguments":"{}"}}]}}]}]]):format(index, index))
      assert.same({ { id = "call_1", name = "f", arguments = "{}" },
        { id = "call_2", name = "g", arguments = "{}" } }, answer.tool_calls)
      scene.close()
    end
  end)

  it("may give the name of a call in pieces", function()
    local call = '{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{%s}}]}}]}'
    local answer = hear("openai", model.SSE, events(call:format('"name":"read_","arguments":""'),
      call:format('"name":"file","arguments":""'), call:format('"arguments":"{}"'), "[DONE]"))
    assert.same({ { id = "call_1", name = "read_file", arguments = "{}" } }, answer.tool_calls)
  end)

  it("may continue any of its blocks, by number", function()
    local function start(index, block)
      return ('{"type":"content_block_start","index":%d,"content_block":%s}'):format(index, block)
    end
    local function piece(index, name, text)
      return ('{"type":"content_block_delta","index":%d,"delta":{"%s":%s}}')
        :format(index, name, json.encode(text))
    end
    local answer, err = hear("anthropic", model.SSE, events(
      start(0, '{"type":"text","text":""}'), piece(0, "text", "well"),
      start(1, '{"type":"tool_use","id":"a","name":"f","input":{}}'),
      start(2, '{"type":"tool_use","id":"b","name":"g","input":{}}'),
      piece(1, "partial_json", '{"x"'), piece(2, "partial_json", '{"y"'), piece(0, "text", "!"),
      piece(1, "partial_json", ":1}"), piece(2, "partial_json", ":2}"),
      '{"type":"message_stop"}'))
    assert.is_nil(err)
    assert.equal("well!", answer.content)
    assert.same({ { id = "a", name = "f", arguments = '{"x":1}' },
      { id = "b", name = "g", arguments = '{"y":2}' } }, answer.tool_calls)
  end)
end)
