-- Keys of the built program go only to their servers: a script that changes modules, names
-- other servers or is redirected gets none of them.
--
-- Covers: core/script/calls/secrets.c

local attack = require("attack")
local program = require("program")
local servers = require("server")

local KEYS = { model = "sk-canary-of-the-model", token = "sk-canary-of-the-token",
  aws = "sk-canary-of-no-server" }

describe("the keys of a running society", function()
  local place, other, good, evil

  before_each(function()
    place, other = program.place(), program.place()
    good, evil = servers.start(place), servers.start(other)
  end)

  after_each(function()
    good:stop()
    evil:stop()
    place:remove()
    other:remove()
  end)

  -- Runs the app there with all keys in its environment.
  local function run(arguments)
    return place:shell(("unset OPENAI_MODEL; export OPENAI_API_KEY=%s OPENAI_BASE_URL=%s/v1 "
      .. "TOKEN_KEY=%s AWS_SECRET_ACCESS_KEY=%s; society %s"):format(KEYS.model, good.url,
      KEYS.token, KEYS.aws, arguments))
  end

  -- Which of the keys a request carries, by name.
  local function carried(request)
    local text, names = "", {}
    for name, value in pairs(request.headers) do
      text = text .. name .. ": " .. value .. "\n"
    end
    text = text .. request.path .. request.body
    for name, key in pairs(KEYS) do
      names[#names + 1] = text:find(key, 1, true) and name or nil
    end
    return table.concat(names, " ")
  end

  -- Every request to a model has its key, every other the token, and nobody else was asked.
  local function assert_kept()
    assert.same({}, evil:requests())
    for _, request in ipairs(good:requests()) do
      local is_model = request.path:find("/chat/completions", 1, true)
      assert.equal(is_model and "model" or "token", carried(request), request.path)
    end
  end

  it("stay where they belong, whatever a script does to every module", function()
    local modules, ways = attack.modules(), attack.ways(evil.url)
    attack.install(place.path, { provider = "openai", token_url = good.url .. "/api",
      evil_url = evil.url, modules = modules, ways = ways })
    local result = run("run app.lua --quiet")
    assert_kept()
    local expected = ""
    for _, module in ipairs(modules) do
      expected = expected .. module .. "\thi \t200\n"
    end
    assert.equal(expected:rep(#ways) .. "ann\ttrue\n", result.out, result.err)
    assert.equal((2 * #modules * #ways) + 1, #good:requests())
  end)

  -- Runs an app whose main prints the outcome of its calls.
  local function play(config, body)
    place:write("app.lua", ([[
      local society = require("society")
      society.config { %s }
      society.main(function(user)
        local function chat(text, options)
          options = options or {}
          options.messages = { { role = "user", content = text } }
          local answer, err = user:chat(options)
          print(answer and answer.content or err.error)
        end
        local good, evil = %q, %q
        %s
      end)]]):format(config, good.url, evil.url, body))
    return run("run app.lua --fresh --quiet")
  end

  it("do not follow a redirect", function()
    local result = play("llm = { retries_max = 0 }, secrets = { TOKEN_KEY = '" .. good.url .. "' }",
      [[chat("redirect " .. evil .. "/v1/chat/completions")
        print(user:http({ url = good .. "/redirect?" .. evil, secret = "TOKEN_KEY" }).status)]])
    assert.equal("bad_request\n307\n", result.out, result.err)
    assert_kept()
  end)

  it("go to the server that is named for an app's provider", function()
    place:shell("mkdir my")
    place:write("my/own.lua", [[
      local openai = require("society.llm.openai")
      return { name = "own", request = openai.request, reader = openai.reader,
        environment = { key = "OPENAI_API_KEY", base_url = "OWN_BASE_URL" }, defaults = {} }]])
    local own = "llm = { provider = 'my.own', model = 'm', retries_max = 0, %s }"
    local result = play(own:format("base_url = '" .. good.url .. "/own'"), 'chat("hi")')
    assert.equal("hi \n", result.out, result.err)
    place:write("with_own", ("#!/bin/sh\nOWN_BASE_URL=%s/mine exec %s \"$@\"\n"):format(good.url,
      program.quote(place.program)))
    place:shell("chmod +x with_own")
    place.program = place.path .. "/with_own"
    result = play(own:format(""), 'chat("hi")')
    assert.equal("hi \n", result.out, result.err)
    assert_kept()
    local requests = good:requests()
    assert.same({ "/own/chat/completions", "/mine/chat/completions" },
      { requests[1].path, requests[2].path })
  end)
end)
