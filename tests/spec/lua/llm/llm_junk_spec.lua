-- A model's server that sends junk: it is refused before it takes long to read, and nobody
-- pays for it.

local json = require("society.json")
local model = require("model")
local scene = require("scene")

local LLM = { provider = "openai", model = "test-model", retries_max = 0,
  prices = { ["test-model"] = { input = 1, output = 1 } } }

-- What comes of a call that a server answers so: the answer, the error, and the usage.
local function ask(answer, chat)
  local s, seen = model.ask(function() return answer end, { config = { llm = LLM } }, chat)
  scene.tell(s, "root")
  local result = seen.results[1]
  return result.answer, result.err, s:usage()
end

local function stream(body)
  return { status = 200, headers = model.SSE, body = body }
end

local function call(part)
  return json.encode({ choices = json.array({ { index = 0, delta = {
    tool_calls = json.array({ { index = 0, ["function"] = part } }) } } }) })
end

describe("a stream", function()
  local END = model.stream(model.delta("hi", "stop"), "[DONE]")

  it("may have some comments, empty lines and unknown fields, but not for ever", function()
    for _, junk in ipairs({ ": alive\n", "\n", "x:y\n" }) do
      local answer = ask(stream(junk:rep(1000) .. END))
      assert.equal("hi", answer.content)
      local _, err = ask(stream(junk:rep(300000) .. END))
      assert.equal("bad_answer", err.error)
      assert.matches("comments and empty lines, but no events", err.message)
    end
  end)

  it("has events of 3 MB at most", function()
    local _, err = ask(stream("data: " .. ("x"):rep(3 * 1024 * 1024 + 1) .. "\n\n" .. END))
    assert.matches("an event is larger than it may be", err.message)
  end)

  it("has events of so many values", function()
    local _, err = ask(stream("data: [" .. ("1,"):rep(200000) .. "1]\n\n" .. END))
    assert.matches("more values than an answer can have", err.message)
  end)

  it("names no tool by an endless name", function()
    local _, err = ask(stream(("data: " .. call({ name = "abcdefgh", arguments = "" }) .. "\n\n")
      :rep(100) .. END))
    assert.matches("a tool call whose name is too long", err.message)
  end)
end)

describe("an answer that is no stream", function()
  it("has 3 MB at most", function()
    local _, err = ask({ status = 200, headers = {}, body = "{" .. (" "):rep(3 * 1024 * 1024) })
    assert.equal("answer_too_large", err.error)
  end)

  it("of an error is read from its beginning", function()
    local _, err = ask({ status = 400, headers = {}, body = "no way " .. ("x"):rep(1000000) })
    assert.equal("bad_request", err.error)
    assert.matches("no way x", err.message)
  end)
end)

describe("a server's usage", function()
  local ABSURD = { prompt_tokens = 900000000000, completion_tokens = 900000000000 }

  it("counts no more than was asked for", function()
    local answer, _, used = ask(model.say("hi", ABSURD), { max_tokens = 50,
      messages = { { role = "user", content = "hi" } } })
    assert.equal(50, answer.usage.output_tokens)
    assert.is_true(answer.usage.input_tokens < 20000)
    assert.equal(50, used[1].output_tokens)
  end)

  it("counts no more than any answer has if nothing was asked for", function()
    assert.equal(1000000, ask(model.say("hi", ABSURD)).usage.output_tokens)
  end)

  it("is bounded in the same way if it is estimated, or the answer is lost", function()
    local text = ("word "):rep(1000)
    local chat = { max_tokens = 50, messages = { { role = "user", content = "hi" } } }
    local answer = ask(stream(model.stream(model.delta(text, "stop"), "[DONE]")), chat)
    assert.equal(50, answer.usage.output_tokens)
    assert.is_true(answer.usage.is_estimated)
    local _, err, used = ask({ status = 200, headers = model.SSE,
      body = model.stream(model.delta(text)), error = "connection_cut" }, chat)
    assert.equal("connection_cut", err.error)
    local sum = 0
    for _, row in ipairs(used) do
      sum = sum + row.output_tokens
    end
    assert.equal(50, sum)
  end)
end)
