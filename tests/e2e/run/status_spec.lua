-- The status line for thinking agents on a terminal.
--
-- Covers: core/embed/status_line.c

local program = require("program")
local servers = require("server")

local APP = [[
local society = require("society")
society.config { llm = { provider = "scripted", model = "gpt-4o", answers = function()
  return { content = "ok", delay_ms = DELAY_MS,
    usage = { input_tokens = 1000, output_tokens = 100 } }
end } }
society.root("llm")
society.main(function(user)
  for _ = 1, 2 do
    print(user:request { to = "root", payload = "x", timeout_ms = 600000 }.payload.text)
  end
end)
]]

describe("on a terminal, a run", function()
  local place

  before_each(function()
    place = program.place()
  end)

  after_each(function() place:remove() end)

  -- Writes the app, with a model that takes so long to answer.
  local function app(delay_ms)
    place:write("app.lua", (APP:gsub("DELAY_MS", tostring(delay_ms))))
  end

  local function watch(options)
    return place:start_terminal("run app.lua " .. options):wait().out
  end

  it("shows who thinks, who waits and the usage, and makes room for other output", function()
    local delay_ms = 60000
    app(delay_ms)
    local terminal = place:start_terminal("run app.lua --log warn", place:clock())
    for _, line in ipairs({ "0 calls, 0 tokens, $0.0000", "1 call, 1100 tokens, $0.0035" }) do
      terminal:expect("thinking: root | waiting: user for root | " .. line .. "\r")
      place:advance(delay_ms)
    end
    local out = terminal:wait().out
    assert.equal(2, select(2, out:gsub("\r\27%[Kok\r\n", "")))
    assert.is_nil(out:match("\27%[K[^\r\n]*thinking[^\r]*$"))
  end)

  it("logs each answer", function()
    app(1)
    assert.matches("answer root: 1000 + 100 tokens, $0.0035; so far 1 call, 1100 tokens, $0.0035",
      watch(""), 1, true)
  end)

  it("shows no status line with --quiet or --json, or to a file", function()
    app(300) -- it would be shown every 100 ms
    assert.equal("ok\r\nok\r\n", watch("--quiet"))
    assert.is_nil(watch("--json --fresh --log warn"):find("thinking", 1, true))
    local result = place:run("run app.lua --fresh --log warn")
    assert.equal("", result.err)
  end)
end)

describe("while a model streams, a terminal", function()
  local place, server

  before_each(function()
    place = program.place()
    server = servers.start(place)
    place:write("app.lua", [[
      local society = require("society")
      society.config { llm = { model = "m" } }
      society.main(function(user)
        local answer = user:chat { messages = { { role = "user",
          content = "gated words come one by one a b c d e f g h i j k l m n and "
            .. "一个字一个字地来 \27[31mred\27[2J \nend" } } }
        print(#answer.content > 40 and "whole" or answer.content)
      end)]])
  end)

  after_each(function()
    server:stop()
    place:remove()
  end)

  -- OPENAI_BASE_URL comes first, so that nothing else in the environment matters.
  local function command(options)
    return ("env OPENAI_BASE_URL=%s/v1 %s run app.lua --fresh --log warn %s"):format(server.url,
      program.quote(place.program), options)
  end

  -- Starts it on a terminal.
  local function start(options)
    return place:start_terminal("run app.lua --fresh --log warn " .. options,
      ("OPENAI_BASE_URL=%s/v1"):format(server.url))
  end

  it("shows its words as they come, a little more each time", function()
    local terminal = start("")
    for lines, words in ipairs({ "gated words", "gated words come", "gated words come one" }) do
      place:write("go", ("\n"):rep(lines))
      terminal:expect(words .. " ")
    end
    place:write("go", ("\n"):rep(1000))
    local out = terminal:wait().out
    local seen, longest = 0, 0
    for count, words in out:gmatch("user %((%d+)%): (gated[^\r]*)\r\n") do
      seen = seen + 1
      assert.is_true(tonumber(count) > longest, out)
      longest = tonumber(count)
      assert.is_nil(words:find("\27", 1, true), "the model has moved the cursor")
    end
    assert.is_true(seen >= 3, out)
    -- Both lines are cleared, perhaps with one more status in between, before what is printed.
    local rest = out:match(".*gated[^\r]*\r\n(.*)$")
    assert.matches("^[^\n]*\r\27%[K\27%[A\27%[K", rest)
    assert.matches("\r?\27%[Kwhole\r\n$", rest)
  end)

  it("shows none of them with --quiet or --json, nor in a file", function()
    place:write("go", ("\n"):rep(1000))
    place:write("app.lua", (place:read("app.lua"):gsub("gated", "slow")))
    for _, options in ipairs({ "--quiet", "--json" }) do
      assert.is_nil(start(options):wait().out:find("slow", 1, true))
    end
    local result = place:shell(command(""))
    assert.same({ "whole\n", "" }, { result.out, result.err })
  end)
end)
