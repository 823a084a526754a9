-- Models as an independent mock of the OpenAI and Anthropic APIs has them.

local npm = require("npm")
local program = require("program")

local function support(name)
  local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$")
  local pipe = assert(io.popen("cd " .. program.quote(here) .. "/../support && pwd"))
  local folder = pipe:read("l")
  pipe:close()
  return program.quote(folder .. "/" .. name)
end

local APP = [[
local society = require("society")
society.config { llm = { provider = arg[2] or "openai", model = "gpt-4o-mini", retry_first_ms = 10,
  retries_max = 2 } }
society.main(function(user)
  local tools = { { name = "get_weather", description = "d", parameters = { type = "object",
    properties = { city = { type = "string" } } } } }
  local messages = { { role = "user", content = arg[1] } }
  while true do
    local answer, err = user:chat { messages = messages, tools = tools }
    if not answer then
      print("error", err.error, err.tries)
      return
    end
    if not answer.tool_calls then
      print("said", answer.finish_reason, answer.content)
      return
    end
    messages[#messages + 1] = { role = "assistant", content = answer.content,
      tool_calls = answer.tool_calls }
    for _, call in ipairs(answer.tool_calls) do
      print("call", call.name, call.arguments)
      messages[#messages + 1] = { role = "tool", tool_call_id = call.id, content = "sunny" }
    end
    if #messages > 8 then return end
  end
end)
]]

describe("aimock", function()
  local folder, reason = npm.folder({ "@copilotkit/aimock@1.43.0" })
  local place, pid

  before_each(function()
    place = program.place()
    place:write("app.lua", APP)
  end)

  after_each(function()
    if pid then
      os.execute("kill " .. pid)
    end
    pid = nil
    place:remove()
  end)

  local function ask(text, mode, provider)
    os.execute(("cd %s && { node %s %s %s >url 2>node.err & echo $! >pid; }"):format(
      program.quote(place.path), support("aimock.mjs"), program.quote(folder), mode or "plain"))
    local url = program.wait_for("the mock", function()
      return (place:read("url") or ""):match("^(%S+)\n")
    end)
    pid = place:read("pid"):match("%d+")
    return place:shell(("OPENAI_BASE_URL=%s/v1 ANTHROPIC_BASE_URL=%s OPENAI_API_KEY=k "
      .. "ANTHROPIC_API_KEY=k %s run app.lua --quiet -- %s %s"):format(url, url,
      program.quote(place.program), program.quote(text), provider or ""))
  end

  local function test(name, body)
    it(name, function()
      if not folder then
        pending(reason)
        return
      end
      body()
    end)
  end

  for _, provider in ipairs({ "openai", "anthropic" }) do
    test("streams to " .. provider, function()
      local result = ask("hello", nil, provider)
      assert.equal("said\tstop\tHi there! 你好 " .. ("word "):rep(200) .. "\n", result.out,
        result.err)
    end)

    test("calls tools of " .. provider .. " and hears their answers", function()
      local result = ask("the weather?", nil, provider)
      assert.equal('call\tget_weather\t{"city":"Berlin"}\ncall\tget_weather\t{"city":"Rome"}\n'
        .. "said\tstop\tIt is sunny in Berlin.\n", result.out, result.err)
    end)

    test("passes a 429 of " .. provider, function()
      assert.equal("said\tstop\tnow I can\n", ask("busy", "errors", provider).out)
    end)
  end

  test("tells what cannot be mended", function()
    assert.equal("error\tcontext_too_long\t1\n", ask("broken").out)
  end)

  test("survives cut connections and garbage", function()
    assert.matches("^error\tconnection_cut\t3\n", ask("hello", "chaos").out)
  end)

  test("survives garbage", function()
    assert.matches("^error\tbad_answer\t3\n", ask("hello", "garbage").out)
  end)
end)
