-- The usage of calls without an answer: counted as far as it is known.

local json = require("society.json")
local model = require("model")
local scene = require("scene")

local PRICES = { m = { input = 100, output = 1000 } }

-- Calls a model in a world that answers so; returns the usage.
local function ask(world, options)
  options = options or {}
  local llm = { model = "m", retries_max = options.retries_max or 0, prices = PRICES,
    first_byte_ms = options.first_byte_ms, provider = options.provider }
  local result = {}
  local s = scene.troupe({
    root = function(root)
      local answer, err = root:chat({ timeout_ms = options.timeout_ms,
        interruptible = options.interruptible,
        messages = { { role = "user", content = ("word "):rep(100) } } })
      result.answer, result.err = result.answer or answer, result.err or err
    end,
  }, { http = world, config = { llm = llm } })
  if options.during then
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(100)
    options.during(s)
    s:run()
  else
    scene.tell(s, "root")
  end
  local used = { calls = 0, input_tokens = 0, output_tokens = 0, cost = 0 }
  for _, row in ipairs(s:usage()) do
    for name in pairs(used) do
      used[name] = used[name] + row[name]
    end
  end
  return used, result, s
end

local function half(...)
  return { status = 200, headers = model.SSE, body = model.stream(...), error = "connection_cut" }
end

describe("the usage of a call without an answer", function()
  after_each(scene.close)

  it("is estimated if it timed out", function()
    local used, result = ask(function() return { delay_ms = 30000 } end, { timeout_ms = 1000 })
    assert.equal("timeout", result.err.error)
    assert.is_true(used.input_tokens >= 100)
    assert.equal(0, used.output_tokens)
    assert.is_true(used.cost > 0)
    used, result = ask(function() return { delay_ms = 30000 } end, { first_byte_ms = 1000 })
    assert.equal("first_byte_timeout", result.err.error)
    assert.is_true(used.input_tokens >= 100)
  end)

  it("is counted if it was interrupted, or its agent is gone", function()
    local used, result = ask(function() return { delay_ms = 30000 } end, {
      interruptible = true, during = function(s)
        assert(s:send("user", { to = "root", payload = "wait" }))
      end })
    assert.equal("interrupted", result.err.error)
    assert.is_true(used.input_tokens >= 100)
  end)

  it("is what the server reported, or what had arrived, if the connection was cut", function()
    local used = ask(function()
      return half(model.delta(("four"):rep(50)), { choices = json.array({}),
        usage = { prompt_tokens = 77, completion_tokens = 33 } })
    end)
    assert.same({ 77, 33 }, { used.input_tokens, used.output_tokens })
    used = ask(function() return half(model.delta(("four"):rep(50))) end)
    assert.equal(50, used.output_tokens)
    assert.is_true(used.input_tokens >= 100)
    used = ask(function()
      return half('{"type":"message_start","message":{"usage":'
        .. '{"input_tokens":55,"output_tokens":1}}}')
    end, { provider = "anthropic" })
    assert.same({ 55, 1 }, { used.input_tokens, used.output_tokens })
  end)

  it("adds up over the tries, beside the answer", function()
    local used, result = ask(function()
      return half(model.delta("x"), { choices = json.array({}),
        usage = { prompt_tokens = 10, completion_tokens = 1 } })
    end, { retries_max = 2 })
    assert.equal("connection_cut", result.err.error)
    assert.same({ 30, 3, 1 }, { used.input_tokens, used.output_tokens, used.calls })
    local count = 0
    used, result = ask(function()
      count = count + 1
      return count == 1 and half({ choices = json.array({}),
        usage = { prompt_tokens = 10, completion_tokens = 1 } }) or model.say("fine")
    end, { retries_max = 2 })
    assert.equal("fine", result.answer.content)
    assert.same({ input_tokens = 10, output_tokens = 5 }, result.answer.usage)
    assert.same({ 20, 6, 1 }, { used.input_tokens, used.output_tokens, used.calls })
  end)

  it("is zero if no model was reached", function()
    for _, world in ipairs({
      function() return nil, { error = "connect_failed" } end,
      function() return { status = 503, body = "{}" } end,
      function() return { status = 429, body = "{}" } end,
    }) do
      local used = ask(world)
      assert.same({ 0, 0, 1 }, { used.input_tokens, used.output_tokens, used.calls })
      scene.close()
    end
  end)

  it("is counted once if the program ended meanwhile, and kept after that", function()
    local used, _, s = ask(function(request)
      local answer = model.say("fine")
      answer.delay_ms = request.repeated and 1 or 50000
      return answer
    end, { timeout_ms = 600000, during = function(s) s:crash() s:recover() end })
    assert.same({ 10, 5, 1 }, { used.input_tokens, used.output_tokens, used.calls })
    s:crash() s:recover() s:run()
    assert.equal(10, s:usage()[1].input_tokens)
  end)

  it("survives crashes", function()
    local before, _, s = ask(function() return { delay_ms = 30000 } end, { timeout_ms = 1000 })
    s:crash() s:recover() s:run()
    assert.equal(before.input_tokens, s:usage()[1].input_tokens)
  end)
end)
