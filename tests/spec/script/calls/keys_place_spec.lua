-- Where a key may go is fixed once the app has loaded, whatever Lua says later.
--
-- Covers: core/lualib/lua_fill.c, core/script/calls/chat_keys.c
-- Covers: core/script/turns/environments.c, core/lualib/lua_plain.c

local model = require("model")
local scene = require("scene")

-- Runs an app of these files, whose main prints; returns what it printed and the requests.
local function run(files)
  local folder, requests = scene.folder(), {}
  assert(os.execute(("mkdir '%s/my'"):format(folder)))
  for name, text in pairs(files) do
    local file = assert(io.open(folder .. "/" .. name, "w"))
    file:write(text)
    file:close()
  end
  local s = scene.new({ app = folder .. "/app.lua", http = function(request)
    requests[#requests + 1] = request
    return request.url:find("/chat", 1, true) and model.say("hi") or {}
  end })
  s:run()
  return s:transcript(), requests
end

local MAIN = [[
  society.main(function(user)
    local answer, err = user:chat { messages = { { role = "user", content = "x" } }, %s }
    print(answer and answer.content or err.error .. ": " .. err.message)
  end)]]

-- An app that calls a model once.
local function asking(config, chat)
  return ([[
    local society = require("society")
    %s
]]):format(config) .. MAIN:format(chat or "")
end

-- A provider of the app that sends `secret` to `url`; `change` is a statement about its
-- request.
local function provider(url, secret, change)
  return ([[
    local openai = require("society.llm.openai")
    return {
      name = "own", reader = openai.reader,
      environment = { key = "OWN_KEY" }, defaults = { base_url = "http://own.test/v1" },
      request = function(chat, settings)
        local request = openai.request(chat, settings)
        request.url, request.secret.env = %q, %q
        %s
        return request
      end,
    }]]):format(url, secret, change or "")
end

describe("a model's key", function()
  after_each(scene.close)

  local CONFIG = 'society.config { llm = { provider = "my.own", retries_max = 0 } }'

  it("goes to the server of its provider", function()
    local text, requests = run({ ["app.lua"] = asking(CONFIG),
      ["my/own.lua"] = provider("http://own.test/v1/chat", "OWN_KEY") })
    assert.matches("hi", text, 1, true)
    assert.equal("OWN_KEY", requests[1].secret)
  end)

  for what, case in pairs({
    ["another server"] = { "http://evil.test/v1/chat", "OWN_KEY" },
    ["a host whose name goes on"] = { "http://own.test.evil.test/v1/chat", "OWN_KEY" },
    ["a host behind a user's name"] = { "http://own.test@evil.test/v1/chat", "OWN_KEY" },
    ["another port"] = { "http://own.test:81/v1/chat", "OWN_KEY" },
    ["another path"] = { "http://own.test/v2/chat", "OWN_KEY" },
    ["a path that climbs"] = { "http://own.test/v1/../v2/chat", "OWN_KEY" },
    ["a path that climbs in disguise"] = { "http://own.test/v1/%2E./v2/chat", "OWN_KEY" },
    ["another scheme"] = { "https://own.test/v1/chat", "OWN_KEY" },
    ["its provider's server, being another's"] = { "http://own.test/v1/chat", "AWS_SECRET" },
    ["its provider's server, being another provider's"] =
      { "http://own.test/v1/chat", "OPENAI_API_KEY" },
  }) do
    it("does not go to " .. what, function()
      local text, requests = run({ ["app.lua"] = asking(CONFIG),
        ["my/own.lua"] = provider(case[1], case[2]) })
      assert.matches("no_secret: neither the provider's settings nor", text, 1, true)
      assert.same({}, requests)
    end)
  end

  for what, change in pairs({
    ["a header Host"] = 'request.headers.hOSt = "evil.test"',
    ["a name of a header that ends it"] = 'request.headers["Host:evil.test"] = "x"',
    ["a value of a header that ends it"] = 'request.headers["X-Y"] = "a\\r\\nHost: evil.test"',
    ["a method that is more than one word"] = 'request.method = "GET http://evil.test"',
    ["a prefix that ends the header"] = 'request.secret.prefix = "a\\r\\nHost: evil.test"',
    ["a header of the key that is none"] = 'request.secret.header = "Host:evil.test"',
  }) do
    it("does not go with " .. what, function()
      local text, requests = run({ ["app.lua"] = asking(CONFIG),
        ["my/own.lua"] = provider("http://own.test/v1/chat", "OWN_KEY", change) })
      assert.matches("no_secret: a request with a secret cannot set the header Host", text, 1, true)
      assert.same({}, requests)
    end)
  end

  it("of a provider that only a call names goes where `secrets` says", function()
    local files = { ["my/own.lua"] = provider("http://own.test/v1/chat", "OWN_KEY"),
      ["app.lua"] = asking("", 'provider = "my.own"') }
    local text, requests = run(files)
    assert.matches("no_secret", text, 1, true)
    assert.same({}, requests)
    files["app.lua"] = asking('society.config { secrets = { OWN_KEY = "http://own.test" } }',
      'provider = "my.own"')
    text, requests = run(files)
    assert.matches("hi", text, 1, true)
    assert.equal("OWN_KEY", requests[1].secret)
  end)

  it("goes where the settings said while the app loaded", function()
    local _, requests = run({ ["app.lua"] = [[
      local society = require("society")
      local llm = { base_url = "http://mine.test/v1", key_env = "MINE", options = { seed = 7 } }
      society.config { llm = llm }
      llm.base_url, llm.key_env, llm.options.seed = "http://evil.test", "AWS_SECRET", 8
      setmetatable(llm, { __index = function() return "http://evil.test" end })
      ]] .. MAIN:format("") })
    assert.equal("http://mine.test/v1/chat/completions", requests[1].url)
    assert.equal("MINE", requests[1].secret)
    assert.matches('"seed":7', requests[1].body, 1, true)
  end)

  it("is not taken from settings that a metatable answers for", function()
    local ok, err = pcall(run, { ["app.lua"] = asking([[society.config { llm = {
      options = setmetatable({}, { __index = function() return 1 end }) } }]]) })
    assert.is_false(ok)
    assert.matches("'llm' contains a table with a metatable", tostring(err), 1, true)
  end)
end)

describe("society.config once the app has loaded", function()
  after_each(scene.close)

  it("raises for settings of where keys go, in a turn and outside", function()
    local text = run({ ["app.lua"] = [[
      local society = require("society")
      local function try(when)
        for _, name in ipairs({ "secrets", "llm" }) do
          print(when, (select(2, pcall(society.config, { [name] = {} }))))
        end
      end
      local said
      society.config { llm = { provider = "scripted", answers = function()
        said = select(2, pcall(society.config, { secrets = { K = "http://evil.test" } }))
        return "hi"
      end } }
      society.main(function(user)
        user:chat { messages = { { role = "user", content = "x" } } }
        print(said)
        try("turn")
      end)]] })
    assert.matches("'secrets' decides where keys may go and cannot change once the app has loaded",
      text, 1, true)
    assert.equal(2, scene.count(text, "not inside a turn"))
  end)
end)

describe("a spec that declares its society step by step", function()
  after_each(scene.close)

  it("may set where keys go at any time", function()
    local seen
    local s = scene.new({ http = function(request)
      seen = request.secret
      return {}
    end })
    s:root(function(root) root:http({ url = "http://a.test/x", secret = "TOKEN" }) end)
    assert.has_error(function() s:config({ secrets = 7 }) end)
    s:config({ secrets = { TOKEN = "http://a.test" } })
    scene.tell(s, "root")
    assert.equal("TOKEN", seen)
  end)
end)

describe("a secret of agent:http", function()
  after_each(scene.close)

  it("does not go with a Host header", function()
    local text, requests = run({ ["app.lua"] = [[
      local society = require("society")
      society.config { secrets = { TOKEN = "http://a.test" } }
      society.main(function(user)
        print(select(2, user:http { url = "http://a.test", secret = "TOKEN",
          headers = { host = "evil.test" } }).error)
      end)]] })
    assert.matches("no_secret", text, 1, true)
    assert.same({}, requests)
  end)

  local function try(url)
    return run({ ["app.lua"] = ([[
      local society = require("society")
      local secrets = { TOKEN = "http://a.test/api" }
      society.config { secrets = secrets }
      secrets.TOKEN = "http://evil.test"
      society.main(function(user)
        print(pcall(user.http, user, { url = %q, secret = "TOKEN" }))
      end)]]):format(url) })
  end

  it("goes to its place", function()
    for _, url in ipairs({ "http://a.test/api", "http://a.test/api/x/.../y?../z",
      "http://a.test/api?q" }) do
      local _, requests = try(url)
      assert.equal("TOKEN", requests[1].secret)
    end
  end)

  it("does not leave it", function()
    for _, url in ipairs({ "http://evil.test/api", "http://a.test/api/../x", "http://a.test/api/..",
      "http://a.test/api/%2e%2E/x", "http://a.test/api/./x", "http://a.test/api\\..\\x" }) do
      local text, requests = try(url)
      assert.matches("may go to http://a.test/api only", text, 1, true)
      assert.same({}, requests)
    end
  end)
end)

describe("the settings of a policy", function()
  after_each(scene.close)

  it("stay what they were when they were given", function()
    assert.matches("before", (run({ ["app.lua"] = [[
      local society = require("society")
      local words = { "before" }
      society.policy("presentation", function(...)
        return (select(select("#", ...), ...)).words[1]
      end, { words = words })
      words[1] = "after"
      society.root(function(_, message) return message.text end)
      society.main(function(user)
        print(user:request { to = "root", payload = "go" }.payload.text)
      end)]] })), 1, true)
  end)
end)

describe("what scripts pass to the model client", function()
  after_each(scene.close)

  -- What a chat with these answers says.
  local function answered(answers)
    return (run({ ["app.lua"] = asking(([[
      society.config { llm = { provider = "scripted", answers = %s } }]]):format(answers)) }))
  end

  it("is copied before it is used", function()
    assert.matches("hi x", answered([[function(request)
      local answer = { content = "hi " .. request.messages[1].content }
      request.messages[1].content = "changed"
      return answer
    end]]), 1, true)
  end)

  it("may not be a table with a metatable", function()
    local ok, err = pcall(answered, [[function()
      return setmetatable({}, { __index = function() return "hi" end })
    end]])
    assert.is_false(ok)
    assert.matches("'answer' contains a table with a metatable", tostring(err), 1, true)
  end)

  it("cannot turn a tool into a verb", function()
    local text = run({ ["app.lua"] = [[
      local society = require("society")
      local given
      society.config { llm = { provider = "scripted",
        answers = { { tool_calls = { { name = "own", arguments = {} } } }, "done" },
        tools = { { name = "own", is_verb = true, run = function(...)
          given = select("#", ...)
          return getmetatable((...)) == false
        end } } } }
      society.root("llm")
      society.main(function(user)
        print(user:request { to = "root", payload = "go" }.payload.text, given)
      end)]] })
    assert.matches("done\t2", text, 1, true)
  end)
end)
