-- What a person sees of agents that think, on a terminal.

local program = require("program")
local servers = require("server")

local APP = [[
local society = require("society")
society.config { llm = { provider = "scripted", model = "gpt-4o", answers = function()
  return { content = "ok", delay_ms = 500, usage = { input_tokens = 1000, output_tokens = 100 } }
end } }
society.root("llm")
society.main(function(user)
  for _ = 1, 2 do
    print(user:request { to = "root", payload = "x" }.payload.text)
  end
end)
]]

describe("on a terminal, a run", function()
  local place

  before_each(function()
    place = program.place()
    place:write("app.lua", APP)
  end)

  after_each(function() place:remove() end)

  local function watch(options)
    return place:shell(("timeout 20 script -qefc %s /dev/null"):format(program.quote(
      program.quote(place.program) .. " run app.lua " .. options))).out
  end

  it("shows who thinks, who waits and what it took, and makes way for the rest", function()
    local out = watch("--log warn")
    for _, line in ipairs({ "0 calls, 0 tokens, $0.0000", "1 calls, 1100 tokens, $0.0035" }) do
      assert.matches("thinking: root | waiting: user for root | " .. line .. "\r\27[K", out, 1,
        true)
    end
    assert.equal(2, select(2, out:gsub("\r\27%[Kok\r\n", "")))
    assert.is_nil(out:match("\27%[K[^\r\n]*thinking[^\r]*$"))
  end)

  it("tells of each answer in its log", function()
    assert.matches("answer root: 1000 + 100 tokens, $0.0035; so far 1 calls, 1100 tokens, $0.0035",
      watch(""), 1, true)
  end)

  it("shows nothing of it with --quiet or --json, or to a file", function()
    assert.equal("ok\r\nok\r\n", watch("--quiet"))
    assert.is_nil(watch("--json --fresh --log warn"):find("thinking", 1, true))
    local result = place:run("run app.lua --fresh --log warn")
    assert.equal("", result.err)
  end)
end)

describe("while a model speaks, a terminal", function()
  local place, server

  before_each(function()
    place = program.place()
    server = servers.start(place)
    place:write("app.lua", [[
      local society = require("society")
      society.config { llm = { model = "m" } }
      society.main(function(user)
        local answer = user:chat { messages = { { role = "user",
          content = "slow words come one by one a b c d e f g h i j k l m n and "
            .. "一个字一个字地来 \27[31mred\27[2J \nend" } } }
        print(#answer.content > 40 and "whole" or answer.content)
      end)]])
  end)

  after_each(function()
    server:stop()
    place:remove()
  end)

  -- OPENAI_BASE_URL in front, so that nothing else of the environment matters.
  local function command(options)
    return ("env OPENAI_BASE_URL=%s/v1 %s run app.lua --fresh --log warn %s"):format(server.url,
      program.quote(place.program), options)
  end

  local function watch(options)
    return place:shell(("timeout 20 script -qefc %s /dev/null"):format(
      program.quote(command(options)))).out
  end

  it("shows its words as they come, each time a little more", function()
    local out = watch("")
    local seen, longest = 0, 0
    for count, words in out:gmatch("user %((%d+)%): (slow[^\r]*)\r\n") do
      seen = seen + 1
      assert.is_true(tonumber(count) > longest, out)
      longest = tonumber(count)
      assert.is_nil(words:find("\27", 1, true), "the model has moved the cursor")
    end
    assert.is_true(seen >= 3, out)
    -- It is taken off again, both lines, and what was said stays as it is printed.
    assert.matches("\r\27[K\27[A\27[Kwhole\r\n", out, 1, true)
  end)

  it("shows none of them with --quiet or --json; nor does a file", function()
    for _, options in ipairs({ "--quiet", "--json" }) do
      assert.is_nil(watch(options):find("slow", 1, true))
    end
    local result = place:shell(command(""))
    assert.same({ "whole\n", "" }, { result.out, result.err })
  end)
end)
