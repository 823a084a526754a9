-- What a person sees of agents that think, on a terminal.

local program = require("program")

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
    assert.matches("thinking: root | 1 waiting | 0 calls, 0 tokens, $0.0000\r\27[Kok\r\n", out, 1,
      true)
    assert.matches("thinking: root | 1 waiting | 1 calls, 1100 tokens, $0.0035\r\27[Kok\r\n",
      out, 1, true)
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
