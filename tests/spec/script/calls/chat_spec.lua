-- agent:chat in a simulated world: what it sends, how it reads the answer, and what happens
-- to a call when something goes wrong.

local json = require("society.json")
local model = require("model")
local scene = require("scene")

local ask, delta, say, stream, SSE = model.ask, model.delta, model.say, model.stream, model.SSE

describe("agent:chat", function()
  after_each(scene.close)

  it("sends what a chat completions server expects, without a key", function()
    local s, seen = ask(function() return say("hi") end, nil, {
      system = "be kind", temperature = 0.5, max_tokens = 50,
      messages = { { role = "user", content = "6 * 7?" },
        { role = "assistant", content = "", tool_calls = {
          { id = "c1", name = "multiply", arguments = '{"a":6}' } } },
        { role = "tool", tool_call_id = "c1", content = "42" } },
      tools = { { name = "multiply", description = "multiplies",
        parameters = { type = "object" } } },
    })
    scene.tell(s, "root")
    local request = seen.requests[1]
    assert.equal("https://api.openai.com/v1/chat/completions", request.url)
    assert.equal("OPENAI_API_KEY", request.secret)
    assert.is_nil(request.headers.Authorization)
    local body = assert(json.decode(request.body))
    assert.same({ "system", "user", "assistant", "tool" },
      { body.messages[1].role, body.messages[2].role, body.messages[3].role,
        body.messages[4].role })
    assert.same({ id = "c1", type = "function",
      ["function"] = { name = "multiply", arguments = '{"a":6}' } },
      body.messages[3].tool_calls[1])
    assert.equal("c1", body.messages[4].tool_call_id)
    assert.equal("multiply", body.tools[1]["function"].name)
    assert.is_true(body.stream)
    assert.equal("test-model", body.model)
    assert.equal(0.5, body.temperature)
  end)

  it("returns the model's message and its usage", function()
    local s, seen = ask(function() return say("hello") end)
    scene.tell(s, "root")
    local answer = seen.results[1].answer
    assert.equal("assistant", answer.role)
    assert.equal("hello", answer.content)
    assert.equal("stop", answer.finish_reason)
    assert.same({ input_tokens = 10, output_tokens = 5 }, answer.usage)
    assert.same({ { agent = "root", calls = 1, cost = 0.0, input_tokens = 10, output_tokens = 5,
      model = "test-model" } }, s:usage())
  end)

  it("assembles tool calls from their pieces, wherever the stream is cut", function()
    local function call(index, id, name, arguments)
      return { choices = json.array({ { index = 0, delta = { tool_calls = json.array({ {
        index = index, id = id, ["function"] = { name = name, arguments = arguments } } }) } } }) }
    end
    local text = stream(delta("let me "), delta("see"), call(0, "a", "add", ""),
      call(0, nil, nil, '{"x"'), call(1, "b", "sub", '{}'), call(0, nil, nil, ":\"\u{4e2d}\"}"),
      delta(nil, "tool_calls"), "[DONE]")
    for cut = 1, #text, 7 do
      local s, seen = ask(function()
        return { headers = SSE, body = { text:sub(1, cut), text:sub(cut + 1) } }
      end)
      scene.tell(s, "root")
      local answer = seen.results[1].answer
      assert.equal("let me see", answer.content)
      assert.same({ { id = "a", name = "add", arguments = '{"x":"\u{4e2d}"}' },
        { id = "b", name = "sub", arguments = "{}" } }, answer.tool_calls)
      assert.equal("tool_calls", answer.finish_reason)
      assert.is_true(answer.usage.is_estimated)
      scene.close()
    end
  end)

  it("reads an answer that is not streamed", function()
    local s, seen = ask(function()
      return { headers = { ["content-type"] = "application/json" }, body = json.encode({
        choices = json.array({ { message = { role = "assistant", content = "whole" },
          finish_reason = "length" } }), usage = { prompt_tokens = 3, completion_tokens = 1 } }) }
    end)
    scene.tell(s, "root")
    assert.equal("whole", seen.results[1].answer.content)
    assert.equal("length", seen.results[1].answer.finish_reason)
  end)

  it("supports Anthropic's API", function()
    local function event(value)
      return ("event: %s\ndata: %s\n\n"):format(value.type, json.encode(value))
    end
    local s, seen = ask(function()
      return { headers = SSE, body = event({ type = "message_start", message = {
          model = "claude-x", usage = { input_tokens = 7, output_tokens = 1 } } })
        .. event({ type = "content_block_start", index = 0,
          content_block = { type = "text", text = "" } })
        .. event({ type = "ping" })
        .. event({ type = "content_block_delta", index = 0,
          delta = { type = "text_delta", text = "ok" } })
        .. event({ type = "content_block_stop", index = 0 })
        .. event({ type = "content_block_start", index = 1,
          content_block = { type = "tool_use", id = "t1", name = "look", input = {} } })
        .. event({ type = "content_block_delta", index = 1,
          delta = { type = "input_json_delta", partial_json = '{"at"' } })
        .. event({ type = "content_block_delta", index = 1,
          delta = { type = "input_json_delta", partial_json = ":1}" } })
        .. event({ type = "message_delta", delta = { stop_reason = "tool_use" },
          usage = { output_tokens = 9 } })
        .. event({ type = "message_stop" }) }
    end, { config = { llm = { provider = "anthropic" } } }, {
      system = "s", tools = { { name = "look" } },
      messages = { { role = "user", content = "a" },
        { role = "assistant", content = "b", tool_calls = {
          { id = "t0", name = "look", arguments = "{}" } } },
        { role = "tool", tool_call_id = "t0", content = "seen" },
        { role = "user", content = "c" } },
    })
    scene.tell(s, "root")
    local request = seen.requests[1]
    assert.equal("https://api.anthropic.com/v1/messages", request.url)
    assert.equal("ANTHROPIC_API_KEY", request.secret)
    local body = json.decode(request.body)
    assert.equal("s", body.system)
    assert.equal(3, #body.messages)
    assert.same({ { type = "tool_result", tool_use_id = "t0", content = "seen" },
      { type = "text", text = "c" } }, body.messages[3].content)
    local answer = seen.results[1].answer
    assert.equal("ok", answer.content)
    assert.same({ { id = "t1", name = "look", arguments = '{"at":1}' } }, answer.tool_calls)
    assert.same({ input_tokens = 7, output_tokens = 9 }, answer.usage)
    assert.equal("tool_calls", answer.finish_reason)
  end)
end)

describe("agent:chat when the server fails", function()
  after_each(scene.close)

  local function refuse(status, headers, body)
    return { status = status, headers = headers or {}, body = body or
      json.encode({ error = { message = "no" } }) }
  end

  for _, case in ipairs({
    { name = "401", reply = refuse(401), error = "invalid_key", tries = 1 },
    { name = "404", reply = refuse(404), error = "model_not_found", tries = 1 },
    { name = "400", reply = refuse(400), error = "bad_request", tries = 1 },
    { name = "400 for a long context", reply = refuse(400, nil, json.encode({ error = {
      message = "too long", code = "context_length_exceeded" } })),
      error = "context_too_long", tries = 1 },
    { name = "429 for want of money", reply = refuse(429, nil, json.encode({ error = {
      message = "pay", code = "insufficient_quota" } })), error = "quota_exceeded", tries = 1 },
    { name = "429", reply = refuse(429), error = "rate_limited", tries = 5 },
    { name = "500", reply = refuse(500), error = "model_unavailable", tries = 5 },
    { name = "529 without a body", reply = refuse(529, nil, ""), error = "model_unavailable",
      tries = 5 },
    { name = "a cut connection", reply = { headers = SSE, body = stream(delta("ha")),
      error = "connection_cut" }, error = "connection_cut", tries = 5 },
    { name = "a stream that just ends", reply = { headers = SSE, body = stream(delta("ha")) },
      error = "connection_cut", tries = 5 },
    { name = "garbage", reply = { headers = SSE, body = "data: {{{\n\n" }, error = "bad_answer",
      tries = 5 },
    { name = "HTML", reply = { headers = { ["content-type"] = "text/html" }, body = "<p>" },
      error = "bad_answer", tries = 5 },
    { name = "an error in the stream", reply = { headers = SSE, body = stream({ error = {
      message = "overloaded", type = "overloaded_error" } }) }, error = "model_unavailable",
      tries = 5 },
    { name = "a prompt that is too long, in words", reply = refuse(400, nil, json.encode({
      type = "error", error = { type = "invalid_request_error",
        message = "prompt is too long: 250000 tokens > 200000 maximum" } })),
      error = "context_too_long", tries = 1 },
    { name = "a code of null beside a type", reply = refuse(400, nil, json.encode({ error = {
      message = "slow down", type = "rate_limit_error", code = json.null } })),
      error = "rate_limited", tries = 5 },
    { name = "a rate limit in the stream", reply = { headers = SSE, body = stream({ error = {
      message = "slow down", code = "rate_limit_exceeded" } }) }, error = "rate_limited",
      tries = 5 },
    { name = "a status in the stream", reply = { headers = SSE, body = stream({ error = {
      message = "slow down", code = 429 } }) }, error = "rate_limited", tries = 5 },
    { name = "a refusal in the stream", reply = { headers = SSE, body = stream({ error = {
      message = "no", code = "401" } }) }, error = "invalid_key", tries = 1 },
    { name = "a body that is no text", reply = refuse(401, nil, "\xff\xfe"),
      error = "invalid_key", tries = 1 },
    { name = "a certificate", reply = { error = "tls_failed" }, error = "tls_failed", tries = 1 },
  }) do
    it("reports " .. case.name .. " as such, and stops", function()
      local s, seen = ask(function() return case.reply end)
      scene.tell(s, "root")
      local err = seen.results[1].err
      assert.equal(case.error, err.error)
      assert.equal(case.tries, #seen.requests)
      assert.equal(case.tries, err.tries)
      assert.equal(1, #seen.results)
    end)
  end

  it("continues when the failure passes, with the same key for every try", function()
    local s, seen = ask(function(_, n) return n < 3 and refuse(503) or say("at last") end)
    scene.tell(s, "root")
    assert.equal("at last", seen.results[1].answer.content)
    assert.equal(seen.requests[1].call, seen.requests[3].call)
  end)

  it("waits as long as the server says, and longer each time", function()
    local times, s, seen = {}
    s, seen = ask(function(_, n)
      times[#times + 1] = s:now()
      return n == 1 and refuse(429, { ["retry-after"] = "7" }) or n < 4 and refuse(500)
        or say("ok")
    end)
    scene.tell(s, "root")
    assert.is_true(times[2] - times[1] >= 7000)
    assert.is_true(times[3] - times[2] >= 500 and times[3] - times[2] <= 1010)
    assert.is_true(times[4] - times[3] >= 1000 and times[4] - times[3] <= 2010)
    assert.equal("ok", seen.results[1].answer.content)
  end)

  it("obeys a date in Retry-After", function()
    local failure = require("society.llm.failure")
    assert.equal(90000, failure.retry_after({ ["retry-after"] = "Thu, 01 Jan 1970 00:01:30 GMT" },
      0))
    assert.equal(1500, failure.retry_after({ ["retry-after"] = "1.5" }, 0))
    assert.equal(0, failure.retry_after({ ["retry-after"] = "Thu, 01 Jan 1970 00:01:30 GMT" },
      1e12))
    assert.is_nil(failure.retry_after({ ["retry-after"] = "soon" }, 0))
    assert.equal(1767225600000 - 1767220000000, failure.retry_after(
      { ["retry-after"] = "Thu, 01 Jan 2026 00:00:00 GMT" }, 1767220000000))
  end)

  it("obeys a Retry-After of hours, if its own time allows", function()
    local times, s, seen = {}
    s, seen = ask(function(_, n)
      times[#times + 1] = s:now()
      return n == 1 and refuse(429, { ["retry-after"] = "7200" }) or say("ok")
    end, nil, { messages = { { role = "user", content = "x" } }, timeout_ms = 36000000 })
    scene.tell(s, "root")
    assert.equal("ok", seen.results[1].answer.content)
    assert.is_true(times[2] - times[1] >= 7200000, times[2] - times[1] .. " ms")
    scene.close()
    s, seen = ask(function() return refuse(429, { ["retry-after"] = "7200" }) end)
    scene.tell(s, "root")
    assert.equal(7200000, seen.results[1].err.retry_after_ms)
    assert.equal(1, #seen.requests)
    local failure = require("society.llm.failure")
    assert.equal(30 * 86400000, failure.retry_after({ ["retry-after"] = "1e300" }, 0))
  end)

  it("gives up when its time is over, and asks no more", function()
    local s, seen = ask(function() return refuse(500) end, nil,
      { messages = { { role = "user", content = "x" } }, timeout_ms = 600 })
    scene.tell(s, "root")
    s:advance(600000)
    assert.equal("timeout", seen.results[1].err.error)
    assert.is_true(#seen.requests <= 2)
  end)
end)
