-- Several providers at once: the settings of one go to no other.

local json = require("society.json")
local model = require("model")
local scene = require("scene")

-- What a chat with provider anthropic sends, if these settings belong to another provider.
local function sent(llm, chat)
  chat.messages = { { role = "user", content = "x" } }
  local s, seen = model.ask(function() return { status = 400, body = "{}" } end,
    { config = { llm = llm } }, chat)
  scene.tell(s, "root", { text = "x" })
  local request = seen.requests[1]
  return request, json.decode(request.body)
end

describe("a call that names another provider than the configured one", function()
  after_each(scene.close)

  it("goes to that one's own server, with its own key, model and options", function()
    local request, body = sent({ provider = "openai", base_url = "http://mine/v1", model = "mine",
      key_env = "MY_KEY", options = { seed = 7 }, max_tokens = 99 }, { provider = "anthropic" })
    assert.equal("https://api.anthropic.com/v1/messages", request.url)
    assert.equal("ANTHROPIC_API_KEY", request.secret)
    assert.equal("claude-3-5-haiku-latest", body.model)
    assert.is_nil(body.seed)
    assert.equal(99, body.max_tokens) -- of all of them
  end)

  it("is reported if no provider was named, which means openai", function()
    local request = sent({ base_url = "http://mine/v1", key_env = "MY_KEY" },
      { provider = "anthropic" })
    assert.equal("https://api.anthropic.com/v1/messages", request.url)
    assert.equal("ANTHROPIC_API_KEY", request.secret)
  end)

  it("uses the settings if they are for the same one, by name or as 'auto'", function()
    for _, provider in ipairs({ "anthropic", "auto" }) do
      local request, body = sent({ provider = provider, base_url = "http://mine", model = "mine",
        key_env = "MY_KEY" }, { provider = provider == "auto" and "openai" or provider })
      assert.matches("^http://mine/", request.url)
      assert.same({ "MY_KEY", "mine" }, { request.secret, body.model })
    end
  end)
end)
