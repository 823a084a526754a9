-- Models over real HTTP on loopback, by the built program; and no key anywhere.

local program = require("program")
local servers = require("server")

local KEY = "sk-canary-5e1f0c1d9a"

describe("agent:chat, for real", function()
  local place, server, bare

  before_each(function()
    place = program.place()
    server = servers.start(place)
    -- The key is in the environment of the program, and nowhere else.
    bare = place.program
    place.program = place.path .. "/with_key"
    place:write("with_key", ('#!/bin/sh\nOPENAI_API_KEY=%s OPENAI_BASE_URL=%s/v1 exec %s "$@"\n')
      :format(KEY, server.url, program.quote(bare)))
    os.execute("chmod +x " .. program.quote(place.program))
  end)

  after_each(function()
    server:stop()
    place:remove()
  end)

  local function app(wish, more)
    return place:write("app.lua", ([[
      local society = require("society")
      society.config { llm = { model = "m", retry_first_ms = 10, %s } }
      society.main(function(user)
        local answer, err = user:chat { messages = { { role = "user", content = %q } } }
        print(answer and answer.content or err.error, answer and answer.usage.input_tokens)
        if err then print(err.message) end
      end)]]):format(more or "", wish))
  end

  local function run(arguments)
    return place:run(arguments)
  end

  it("streams an answer", function()
    app("one two three")
    local result = run("run app.lua")
    assert.equal("one two three \t9\n", result.out, result.err)
    local request = server:requests()[1]
    assert.equal("/v1/chat/completions", request.path)
    assert.equal("Bearer " .. KEY, request.headers.Authorization)
    assert.matches("^call_", request.headers["Idempotency-Key"])
  end)

  it("tries again, and tells what cannot be mended", function()
    app("fail once")
    assert.equal("fail once \t9\n", run("run app.lua").out)
    assert.equal(2, #server:requests())
    app("cut", "retries_max = 1")
    assert.matches("^connection_cut", run("run app.lua --fresh").out)
    app("garbage", "retries_max = 1")
    assert.matches("^not_http", run("run app.lua --fresh").out)
    assert.equal(6, #server:requests())
  end)

  it("says what to do without a key", function()
    app("hello")
    local result = place:shell("env -u OPENAI_API_KEY -u OPENAI_BASE_URL "
      .. program.quote(bare) .. " run app.lua")
    assert.matches("^no_key", result.out)
    assert.matches("set OPENAI_API_KEY", result.out, 1, true)
    assert.equal(0, #server:requests())
  end)

  it("sends no key that would begin a header of its own", function()
    app("hello")
    local result = place:shell("OPENAI_API_KEY=\"$(printf 'abc\\r\\nX-Evil: 1')\" "
      .. program.quote(bare) .. " run app.lua")
    assert.matches("^no_key", result.out)
    assert.matches("OPENAI_API_KEY holds a line break", result.out, 1, true)
    assert.equal(0, #server:requests())
  end)

  it("asks a server that needs no key", function()
    app("hello", ("base_url = %q, key_env = 'NONE_SUCH'"):format(server.url .. "/local"))
    local result = place:shell(program.quote(bare) .. " run app.lua")
    assert.equal("hello \t9\n", result.out, result.err)
    assert.is_nil(server:requests()[1].headers.Authorization)
  end)

  it("repeats one call after kill -9, with the same key, and goes on", function()
    app("hang once")
    local running = place:start("run app.lua")
    program.wait_for("the request", function() return #server:requests() == 1 end)
    running:kill("KILL")
    running:wait()
    local result = run("run app.lua")
    assert.equal("hang once \t9\n", result.out, result.err)
    local list = server:requests()
    assert.equal(2, #list)
    assert.equal(list[1].headers["Idempotency-Key"], list[2].headers["Idempotency-Key"])
    assert.equal(list[1].body, list[2].body)
    result = run("inspect usage --json")
    assert.matches('"calls":1,', result.out, 1, true)
  end)

  it("lets the key out nowhere, even if the server says it aloud", function()
    local outputs = {}
    for _, wish in ipairs({ "mirror", "refuse" }) do
      app(wish)
      for _, arguments in ipairs({ "run app.lua --fresh --log debug", "inspect messages --json",
        "inspect activity --json", "inspect usage", "inspect stats", "export org-json",
        "export dot" }) do
        local result = run(arguments)
        outputs[#outputs + 1] = result.out .. result.err
      end
      outputs[#outputs + 1] = place:shell("cat app.lua .society/* .society/previous/*").out
    end
    local all = table.concat(outputs)
    assert.matches("[secret]", all, 1, true)
    assert.is_nil(all:find(KEY, 1, true))
    assert.is_nil(all:find(KEY:sub(1, 12), 1, true))
    for _, request in ipairs(server:requests()) do
      assert.equal("Bearer " .. KEY, request.headers.Authorization)
    end
  end)
end)
