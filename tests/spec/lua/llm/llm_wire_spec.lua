-- A model is told about its mistake, and the mistake spoils no later request: servers check
-- earlier calls, and some refuse what their own model has said.

local anthropic = require("society.llm.anthropic")
local json = require("society.json")
local model = require("model")
local openai = require("society.llm.openai")
local scene = require("scene")

local SETTINGS = { base_url = "http://x", model = "m" }

-- How a provider sends back a tool call: its name and its arguments, as a value.
local function sent_back(provider, name, arguments)
  local request = provider.request({ messages = {
    { role = "user", content = "x" },
    { role = "assistant", tool_calls = { { id = "c1", name = name, arguments = arguments } } },
    { role = "tool", tool_call_id = "c1", content = "no" },
  } }, SETTINGS)
  local entry = json.decode(request.body).messages[2]
  if provider == openai then
    local call = entry.tool_calls[1]["function"]
    return call.name, json.decode(call.arguments), call.arguments
  end
  return entry.content[1].name, entry.content[1].input
end

for _, provider in ipairs({ openai, anthropic }) do
  describe("a call that goes back to " .. provider.name, function()
    it("has an object as arguments, whatever the model wrote", function()
      for _, text in ipairs({ '{"a": "unfinis', "null", "7", '"{}"', "[1]", "x y",
        '{"a":1}{"b":2}' }) do
        local _, value = sent_back(provider, "f", text)
        assert.same({ raw = text }, value)
      end
      for _, text in ipairs({ "", " \n", "{}" }) do
        local _, value, as_sent = sent_back(provider, "f", text)
        assert.is_nil(next(value))
        assert.equal("{", (as_sent or json.encode(value)):match("%S"))
      end
    end)

    it("is unchanged if nothing is wrong", function()
      local name, value, as_sent = sent_back(provider, "write_file-2", '{ "a" : [1, 2] }')
      assert.same({ "write_file-2", { a = { 1, 2 } } }, { name, value })
      assert.equal(provider == openai and '{ "a" : [1, 2] }' or nil, as_sent)
    end)

    it("has a name of valid characters", function()
      for name, expected in pairs({ ["functions.foo bar"] = "functions_foo_bar",
        ["查"] = "___", [("x"):rep(99)] = ("x"):rep(64) }) do
        assert.equal(expected, (sent_back(provider, name, "{}")))
      end
    end)
  end)
end

describe("the ids of calls that go to Anthropic", function()
  -- The ids of the calls and of the results that are sent of a conversation: a list of
  -- rounds, each a list of ids.
  local function ids_of(rounds)
    local messages = { { role = "user", content = "x" } }
    for _, ids in ipairs(rounds) do
      local calls = {}
      for index, id in ipairs(ids) do
        calls[index] = { id = id, name = "f", arguments = "{}" }
      end
      messages[#messages + 1] = { role = "assistant", tool_calls = calls }
      for _, id in ipairs(ids) do
        messages[#messages + 1] = { role = "tool", tool_call_id = id, content = "r" }
      end
    end
    local body = json.decode(anthropic.request({ messages = messages }, SETTINGS).body)
    local called, answered = {}, {}
    for _, message in ipairs(body.messages) do
      for _, block in ipairs(message.content) do
        called[#called + 1] = block.id
        answered[#answered + 1] = block.tool_use_id
      end
    end
    assert.same(called, answered)
    return called
  end

  it("are unchanged where it accepts them", function()
    assert.same({ "toolu_01A-b", "call_1" }, ids_of({ { "toolu_01A-b" }, { "call_1" } }))
  end)

  it("have valid characters and are unique, whoever chose them", function()
    assert.same({ "functions_f_0" }, ids_of({ { "functions.f:0" } }))
    assert.same({ "call_1", "call_1_2", "call_1_3", "b" },
      ids_of({ { "call_1" }, { "call_1", "call_1" }, { "b" } }))
    assert.same({ "a_b", "a_b_2", "a_b_2_2" }, ids_of({ { "a.b", "a:b" }, { "a_b_2" } }))
  end)
end)

-- What a strict server says to a request.
local function strict(body)
  for _, message in ipairs(body.messages) do
    for _, call in ipairs(message.tool_calls or {}) do
      local given = call["function"]
      if not given.name:match("^[%w_-]+$") or type(json.decode(given.arguments)) ~= "table" then
        return { status = 400, body = '{"error":{"message":"a slip in messages"}}' }
      end
    end
  end
end

describe("a thinking agent", function()
  after_each(scene.close)

  it("continues after its model's mistakes with a server that refuses them", function()
    local slip = { index = 0, id = "c1",
      ["function"] = { name = "functions.read", arguments = '{"a": "unfinis' } }
    local told
    local s = scene.new({
      config = { llm = { provider = "openai", model = "m" } },
      http = function(request)
        local body = json.decode(request.body)
        told = body.messages[#body.messages].content
        return strict(body) or #body.messages > 2 and model.say("done")
          or { status = 200, headers = model.SSE, body = model.stream({ choices = json.array({
            { index = 0, delta = { tool_calls = json.array({ slip }) } } }) }, "[DONE]") }
      end,
      app = function(s) s:root("llm") end,
    })
    for _ = 1, 2 do
      local answer = assert(s:dispatch("root", { text = "read it" }))
      assert.equal("done", answer.payload.text)
    end
    assert.matches("read it", told, 1, true)
  end)
end)

describe("a request to Anthropic", function()
  it("has no blank text", function()
    local request = anthropic.request({ messages = {
      { role = "user", content = "x" }, { role = "assistant", content = "\n\n" },
      { role = "user", content = "y" },
    } }, SETTINGS)
    assert.same({ { role = "user", content = { { type = "text", text = "x" },
      { type = "text", text = "y" } } } }, json.decode(request.body).messages)
  end)
end)
