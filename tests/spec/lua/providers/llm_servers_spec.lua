-- Legitimate variations between servers.

local model = require("model")
local scene = require("scene")

local JSON = { ["content-type"] = "application/json" }

-- The outcome of a chat whose server answers so, and the requests it got.
local function hear(provider, answer, llm)
  llm = llm or {}
  llm.provider, llm.model, llm.retries_max = provider, "m", 2
  local s, seen = model.ask(function() return answer end, { config = { llm = llm } })
  scene.tell(s, "root", "?")
  return seen.results[1].answer, seen.results[1].err, seen.requests, s
end

-- A complete answer.
local WHOLE = {
  openai = '{"choices":[{"message":{"content":"yes"}}],'
    .. '"usage":{"prompt_tokens":1,"completion_tokens":1}}',
  anthropic = '{"content":[{"type":"text","text":"yes"}],'
    .. '"usage":{"input_tokens":1,"output_tokens":1}}',
}

describe("a server", function()
  after_each(scene.close)

  for _, provider in ipairs({ "anthropic", "openai" }) do
    it(("of %s may answer with any success status"):format(provider), function()
      for _, status in ipairs({ 200, 201, 203, 299 }) do
        local answer, err = hear(provider, { status = status, headers = JSON,
          body = WHOLE[provider] })
        assert.is_nil(err)
        assert.equal("yes", answer.content)
        scene.close()
      end
      local stream = model.say("yes")
      stream.status = 201
      local answer = hear("openai", stream)
      assert.equal("yes", answer.content)
    end)

    it(("of %s that returns no content, or redirects, has not answered"):format(provider),
      function()
        local _, err, requests, s = hear(provider, { status = 204 })
        assert.same({ "bad_answer", 3 }, { err.error, #requests })
        local tokens = 0
        for _, row in ipairs(s:usage()) do
          tokens = tokens + row.input_tokens
        end
        assert.is_true(tokens > 0) -- a model was reached
        _, err, requests = hear(provider, { status = 302, headers = JSON, body = WHOLE[provider] })
        assert.same({ "bad_request", 302, 1 }, { err.error, err.status, #requests })
      end)
  end

  it("has the configured address, with or without the common part of its paths", function()
    for base, expected in pairs({
      ["http://x/v1"] = "http://x/v1/chat/completions",
      ["http://x/v1//"] = "http://x/v1/chat/completions",
      ["http://x"] = "http://x/chat/completions",
      ["http://x/a/?api-version=3"] = "http://x/a/chat/completions?api-version=3",
      ["http://x?a=/b/"] = "http://x/chat/completions?a=/b/",
      ["http://[::1]:8080/v1"] = "http://[::1]:8080/v1/chat/completions",
    }) do
      local _, _, requests = hear("openai", { status = 400 }, { base_url = base })
      assert.equal(expected, requests[1].url)
      scene.close()
    end
    for base, expected in pairs({
      ["http://x"] = "http://x/v1/messages", ["http://x/"] = "http://x/v1/messages",
      ["http://x/v1"] = "http://x/v1/messages", ["http://x/v1/"] = "http://x/v1/messages",
      ["http://x/av1"] = "http://x/av1/v1/messages",
      ["http://x/v1?a=b"] = "http://x/v1/messages?a=b",
    }) do
      local _, _, requests = hear("anthropic", { status = 400 }, { base_url = base })
      assert.equal(expected, requests[1].url)
      scene.close()
    end
  end)

  it("may report in its own words, or by its own code, that the context is too long", function()
    for _, body in ipairs({
      '{"error":{"code":400,"type":"exceed_context_size_error","message":"no"}}',
      '{"error":{"message":"the request exceeds the available context size"}}',
      '[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number '
        .. 'of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]',
    }) do
      local _, err = hear("openai", { status = 400, headers = JSON, body = body })
      assert.equal("context_too_long", err.error)
      scene.close()
    end
  end)

  it("may put its error into a list", function()
    local body = '[{"error":{"code":"insufficient_quota","message":"no more"}}]'
    local _, err, requests = hear("openai", { status = 429, headers = JSON, body = body })
    assert.same({ "quota_exceeded", "the model's server says 429: no more", 1 },
      { err.error, err.message, #requests })
    scene.close()
    for _, odd in ipairs({ "[]", "[7]", '["x"]', "[null]" }) do
      _, err = hear("openai", { status = 400, headers = JSON, body = odd })
      assert.same({ "bad_request", "the model's server says 400: " .. odd },
        { err.error, err.message })
      scene.close()
    end
  end)

  it("may send empty events to keep the connection alive", function()
    for provider, events in pairs({
      openai = { "", model.delta("y"), " ", model.delta("es", "stop"), "" },
      anthropic = { "", '{"type":"content_block_start","content_block":{"type":"text",'
        .. '"text":"yes"}}', " ", '{"type":"message_stop"}', "" },
    }) do
      local answer, err = hear(provider, { status = 200, headers = model.SSE,
        body = model.stream(table.unpack(events)) })
      assert.is_nil(err)
      assert.equal("yes", answer.content)
      scene.close()
    end
  end)
end)
