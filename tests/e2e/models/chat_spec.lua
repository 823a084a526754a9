-- Models over real HTTP on loopback, by the built program; and no key anywhere.

local canary = require("canary")
local program = require("program")

local KEY = canary.key

describe("agent:chat over HTTP", function()
  local place, server, bare

  before_each(function()
    place, server = canary.place()
    bare = place.bare
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

  it("retries, and reports what cannot be retried", function()
    app("fail once")
    assert.equal("fail once \t9\n", run("run app.lua").out)
    assert.equal(2, #server:requests())
    app("cut", "retries_max = 1")
    assert.matches("^connection_cut", run("run app.lua --fresh").out)
    app("garbage", "retries_max = 1")
    assert.matches("^not_http", run("run app.lua --fresh").out)
    assert.equal(6, #server:requests())
  end)

  it("reports a huge answer by name, once", function()
    for _, wish in ipairs({ "huge text 2000000", "huge text 20000000", "huge calls 12000" }) do
      app(wish)
      assert.matches("^answer_too_large", run("run app.lua --fresh").out)
    end
    assert.equal(3, #server:requests())
  end)

  it("obeys its timeouts", function()
    for _, case in ipairs({
      { "hang once", "first_byte_ms = 100", "first_byte_timeout" },
      { "stall", "idle_ms = 100", "idle_timeout" },
      { "slow a b c d e f g h i j k l", "total_ms = 100", "timeout" },
    }) do
      app(case[1], case[2] .. ", retries_max = 0")
      assert.matches("^" .. case[3], run("run app.lua --fresh").out)
    end
  end)

  it("says what to do without a key", function()
    app("hello")
    local result = place:shell("env -u OPENAI_API_KEY -u OPENAI_BASE_URL "
      .. program.quote(bare) .. " run app.lua")
    assert.matches("^no_key", result.out)
    assert.matches("set OPENAI_API_KEY", result.out, 1, true)
    assert.equal(0, #server:requests())
  end)

  it("sends no key that would start another header", function()
    app("hello")
    local result = place:shell("OPENAI_API_KEY=\"$(printf 'abc\\r\\nX-Evil: 1')\" "
      .. program.quote(bare) .. " run app.lua")
    assert.matches("^no_key", result.out)
    assert.matches("OPENAI_API_KEY holds a line break", result.out, 1, true)
    assert.equal(0, #server:requests())
  end)

  it("calls a server that needs no key", function()
    app("hello", ("base_url = %q, key_env = 'NONE_SUCH'"):format(server.url .. "/local"))
    local result = place:shell(program.quote(bare) .. " run app.lua")
    assert.equal("hello \t9\n", result.out, result.err)
    assert.is_nil(server:requests()[1].headers.Authorization)
  end)

  it("treats an empty key as none", function()
    app("hello", ("base_url = %q, key_env = 'NONE_SUCH'"):format(server.url .. "/local"))
    local result = place:shell("NONE_SUCH= " .. program.quote(bare) .. " run app.lua")
    assert.equal("hello \t9\n", result.out, result.err)
    assert.is_nil(server:requests()[1].headers.Authorization)
  end)

  it("repeats one call after kill -9, with the same key, and continues", function()
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

  it("says what is left of each limit", function()
    app("a", "prices = { m = { input = 1000, output = 0 } },"
      .. " limits = { agent_tokens = 5, agent_cost = 0, society_tokens = 100, society_cost = 1 }")
    local running = place:start("run app.lua --http 0")
    running:expect("a \t9")
    local found = {}
    for _, row in ipairs(program.rows(run("call budgets"))) do
      found[row.of .. " " .. (row.id or "") .. " " .. row.what] = row
    end
    running:kill("KILL")
    running:wait()
    assert.is_nil(found["agent user cost_micros"])
    local used = found["society  tokens"].used
    assert.is_true(used >= 9 and used < 100)
    assert.same({ of = "society", what = "tokens", limit = 100, used = used, left = 100 - used },
      found["society  tokens"])
    assert.same({ of = "agent", id = "user", what = "tokens", limit = 5, used = used, left = 0 },
      found["agent user tokens"])
    assert.same({ of = "society", what = "cost_micros", limit = 1000000, used = 9000,
      left = 991000 }, found["society  cost_micros"])
  end)

  it("reports a failed call as such, and money always in one form", function()
    app("refuse")
    local result = run("run app.lua")
    assert.matches("answer user: failed: [a-z_]+; so far 1 call, 0 tokens, $0.0000", result.err)
    assert.is_nil(result.err:find("0 + 0 tokens", 1, true))
    app("a", "prices = { m = { input = 1, output = 1 } }")
    run("run app.lua --fresh")
    assert.matches("DOLLARS\n.* %$0%.0000%d%d\n$", run("inspect usage").out)
    app("refuse")
    run("run app.lua --fresh")
    assert.matches("DOLLARS\n.* %$0%.000000\n$", run("inspect usage").out)
  end)

  it("reveals the key nowhere, even if the server sends it back", function()
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

  it("reveals no key that the server sends back in pieces or in disguise", function()
    place:write("app.lua", [[
      local society = require("society")
      society.config { llm = { model = "m", retries_max = 0, record = "record.jsonl" } }
      society.root("llm")
      local forms = { "content", "letters", "escaped", "arguments", "deep", "name", "model",
        "base64", "percent", "error", "nonsense" }
      society.main(function(user)
        for _, form in ipairs(forms) do
          for cut = 1, 19 do
            local answer, err = user:chat { messages = { { role = "user",
              content = ("leak %s %d"):format(form, cut) } } }
            user:log("info", "heard", { answer = answer, err = err })
            print(form, answer and answer.content or err.message)
            for _, call in ipairs(answer and answer.tool_calls or {}) do
              print(call.name, call.arguments)
              local given = require("society.json").decode(call.arguments)
              print(given and given.a)
              user:send_message { to = "root", type = "note", payload = given or {} }
            end
          end
        end
        user:request { to = "root", payload = "mirror" }
        print("over")
        user:sleep(60000)
      end)]])
    local running = place:start("run app.lua --log debug --json")
    running:expect("over")
    local outputs = {}
    local commands = { "ps --json", "inspect messages --json", "inspect activity --json",
      "inspect usage --json", "inspect stats", "inspect agents --json", "export org-json",
      "export mermaid", "export dot" }
    local function ask_all()
      for _, arguments in ipairs(commands) do
        local result = run(arguments)
        outputs[#outputs + 1] = { arguments, result.out .. result.err }
      end
    end
    ask_all() -- by the control socket
    running:kill("KILL")
    local ended = running:wait()
    ask_all() -- from disk
    outputs[#outputs + 1] = { "the program", ended.out .. ended.err }
    outputs[#outputs + 1] = { "the recording", place:read("record.jsonl") }
    outputs[#outputs + 1] = { "disk", place:shell("find .society -type f -exec cat {} +").out }
    for _, output in ipairs(outputs) do
      canary.assert_clean(output[2], output[1])
    end
    assert.matches("[secret]", place:read("record.jsonl"), 1, true)
    assert.matches("content\\t[secret]", ended.out, 1, true)
  end)
end)
