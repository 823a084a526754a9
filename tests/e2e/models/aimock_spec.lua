-- Models as simulated by an independent mock of the OpenAI and Anthropic APIs.

local npm = require("npm")
local program = require("program")
local tree = require("tree")

local function support(name)
  return program.quote(tree.path("tests/support/" .. name))
end

local APP = [[
local society = require("society")
local llm = { provider = arg[2] or "openai", model = "gpt-4o-mini", retry_first_ms = 10,
  retries_max = 2 }
for name, number in (arg[3] or ""):gmatch("([%w_]+)=(%d+)") do
  llm[name] = math.tointeger(number)
end
society.config { llm = llm }
society.main(function(user)
  local began_ms = user:now()
  local tools = { { name = "get_weather", description = "d", parameters = { type = "object",
    properties = { city = { type = "string" } } } } }
  local messages = { { role = "user", content = arg[1] } }
  while true do
    local answer, err = user:chat { messages = messages, tools = tools }
    if not answer then
      print("error", err.error, err.tries)
    elseif not answer.tool_calls then
      print("said", answer.finish_reason, answer.content)
    end
    if not answer or not answer.tool_calls then
      user:log("info", ("it took %d ms"):format(user:now() - began_ms))
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

  local function ask(text, mode, provider, settings)
    os.execute(("cd %s && { node %s %s %s >url 2>node.err & echo $! >pid; }"):format(
      program.quote(place.path), support("aimock.mjs"), program.quote(folder), mode or "plain"))
    local url = program.wait_for("the mock", function()
      return (place:read("url") or ""):match("^(%S+)\n")
    end)
    pid = place:read("pid"):match("%d+")
    return place:shell(("OPENAI_BASE_URL=%s/v1 ANTHROPIC_BASE_URL=%s OPENAI_API_KEY=k "
      .. "ANTHROPIC_API_KEY=k %s run app.lua -- %s %s %s"):format(url, url,
      program.quote(place.program), program.quote(text), provider or "openai", settings or ""))
  end

  local function took_ms(result)
    return tonumber(result.err:match("it took (%d+) ms"))
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
    test("streams from " .. provider, function()
      local result = ask("hello", nil, provider)
      assert.equal("said\tstop\tHi there! 你好 " .. ("word "):rep(200) .. "\n", result.out,
        result.err)
    end)

    test("calls tools for " .. provider .. " and sends their results", function()
      local result = ask("the weather?", nil, provider)
      assert.equal('call\tget_weather\t{"city":"Berlin"}\ncall\tget_weather\t{"city":"Rome"}\n'
        .. "said\tstop\tIt is sunny in Berlin.\n", result.out, result.err)
    end)

    test("retries after a 429 of " .. provider .. " once its Retry-After is over", function()
      local result = ask("busy", "errors", provider)
      assert.equal("said\tstop\tnow I can\n", result.out)
      assert.is_true(took_ms(result) >= 1000, result.err)
      assert.matches("rate_limited; try 2 after 1000 ms", result.err, 1, true)
    end)

    test("retries after a 500 of " .. provider, function()
      local result = ask("busy", "failing", provider)
      assert.equal("said\tstop\tnow I can\n", result.out)
      assert.matches("model_unavailable; try 2", result.err, 1, true)
    end)

    test("gives up on a lasting 500 of " .. provider, function()
      assert.equal("error\tmodel_unavailable\t3\n", ask("dead", nil, provider).out)
    end)

    test("waits for slow bytes of " .. provider .. ", if allowed", function()
      local result = ask("slow", nil, provider)
      assert.equal("said\tstop\t" .. ("slow bytes "):rep(10) .. "\n", result.out, result.err)
      assert.is_true(took_ms(result) >= 300, result.err)
    end)

    test("reports a huge answer of " .. provider .. " by name, once", function()
      assert.equal("error\tanswer_too_large\t1\n", ask("huge", nil, provider).out)
    end)
  end

  test("does not wait for slow bytes longer than configured", function()
    assert.equal("error\ttimeout\t1\n", ask("slow", nil, nil, "total_ms=100,retries_max=0").out)
  end)

  test("does not wait for a Retry-After that is longer than its time", function()
    assert.equal("error\trate_limited\t1\n", ask("limited").out)
  end)

  test("reports what cannot be retried", function()
    assert.equal("error\tcontext_too_long\t1\n", ask("broken").out)
  end)

  test("survives cut connections", function()
    assert.matches("^error\tconnection_cut\t3\n", ask("hello", "chaos").out)
  end)

  test("survives garbage", function()
    assert.matches("^error\tbad_answer\t3\n", ask("hello", "garbage").out)
  end)
end)
