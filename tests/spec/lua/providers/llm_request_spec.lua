-- What a provider sends: settings, options of the call, and fields only the server knows.

local anthropic = require("society.llm.anthropic")
local json = require("society.json")
local model = require("model")
local openai = require("society.llm.openai")
local scene = require("scene")

local SETTINGS = { base_url = "http://x", model = "m" }

-- The body a provider sends.
local function body(provider, chat, more)
  local settings = {}
  for name, value in pairs(SETTINGS) do
    settings[name] = value
  end
  for name, value in pairs(more or {}) do
    settings[name] = value
  end
  chat.messages = chat.messages or { { role = "user", content = "x" } }
  local request, err = provider.request(chat, settings)
  return request and json.decode(request.body), err
end

for _, provider in ipairs({ openai, anthropic }) do
  describe("a request of " .. provider.name, function()
    it("has max_tokens from the settings or the call", function()
      assert.equal(77, body(provider, {}, { max_tokens = 77 }).max_tokens)
      assert.equal(5, body(provider, { max_tokens = 5 }, { max_tokens = 77 }).max_tokens)
    end)

    it("has the settings' options, then the call's, and none over the host's own",
      function()
        local sent = body(provider, { options = { top_p = 0.5, model = "other" } },
          { options = { top_p = 0.1, top_k = 3, temperature = 0.2 } })
        assert.same({ 0.5, 3, 0.2, "m" }, { sent.top_p, sent.top_k, sent.temperature, sent.model })
        assert.equal(0.9, body(provider, { temperature = 0.9 },
          { options = { temperature = 0.2 } }).temperature)
      end)
  end)
end

describe("tool_choice", function()
  it("is written as each server expects it", function()
    for given, expected in pairs({
      auto = { "auto", { type = "auto" } },
      none = { "none", { type = "none" } },
      required = { "required", { type = "any" } },
    }) do
      assert.same(expected[1], body(openai, { tool_choice = given }).tool_choice)
      assert.same(expected[2], body(anthropic, { tool_choice = given }).tool_choice)
    end
    local named = { type = "function", ["function"] = { name = "look" } }
    for _, given in ipairs({ { name = "look" }, named }) do
      assert.same(named, body(openai, { tool_choice = given }).tool_choice)
      assert.same({ type = "tool", name = "look" },
        body(anthropic, { tool_choice = given }).tool_choice)
    end
    assert.same({ type = "any", disable_parallel_tool_use = true }, body(anthropic,
      { tool_choice = { type = "any", disable_parallel_tool_use = true } }).tool_choice)
  end)

  it("that Anthropic lacks is refused, and so is response_format", function()
    for text, chat in pairs({
      ['tool_choice is "auto", "none", "required"'] = { tool_choice = "often" },
      ["anthropic has no response_format"] = { response_format = { type = "json_object" } },
    }) do
      local sent, err = body(anthropic, chat)
      assert.is_nil(sent)
      assert.equal("bad_request", err.error)
      assert.is_false(err.retryable)
      assert.matches(text, err.message, 1, true)
    end
  end)
end)

describe("an agent's chat", function()
  after_each(scene.close)

  it("passes options and max_tokens to the server", function()
    local s, seen = model.ask(function() return model.say("ok") end, { config = { llm = {
      provider = "openai", model = "m", max_tokens = 9, options = { seed = 7 } } } },
      { messages = { { role = "user", content = "x" } }, options = { top_p = 1 } })
    scene.tell(s, "root", { text = "x" })
    local sent = json.decode(seen.requests[1].body)
    assert.same({ 9, 7, 1 }, { sent.max_tokens, sent.seed, sent.top_p })
  end)

  it("fails immediately, and once, on what a provider refuses", function()
    local s, seen = model.ask(function() return model.say("ok") end, { config = { llm = {
      provider = "anthropic", model = "m" } } }, { response_format = { type = "json_object" },
      messages = { { role = "user", content = "x" } } })
    scene.tell(s, "root", { text = "x" })
    assert.equal("bad_request", seen.results[1].err.error)
    assert.equal(1, seen.results[1].err.tries)
    assert.equal(0, #seen.requests)
  end)
end)

describe("a streamed answer", function()
  local function event(value)
    return ("event: %s\ndata: %s\n\n"):format(value.type, json.encode(value))
  end

  it("is passed on piece by piece by either provider, and is complete in the end", function()
    local chunks = {
      [openai] = { model.stream(model.delta("Hel")), model.stream(model.delta("lo"), "[DONE]") },
      [anthropic] = {
        event({ type = "content_block_start", content_block = { type = "text", text = "" } })
          .. event({ type = "content_block_delta", delta = { type = "text_delta", text = "Hel" } }),
        event({ type = "content_block_delta", delta = { type = "text_delta", text = "lo" } })
          .. event({ type = "content_block_start", content_block = { type = "tool_use", id = "c",
            name = "t", input = {} } })
          .. event({ type = "content_block_delta", delta = { type = "input_json_delta",
            partial_json = "{}" } })
          .. event({ type = "message_stop" }),
      },
    }
    for provider, list in pairs(chunks) do
      local reader = provider.reader({}, SETTINGS)
      reader:head(200, model.SSE)
      assert.same({ "Hel", "lo" }, { reader:put(list[1]), reader:put(list[2]) })
      assert.equal("Hello", reader:finish(0).content)
    end
  end)
end)
