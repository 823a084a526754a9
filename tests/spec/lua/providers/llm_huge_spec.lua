-- Huge answers and messages: a named error, once.
--
-- Covers: core/script/calls/chat_show.c

local json = require("society.json")
local model = require("model")
local scene = require("scene")
local thinkers = require("thinkers")

local MB = 1024 * 1024
local LIMITS = { agent_tokens = 0, task_tokens = 0, society_tokens = 0 }

local function openai_call(index, arguments)
  return { choices = json.array({ { index = 0, delta = { tool_calls = json.array({ { index = index,
    id = "c" .. index, ["function"] = { name = "f", arguments = arguments } } }) } } }) }
end

local function event(value)
  return ("event: %s\ndata: %s\n\n"):format(value.type, json.encode(value))
end

-- What a server says with so many calls, each with such arguments, or with a text.
local SAY = {
  openai = function(content, count, arguments)
    local parts = { model.delta(content) }
    for index = 1, count do
      parts[#parts + 1] = openai_call(index - 1, arguments)
    end
    local texts = {}
    for index, part in ipairs(parts) do
      texts[index] = model.stream(part)
    end
    return table.concat(texts) .. model.stream(model.delta(nil, "stop"), "[DONE]")
  end,
  anthropic = function(content, count, arguments)
    local texts = { event({ type = "message_start", message = { model = "m",
      usage = { input_tokens = 7, output_tokens = 1 } } }) }
    local function block(index, start, delta)
      texts[#texts + 1] = event({ type = "content_block_start", index = index,
        content_block = start })
      texts[#texts + 1] = event({ type = "content_block_delta", index = index, delta = delta })
    end
    block(0, { type = "text", text = "" }, { type = "text_delta", text = content })
    for index = 1, count do
      block(index, { type = "tool_use", id = "c" .. index, name = "f", input = {} },
        { type = "input_json_delta", partial_json = arguments })
    end
    return table.concat(texts) .. event({ type = "message_stop" })
  end,
}

-- Calls a model that says that; returns the error and how often it was called.
local function ask(provider, content, count, arguments)
  local calls = 0
  local function answers()
    calls = calls + 1
    local list = {}
    for index = 1, count do
      list[index] = { name = "f", arguments = arguments }
    end
    return { content = content, tool_calls = list }
  end
  local s, seen = model.ask(function()
    calls = calls + 1
    return { headers = model.SSE, body = SAY[provider](content, count, arguments) }
  end, { config = { llm = { provider = provider, answers = answers, limits = LIMITS } } })
  scene.tell(s, "root")
  assert.equal(1, s:usage()[1].calls)
  return seen.results[1], calls, s
end

describe("a huge answer", function()
  after_each(scene.close)

  for _, provider in ipairs({ "openai", "anthropic", "scripted" }) do
    it(("in its text fails the call of %s"):format(provider), function()
      local result, calls, s = ask(provider, ("x"):rep(2 * MB), 0)
      assert.equal("answer_too_large", result.err.error)
      assert.matches("the limit is 1048576", result.err.message, 1, true)
      assert.same({ 1, 1 }, { calls, result.err.tries })
      assert.is_true(s:usage()[1].output_tokens > 0) -- it is paid for all the same
    end)

    it(("in its arguments fails the call of %s"):format(provider), function()
      local result, calls = ask(provider, "", 1, json.encode({ a = ("y"):rep(3 * MB // 2) }))
      assert.equal("answer_too_large", result.err.error)
      assert.equal(1, calls)
    end)

    it(("of 12000 tool calls fails the call of %s"):format(provider), function()
      local result, calls = ask(provider, "", 12000, "{}")
      assert.equal("answer_too_large", result.err.error)
      assert.matches("tools at once; the limit is 256", result.err.message, 1, true)
      assert.equal(1, calls)
    end)

    it(("of just the maximum size is accepted from %s"):format(provider), function()
      local result = ask(provider, ("x"):rep(MB - 100000), 256, "{}")
      assert.equal(MB - 100000, #result.answer.content)
      assert.equal(256, #result.answer.tool_calls)
    end)
  end
end)

describe("a thinking agent", function()
  after_each(scene.close)

  -- Asks ann, whose model says `answer`: her reply, and what the model was shown.
  local function think(answer, text)
    local asked = {}
    local s = thinkers.think(function(request)
      asked[#asked + 1] = request.messages[#request.messages].content
      return answer
    end, { llm = { limits = LIMITS } })
    return thinkers.last(thinkers.ask(s, text)).payload, asked
  end

  it("is stopped by an answer that is too large, and says so", function()
    local result, asked = think({ content = ("z"):rep(2 * MB) })
    assert.equal("answer_too_large", result.guard)
    assert.equal(1, #asked)
  end)

  it("is shown the beginning of a message that is too large", function()
    local result, asked = think({ content = "fine" }, ("\u{4e2d}"):rep(MB))
    assert.equal("fine", result.text)
    assert.equal(1, #asked)
    assert.is_true(#asked[1] < 200000)
    assert.is_truthy(utf8.len(asked[1]))
    assert.matches("the rest is left out", asked[1], 1, true)
  end)
end)
