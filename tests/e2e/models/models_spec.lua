-- Models with the whole program over loopback: retries, tools, and the examples with a
-- local server.

local canary = require("canary")
local json = require("society.json")
local program = require("program")
local tree = require("tree")

local PROVIDERS = { "openai", "anthropic" }

describe("a model over HTTP", function()
  local place, server

  before_each(function() place, server = canary.place() end)

  after_each(function()
    server:stop()
    place:remove()
  end)

  local function ask(wish, settings)
    place:write("app.lua", ([[
      local society = require("society")
      society.config { llm = { model = "m", retry_first_ms = 10, %s } }
      society.main(function(user)
        local answer, err = user:chat { messages = { { role = "user", content = %q } } }
        print(answer and answer.content or err.error, err and err.tries, err and err.message)
      end)]]):format(settings or "", wish))
    return place:run("run app.lua --fresh --log debug")
  end

  -- Seconds between the requests.
  local function pauses()
    local list, before = {}, nil
    for _, request in ipairs(server:requests()) do
      list[#list + 1] = before and request.time - before
      before = request.time
    end
    return list
  end

  for _, provider in ipairs(PROVIDERS) do
    it(("of %s is left alone as long as its 429 says"):format(provider), function()
      local result = ask("429 once 0.6", ("provider = %q"):format(provider))
      assert.matches("429 once 0.6", result.out, 1, true)
      local list = pauses()
      assert.equal(1, #list)
      assert.is_true(list[1] >= 0.6, list[1] .. " s")
      assert.matches("rate_limited; try 2 after 600 ms", result.err, 1, true)
    end)

    it(("of %s is retried after a 500, and given up if that lasts"):format(provider),
      function()
        local result = ask("500 once", ("provider = %q"):format(provider))
        assert.matches("^500 once", result.out)
        assert.equal(2, #server:requests())
        result = ask("500 always", ("provider = %q, retries_max = 2"):format(provider))
        assert.matches("^model_unavailable\t3\t", result.out)
        assert.equal(5, #server:requests())
      end)

    it(("of %s reveals its key in no error"):format(provider), function()
      for _, wish in ipairs({ "429 always", "500 always", "mirror" }) do
        local result = ask(wish, ("provider = %q, retries_max = 1"):format(provider))
        assert.matches("[secret]", result.out, 1, true)
        canary.assert_clean(result.out .. result.err, wish)
        for _, arguments in ipairs({ "inspect activity --json", "inspect messages --json",
          "export mermaid" }) do
          canary.assert_clean(place:run(arguments).out, arguments)
        end
        canary.assert_clean(place:shell("find .society -type f -exec cat {} +").out, wish)
      end
      for _, request in ipairs(server:requests()) do
        assert.equal(canary.key,
          (request.headers.Authorization or request.headers["x-api-key"]):match("%S+$"))
      end
    end)

    it(("of %s has its tools called, and gets their results"):format(provider), function()
      place:write("app.lua", ([[
        local society = require("society")
        society.config { llm = { provider = %q, model = "m", tools = { { name = "multiply",
          parameters = { type = "object", required = { "a", "b" },
            properties = { a = { type = "number" }, b = { type = "number" } } },
          run = function(_, given) return "it is " .. given.a * given.b end } } } }
        society.root("llm")
        society.main(function(user)
          print(user:request { to = "root", payload = 'call multiply {"a":6,"b":7}' }.payload.text)
        end)]]):format(provider))
      local result = place:run("run app.lua")
      assert.matches("^it is 42 ?\n$", result.out)
      local second = json.decode(server:requests()[2].body)
      local before, answered = second.messages[#second.messages - 1],
        second.messages[#second.messages]
      if provider == "openai" then
        assert.same({ "multiply", "c1" }, { before.tool_calls[1]["function"].name,
          answered.tool_call_id })
      else
        assert.same({ { a = 6, b = 7 }, "t1" }, { before.content[1].input,
          answered.content[1].tool_use_id })
      end
    end)

    it(("of %s reads what the policy says of a bad brief"):format(provider), function()
      place:write("app.lua", ([[
        local society = require("society")
        society.config { llm = { provider = %q, model = "m" } }
        society.role { id = "clerk", behaviour = function() end }
        society.root("llm")
        society.main(function(user)
          user:request { to = "root", payload = 'call spawn_agent {"roleId":"clerk",'
            .. '"taskBrief":{"objective":"o","constraints":["c"],"inputs":null,"outputs":""}}' }
          print(#society.agents())
        end)]]):format(provider))
      assert.equal("2\n", place:run("run app.lua").out) -- user and root
      local second = json.decode(server:requests()[2].body)
      local answered = second.messages[#second.messages]
      local told = json.decode(provider == "openai" and answered.content
        or answered.content[1].content)
      assert.equal("invalid_task_brief", told.error)
      assert.same({ "inputs", "outputs", "completion_criteria" }, told.missing_fields)
      assert.equal(3, #told.details)
    end)
  end

  it("can be a local one for the examples, by two variables", function()
    for name, expected in pairs({
      ["14_calculator_models"] = "请做一个计算器",
      ["15_debate"] = "judge: .*pro: .*Tabs or spaces",
    }) do
      local before = #server:requests()
      local result = place:shell(("unset OPENAI_API_KEY; OPENAI_BASE_URL=%s/v1 OPENAI_MODEL=local "
        .. "timeout 300 %s run %s --state %s"):format(server.url, program.quote(place.bare),
        program.quote(tree.path("examples/" .. name .. ".lua")), name))
      assert.equal(0, result.code, result.err)
      assert.matches(expected, result.out)
      local requests = server:requests()
      assert.is_true(#requests > before)
      for index = before + 1, #requests do
        assert.equal("local", json.decode(requests[index].body).model)
        assert.is_nil(requests[index].headers.Authorization)
      end
    end
  end)
end)
